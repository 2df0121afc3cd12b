package present

import (
	"strings"

	"linerate/internal/model/record"

	"linerate/internal/model/metric"
)

// measure is one of the responses by which a run is judged, as it is shown.
type measure struct {
	metric.Metric
	scale  scale
	trials map[string][]float64 // values by treatment
}

func newMeasures(run *record.Run) []*measure {
	var list []*measure
	for _, r := range metric.Of(run) {
		largest := 0.0
		for i := range run.Treatments {
			largest = max(largest, r.Estimate(&run.Treatments[i]).Mean)
		}
		m := &measure{Metric: r, scale: responseScale(r, run.Unit, largest)}
		if m.goodput() {
			m.scale = goodputScale(run)
		}
		m.trials = map[string][]float64{}
		for i := range run.Trials {
			if value, ok := r.Value(&run.Trials[i]); ok {
				m.trials[run.Trials[i].Treatment] = append(m.trials[run.Trials[i].Treatment], value)
			}
		}
		list = append(list, m)
	}
	return list
}

// goodput has a limit, and no other response has.
func (m *measure) goodput() bool { return m.Name == metric.Goodput.Name }

// spell is a treatment's estimate with its unit.
func (m *measure) spell(t *record.Treatment) string {
	if e := m.Estimate(t); e.Trials == 0 && !m.goodput() {
		return "not measured"
	}
	// Four digits, or those that its interval earns where they are fewer.
	most := m.scale.value(m.Estimate(t).Mean)
	if mean, _ := m.interval(t); Width(mean) < Width(most) {
		most = mean
	}
	return m.scale.join(most)
}

// head heads a column of figures: "goodput, MB/s".
func (m *measure) head() string { return m.Label + ", " + m.scale.unit }

// sense says of a response that is not better the more there is of it.
func (m *measure) sense() string {
	if m.Lower {
		return " · less is better"
	}
	return ""
}

// against spells an effect's size: a ratio, or where there is none a difference.
func (m *measure) against(e *record.Effect) (size, interval string) {
	d := e.Difference
	if d == nil {
		return ratio(e.Ratio)
	}
	unit := m.scale
	if m.Unit == metric.Lost.Unit {
		unit.unit = "points" // 5 % more than 5 % is not 10 %
	}
	mean, half := m.scale.interval(d.Mean, d.Low, d.High)
	if d.Mean > 0 && strings.Trim(mean, "0.") != "" {
		mean = "+" + mean
	}
	size = unit.join(mean)
	if half != "" {
		interval = "±" + half
	}
	return size, interval
}

// pane is one response in one condition: a group of columns, a panel of a figure.
type pane struct {
	*measure
	c    int    // the condition's place among the columns
	name string // empty where there is nothing to tell apart
}

// panes lists a measure's.
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

// panes lists all, the response that counts first.
func (v *view) panes() []pane {
	var list []pane
	for _, m := range v.measures {
		list = append(list, v.panesOf(m)...)
	}
	return list
}

// lead is the response that the answer and the verdicts are about.
func (v *view) lead() *measure { return v.measures[0] }

// ordinary runs are about goodput alone, and need not say so.
func (v *view) ordinary() bool { return len(v.measures) == 1 && v.lead().goodput() }

// value is the pane's estimate of a row; 0 where there is none.
func (p pane) value(r *row) float64 {
	if r.cells[p.c].Treatment == nil {
		return 0
	}
	return p.Estimate(r.cells[p.c].Treatment).Mean
}

// effects are the comparisons of a run in all its responses, those of the first
// one first.
func (v *view) effects() []record.Effect {
	list := append([]record.Effect(nil), v.run.Effects...)
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
