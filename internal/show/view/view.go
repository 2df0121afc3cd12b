// Package view arranges a run for showing: its treatments in rows and columns, its
// responses in their units, and what charts and tables have in common of its flows and
// interfaces.
package view

import (
	"slices"

	"linerate/internal/model/record"
	"linerate/internal/science/conclude"
	"linerate/internal/show/number"
	"linerate/internal/show/wording"
)

// View is a run with what its tables and figures have in common: the arrangement of
// its treatments and the units of its responses.
type View struct {
	*grid
	Run      *record.Run
	Scale    number.Scale // of goodput
	Measures []*Measure   // the response that the answer and the verdicts are about first
	Focus    string       // the host whose interfaces are in question
}

// New arranges a run, whose findings get their words.
func New(run *record.Run) *View {
	run = wording.Run(run)
	return &View{Run: run, grid: newGrid(run), Scale: goodputScale(run), Measures: newMeasures(run),
		Focus: focusOf(run)}
}

// Whole is the view without the treatments that take another one apart: those are
// worth comparing, which other tables do, and are not to be chosen.
func (v *View) Whole() *View {
	w, g := *v, *v.grid
	g.Rows = slices.DeleteFunc(slices.Clone(g.Rows), func(r Row) bool { return r.Part })
	g.mark()
	w.grid = &g
	return &w
}

// Single reports whether there is one trial alone, as of a measurement: nothing to compare,
// and nothing to draw.
func (v *View) Single() bool {
	return len(v.Run.Trials) == 1 && len(v.Rows) == 1 && len(v.Columns) == 1 && v.Rows[0].Treatments[0] != nil
}

// Lone reports whether a measure has one value in all: of one trial of one treatment.
func (v *View) Lone(m *Measure) bool {
	values := 0
	for r, c := range v.Each() {
		values += max(1, len(m.Trials[r.Treatments[c].Name]))
	}
	return values == 1
}

// Panes lists a measure's panes, one for each condition.
func (v *View) Panes(m *Measure) []Pane {
	var list []Pane
	for c, col := range v.Columns {
		name := col.Name
		if !v.Ordinary() {
			name = m.Label
			if col.Name != "" {
				name += ", " + col.Name
			}
		}
		list = append(list, Pane{m, c, name})
	}
	return list
}

// Lead is the response that the answer and the verdicts are about.
func (v *View) Lead() *Measure { return v.Measures[0] }

// Ordinary runs are about goodput alone, and need not say so.
func (v *View) Ordinary() bool { return len(v.Measures) == 1 && v.Lead().Goodput() }

// Effects are the comparisons of a run in all its responses, those of the first
// one first.
func (v *View) Effects() []record.Effect {
	list := slices.Clone(v.Run.Effects)
	for _, e := range v.Run.Effects {
		list = append(list, e.Beside...)
	}
	return list
}

// MeasureOf is the measure that an effect is about.
func (v *View) MeasureOf(e *record.Effect) *Measure {
	for _, m := range v.Measures {
		if m.Effect(e) == e {
			return m
		}
	}
	return v.Lead()
}

// Mean is the pane's estimate of a row; 0 where there is none.
func (p Pane) Mean(r *Row) float64 {
	if r.Treatments[p.At] == nil {
		return 0
	}
	return p.Estimate(r.Treatments[p.At]).Mean
}

// focusOf is the host whose interfaces the run is about (conclude.Focus).
// Where there is none, figures are arranged around the flows' end with the most
// interfaces; the first of several.
func focusOf(run *record.Run) string {
	if asked := conclude.Focus(run); asked.Host != "" {
		return asked.Host
	}
	isEnd := map[string]bool{}
	for _, t := range run.Trials {
		for _, f := range t.Flows {
			isEnd[f.From], isEnd[f.To] = true, true
		}
	}
	count := map[string]map[string]bool{}
	var order []string
	for _, t := range run.Treatments {
		for _, p := range t.Interfaces {
			if _, isSwitch := run.Topology.Switch(p.Host); isSwitch || len(isEnd) > 0 && !isEnd[p.Host] {
				continue
			}
			if count[p.Host] == nil {
				count[p.Host] = map[string]bool{}
				order = append(order, p.Host)
			}
			count[p.Host][p.Interface] = true
		}
	}
	if len(order) == 0 {
		return ""
	}
	return slices.MaxFunc(order, func(a, b string) int { return len(count[a]) - len(count[b]) })
}

// Once is the view of a response: where the parts of a trial share the
// probe that it was measured by, it is one value, and not one of each part.
func (v *View) Once(m *Measure) *View {
	alone := func(t record.Trial) bool { return len(t.Parts) < 2 }
	if m.Quantile == 0 || len(v.Rows) < 2 || slices.ContainsFunc(v.Run.Trials, alone) {
		return v
	}
	w, g := *v, *v.grid
	g.Rows = slices.Clone(g.Rows[:1])
	g.Rows[0].Name = "under load"
	g.mark()
	w.grid = &g
	return &w
}
