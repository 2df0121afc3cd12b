package view

import (
	"linerate/internal/model/metric"
	"linerate/internal/model/record"
)

// Spot is one cell of the grid.
type Spot struct {
	Row    *Row
	Column int
}

// Spots are the treatments that are drawn one by one: those of the pair in each
// condition; where nothing is compared, of each row the most informative one.
func (v *View) Spots() (out []Spot) {
	if v.AlongCurve() {
		for i := range v.Rows {
			out = append(out, Spot{&v.Rows[i], v.MostShared(&v.Rows[i])})
		}
		return out
	}
	for c := range v.Columns {
		for _, r := range v.Pair() {
			if r.Treatments[c] != nil {
				out = append(out, Spot{r, c})
			}
		}
	}
	return out
}

// Typical is the trial whose tables and time series stand for a treatment.
func (v *View) Typical(t *record.Treatment) *record.Trial {
	if t == nil {
		return nil
	}
	return metric.Typical(v.Run, t)
}

// MostShared is the column in which a row shows best how flows shared their paths: with
// the fewest flows that are more than the paths, else with most flows; -1: in none
// did flows have several.
func (v *View) MostShared(r *Row) int {
	at, best := -1, 0
	for c, t := range r.Treatments {
		trial := v.Typical(t)
		if trial == nil {
			continue
		}
		n, paths := 0, 0
		for _, f := range trial.Flows {
			if f.Paths > 1 {
				n, paths = n+1, max(paths, f.Paths)
			}
		}
		enough := n > paths
		switch {
		case n == 0:
		case at < 0, enough && (best < 0 || n < best), !enough && best < 0 && n > -best:
			if at, best = c, n; !enough {
				best = -n // flows, but too few
			}
		}
	}
	return at
}
