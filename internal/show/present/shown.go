package present

import (
	"linerate/internal/model/metric"
	"linerate/internal/model/record"
)

// spot is one cell of the grid.
type spot struct {
	r *row
	c int
}

// spots are the treatments that are drawn one by one: those of the pair in each
// condition; where nothing is compared, of each row the most informative one.
func (v *view) spots() (out []spot) {
	if v.alongCurve() {
		for i := range v.rows {
			out = append(out, spot{&v.rows[i], v.mostShared(&v.rows[i])})
		}
		return out
	}
	for c := range v.columns {
		for _, r := range v.pair() {
			if r.cells[c] != nil {
				out = append(out, spot{r, c})
			}
		}
	}
	return out
}

// typical is the trial whose tables and time series stand for a treatment.
func (v *view) typical(t *record.Treatment) *record.Trial {
	if t == nil {
		return nil
	}
	return metric.Typical(v.run, t)
}

// mostShared is the column in which a row shows best how flows shared their paths: with
// the fewest flows that are more than the paths, else with most flows; -1: in none
// did flows have several.
func (v *view) mostShared(r *row) int {
	at, best := -1, 0
	for c, t := range r.cells {
		trial := v.typical(t)
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
