package conclude

import (
	"slices"

	"linerate/internal/model/record"

	"linerate/internal/model/metric"
)

// Recommend gives each treatment its comparison with the baseline, which is the effect
// of its one level or, where it differs in several factors, one of several, and marks
// the one combination of levels that the answer recommends, in
// every condition: among those that are shown to improve somewhere and worsen
// nowhere, that leave links their rates, and that carry the most (or do best by
// whatever the run is judged by) over all conditions, give or take the margin, the
// one that reaches the limit in most conditions, then the one with the
// fewest settings. There is none when nothing is shown to improve.
func Recommend(run *record.Run, several ...record.Effect) {
	againstBaseline(run, several)
	for i := range run.Treatments {
		run.Treatments[i].Best = false
	}
	conditions := gather(run)
	var rows []*combination
	for _, c := range conditions {
		best := bestOf(lead(run), c.all())
		for _, o := range c.options {
			i := slices.IndexFunc(rows, func(r *combination) bool { return r.label == o.label })
			if i < 0 {
				rows = append(rows, &combination{label: o.label, settings: o.settings})
				i = len(rows) - 1
			}
			rows[i].add(o, nearness(lead(run), o, best)/float64(len(conditions)))
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

func (r *combination) add(o *option, score float64) {
	r.options = append(r.options, o)
	r.lifted = r.lifted || o.lifted
	r.score += score
	if o.reaches() {
		r.reached++
	}
	if o.effect != nil {
		r.improves = r.improves || o.effect.Verdict == record.Improves
		r.worsens = r.worsens || o.effect.Verdict == record.Worsens
	}
}

// bestOf is the best value of the options that have one.
func bestOf(r metric.Metric, options []*option) float64 {
	best, first := 0.0, true
	for _, o := range options {
		v := o.estimate.Mean
		if o.estimate.Trials > 0 && (first || r.Lower && v < best || !r.Lower && v > best) {
			best, first = v, false
		}
	}
	return best
}

// nearness is how near an option comes to the best: 1, and 0 without a value.
func nearness(r metric.Metric, o *option, best float64) float64 {
	v := o.estimate.Mean
	switch {
	case o.estimate.Trials == 0:
		return 0
	case v == best:
		return 1
	case r.Lower:
		return best / v
	}
	return v / best
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
