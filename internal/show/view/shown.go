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

// Spots returns the treatments that are drawn individually: those of Pair in each condition; if
// nothing is compared, the most informative one of each row.
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

// Typical returns the trial whose tables and time series represent a treatment.
func (v *View) Typical(t *record.Treatment) *record.Trial {
	if t == nil {
		return nil
	}
	return metric.Typical(v.Run, t)
}

// MostShared returns the column that shows best how flows in a row shared their paths: the one with
// the fewest flows that still exceed the number of paths, otherwise the one with most flows. -1:
// flows never had several paths.
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
				best = -n // number of flows, which is too small
			}
		}
	}
	return at
}
