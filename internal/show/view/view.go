// Package view arranges a run for display: its treatments in rows and columns, its responses in
// their units, and what charts and tables about its flows and interfaces have in common.
package view

import (
	"slices"

	"linerate/internal/model/record"
	"linerate/internal/science/conclude"
	"linerate/internal/show/number"
	"linerate/internal/show/wording"
)

// View is a run with what its tables and figures have in common: the arrangement of its treatments
// and the units of its responses.
type View struct {
	*grid
	Run      *record.Run
	Scale    number.Scale // unit of goodput
	Measures []*Measure   // the primary response first
	Focus    string       // the host whose interfaces are in question
}

// New arranges a run and adds the words of its findings.
func New(run *record.Run) *View {
	run = wording.Run(run)
	return &View{Run: run, grid: newGrid(run), Scale: goodputScale(run), Measures: newMeasures(run),
		Focus: focusOf(run)}
}

// Whole returns the view without treatments that take another one apart. These can be compared,
// which other tables do, but not recommended.
func (v *View) Whole() *View {
	w, g := *v, *v.grid
	g.Rows = slices.DeleteFunc(slices.Clone(g.Rows), func(r Row) bool { return r.Part })
	g.mark()
	w.grid = &g
	return &w
}

// Single reports whether there is only one trial, as in a measurement: nothing can be compared or
// drawn.
func (v *View) Single() bool {
	return len(v.Run.Trials) == 1 && len(v.Rows) == 1 && len(v.Columns) == 1 && v.Rows[0].Treatments[0] != nil
}

// Lone reports whether a measure has a single value: of one trial of one treatment.
func (v *View) Lone(m *Measure) bool {
	values := 0
	for r, c := range v.Each() {
		values += max(1, len(m.Trials[r.Treatments[c].Name]))
	}
	return values == 1
}

// Panes returns a measure's panes, one for each condition.
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

// Lead returns the response that the answer and the verdicts are about.
func (v *View) Lead() *Measure { return v.Measures[0] }

// Ordinary reports whether the run is only about goodput, which then need not be named.
func (v *View) Ordinary() bool { return len(v.Measures) == 1 && v.Lead().Goodput() }

// Effects returns the comparisons of a run in all its responses, those in the first response first.
func (v *View) Effects() []record.Effect {
	list := slices.Clone(v.Run.Effects)
	for _, e := range v.Run.Effects {
		list = append(list, e.Beside...)
	}
	return list
}

// MeasureOf returns the measure that an effect is about.
func (v *View) MeasureOf(e *record.Effect) *Measure {
	for _, m := range v.Measures {
		if m.Effect(e) == e {
			return m
		}
	}
	return v.Lead()
}

// Mean returns the pane's estimate for a row. 0: there is none.
func (p Pane) Mean(r *Row) float64 {
	if r.Treatments[p.At] == nil {
		return 0
	}
	return p.Estimate(r.Treatments[p.At]).Mean
}

// focusOf returns the host whose interfaces the run is about (conclude.Focus). If there is none, it
// returns the end of flows with the most interfaces, the first one of several.
func focusOf(run *record.Run) string {
	if focus := conclude.Focus(run); focus.Host != "" {
		return focus.Host
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

// Once returns the view for a response. If the parts of a trial share the probe that measured it,
// it has one value instead of one for each part.
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
