package present

import (
	"slices"

	"linerate/internal/model/record"
)

// view is a run with what its tables and figures have in common: the arrangement of
// its treatments and the units of its responses.
type view struct {
	*grid
	run      *record.Run
	scale    scale      // of goodput
	measures []*measure // the response that the answer and the verdicts are about first
	focus    string     // the host whose interfaces are in question
}

func newView(run *record.Run) *view {
	return &view{run: run, grid: newGrid(run), scale: goodputScale(run), measures: newMeasures(run), focus: focusOf(run)}
}

// whole is the view without the treatments that take another one apart: those are
// worth comparing, which other tables do, and are not to be chosen.
func (v *view) whole() *view {
	w, g := *v, *v.grid
	g.rows = slices.DeleteFunc(slices.Clone(g.rows), func(r row) bool { return r.part })
	g.mark()
	w.grid = &g
	return &w
}

// panesOf lists a measure's panes, one for each condition.
func (v *view) panesOf(m *measure) []pane {
	var list []pane
	for c, col := range v.columns {
		name := col.name
		if !v.ordinary() {
			name = m.Label
			if col.name != "" {
				name += ", " + col.name
			}
		}
		list = append(list, pane{m, c, name})
	}
	return list
}

// lead is the response that the answer and the verdicts are about.
func (v *view) lead() *measure { return v.measures[0] }

// ordinary runs are about goodput alone, and need not say so.
func (v *view) ordinary() bool { return len(v.measures) == 1 && v.lead().goodput() }

// effects are the comparisons of a run in all its responses, those of the first
// one first.
func (v *view) effects() []record.Effect {
	list := slices.Clone(v.run.Effects)
	for _, e := range v.run.Effects {
		list = append(list, e.Beside...)
	}
	return list
}

// of is the measure that an effect is about.
func (v *view) of(e *record.Effect) *measure {
	for _, m := range v.measures {
		if m.Effect(e) == e {
			return m
		}
	}
	return v.lead()
}

// value is the pane's estimate of a row; 0 where there is none.
func (p pane) value(r *row) float64 {
	if r.cells[p.c] == nil {
		return 0
	}
	return p.Estimate(r.cells[p.c]).Mean
}
