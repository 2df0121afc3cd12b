package answer

import (
	"slices"

	"linerate/internal/model/record"
)

// Recommend marks the one combination of levels that the answer recommends, in
// every condition: among those that are shown to improve somewhere and worsen
// nowhere, that leave links their rates, and that carry the most over all conditions, give or take the margin,
// the one that reaches the limit in most conditions, then the one with the
// fewest settings. There is none when nothing is shown to improve.
func Recommend(run *record.Run) {
	for i := range run.Treatments {
		run.Treatments[i].Best = false
	}
	conditions := gather(run)
	var rows []*combination
	for _, c := range conditions {
		most := 0.0
		for _, o := range c.all() {
			most = max(most, o.treatment.Goodput.MeanBps)
		}
		for _, o := range c.options {
			i := slices.IndexFunc(rows, func(r *combination) bool { return r.label == o.label })
			if i < 0 {
				rows = append(rows, &combination{label: o.label, settings: o.settings})
				i = len(rows) - 1
			}
			rows[i].add(c, o, most*float64(len(conditions)), run.Margin)
		}
	}
	rows = slices.DeleteFunc(rows, func(r *combination) bool { return !r.improves || r.worsens || r.lifted })
	if len(rows) == 0 {
		return
	}
	top := 0.0
	for _, r := range rows {
		top = max(top, r.score)
	}
	rows = slices.DeleteFunc(rows, func(r *combination) bool { return r.score < top-max(run.Margin, 0.001) })
	best := slices.MinFunc(rows, func(a, b *combination) int {
		if a.reached != b.reached {
			return b.reached - a.reached
		}
		return a.settings - b.settings
	})
	for _, o := range best.options {
		run.Treatments[place(run, o.treatment.Name)].Best = true
	}
}

// combination is one combination of the compared factors' levels over all
// conditions.
type combination struct {
	label             string
	options           []*option
	settings          int
	improves, worsens bool
	lifted            bool    // somewhere, and then it is no fix
	score             float64 // 1: most of all in every condition
	reached           int     // conditions in which it reaches the limit
}

func (r *combination) add(c *condition, o *option, most, margin float64) {
	r.options = append(r.options, o)
	r.lifted = r.lifted || o.lifted
	if most > 0 {
		r.score += o.treatment.Goodput.MeanBps / most
	}
	if o.reaches() {
		r.reached++
	}
	switch {
	case o.effect != nil:
		r.improves = r.improves || o.effect.Verdict == record.Improves
		r.worsens = r.worsens || o.effect.Verdict == record.Worsens
	case o.several && o.reaches() && o.treatment.Goodput.Confidence > 0 && c.baseline != nil && !c.baseline.reaches() && c.gains(o, margin):
		// Nobody compared it with the baseline, but the limit did.
		r.improves = true
	}
}

// all are the options, the baseline included.
func (c *condition) all() []*option {
	if c.baseline == nil {
		return c.options
	}
	return append([]*option{c.baseline}, c.options...)
}

// best is the recommended option, unless another one carries more here than the
// margin allows for; then that one.
func (c *condition) best(margin float64) *option {
	most := c.options[0]
	for _, o := range c.options {
		if o.treatment.Goodput.MeanBps > most.treatment.Goodput.MeanBps {
			most = o
		}
	}
	for _, o := range c.options {
		if o.treatment.Best && o.treatment.Goodput.MeanBps >= (1-margin)*most.treatment.Goodput.MeanBps {
			return o
		}
	}
	return most
}
