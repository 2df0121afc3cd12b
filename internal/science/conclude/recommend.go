package conclude

import (
	"cmp"
	"slices"

	"linerate/internal/model/record"
)

// recommend gives each treatment its comparison with the baseline, which is the effect
// of its one level or, where it differs in several factors, one of several. It marks
// the one combination of levels that the answer recommends in every condition: among
// those that are shown to improve somewhere and worsen nowhere, that leave links their
// rates, and that carry the most (or do best by whatever the run is judged by) over all
// conditions, give or take the margin, the one that reaches the limit in most
// conditions, then the one with the fewest settings. None is marked when nothing is
// shown to improve.
func recommend(run *record.Run, several ...record.Effect) {
	againstBaseline(run, several)
	for i := range run.Treatments {
		run.Treatments[i].Best = false
	}
	var rows []combination
	conditions := candidates(run)
	for i := range conditions {
		c := &conditions[i]
		all := slices.Clone(c.Candidates)
		if c.Baseline != nil {
			all = append(all, *c.Baseline)
		}
		best := bestOf(run, all)
		for k := range c.Candidates {
			o := &c.Candidates[k]
			of := entry(&rows, combination{label: o.Label, settings: o.Settings}, func(r combination) bool { return r.label == o.Label })
			of.add(o, nearness(run, o, best)/float64(len(conditions)))
		}
	}
	rows = slices.DeleteFunc(rows, func(r combination) bool { return !r.improves || r.worsens || r.lifts })
	if len(rows) == 0 {
		return
	}
	top := 0.0
	for _, r := range rows {
		top = max(top, r.score)
	}
	rows = slices.DeleteFunc(rows, func(r combination) bool { return r.score < top-max(run.Margin, 0.001) })
	best := slices.MinFunc(rows, func(a, b combination) int {
		return cmp.Or(b.reached-a.reached, a.settings-b.settings)
	})
	for _, name := range best.treatments {
		run.Treatments[place(run, name)].Best = true
	}
}

// combination is one combination of the compared factors' levels over all conditions.
type combination struct {
	label             string
	treatments        []string
	settings          int
	improves, worsens bool
	lifts             bool    // somewhere, and then it is no fix
	score             float64 // 1: most of all in every condition
	reached           int     // conditions in which it reaches the limit
}

func (r *combination) add(c *record.Candidate, score float64) {
	r.treatments = append(r.treatments, c.Treatment)
	r.lifts = r.lifts || c.Lifts
	r.score += score
	if c.Reaches {
		r.reached++
	}
	if c.Effect != nil {
		r.improves = r.improves || c.Effect.Verdict == record.Improves
		r.worsens = r.worsens || c.Effect.Verdict == record.Worsens
	}
}

// bestOf is the best value of the candidates that have one.
func bestOf(run *record.Run, all []record.Candidate) float64 {
	best, first, lower := 0.0, true, lead(run).Lower
	for i := range all {
		e := leadEstimate(run, &all[i])
		if e.Trials > 0 && (first || lower && e.Mean < best || !lower && e.Mean > best) {
			best, first = e.Mean, false
		}
	}
	return best
}

// nearness is how near a candidate comes to the best value: 1 at it, 0 without a value.
func nearness(run *record.Run, c *record.Candidate, best float64) float64 {
	e := leadEstimate(run, c)
	switch {
	case e.Trials == 0:
		return 0
	case e.Mean == best:
		return 1
	case lead(run).Lower:
		return best / e.Mean
	}
	return e.Mean / best
}
