package conclude

import (
	"cmp"
	"slices"

	"linerate/internal/model/lists"
	"linerate/internal/model/record"
)

// recommend sets each treatment's comparison with the baseline: the effect of its one level or, if
// several factors differ, of all of them together. It marks the one combination of levels that the
// answer recommends in every condition.
//
// A combination can be recommended if it was tried in every condition, is shown to improve in some
// and to worsen in none, and leaves links their rates. A larger mean alone does not decide: a
// combination is left out only if the intervals show that another one is ahead of it in some
// condition, and it is ahead of that one in none. Of the remaining ones the one that is shown to
// improve in most conditions is recommended, then the one with the fewest settings.
func recommend(run *record.Run, several ...record.Effect) {
	againstBaseline(run, several)
	for i := range run.Treatments {
		run.Treatments[i].Best = false
	}
	rows := combinations(candidates(run))
	best := slices.DeleteFunc(slices.Clone(rows), func(r combination) bool {
		return slices.ContainsFunc(rows, func(o combination) bool { return o.ahead(run, r) && !r.ahead(run, o) })
	})
	if len(best) == 0 { // each is ahead of another in some condition
		best = rows
	}
	if len(best) == 0 {
		return
	}
	first := slices.MinFunc(best, func(a, b combination) int {
		return cmp.Or(b.improves()-a.improves(), a.at[0].Settings-b.at[0].Settings)
	})
	for _, c := range first.at {
		run.Treatments[place(run, c.Treatment)].Best = true
	}
}

// combination holds one combination of the compared factors' levels, with its candidate in each
// condition.
type combination struct{ at []*record.Candidate }

// combinations returns those that can be recommended.
func combinations(conditions []record.ConditionResult) (rows []combination) {
	conditions = slices.DeleteFunc(slices.Clone(conditions), func(at record.ConditionResult) bool {
		return at.Baseline == nil
	})
	for i := range conditions {
		for k := range conditions[i].Candidates {
			c := &conditions[i].Candidates[k]
			row := entry(&rows, combination{}, func(r combination) bool {
				return len(r.at) > 0 && r.at[0].Label == c.Label
			})
			row.at = append(row.at, c)
		}
	}
	return slices.DeleteFunc(rows, func(r combination) bool {
		return len(r.at) < len(conditions) || r.improves() == 0 ||
			slices.ContainsFunc(r.at, func(c *record.Candidate) bool {
				return c.Lifts || c.Effect == nil || c.Effect.Verdict == record.Worsens
			})
	})
}

// improves returns the number of conditions in which the combination is shown to improve.
func (r combination) improves() (n int) {
	return lists.Count(r.at, func(c *record.Candidate) bool {
		return c.Effect != nil && c.Effect.Verdict == record.Improves
	})
}

// ahead reports whether in some condition the combination is shown to do more than the other or, in
// a run about goodput, to reach the limit while the other is shown to miss it.
func (r combination) ahead(run *record.Run, other combination) bool {
	for i, c := range r.at {
		o := other.at[i]
		limited := onGoodput(run) && c.Reaches && o.LimitBps > 0 && !o.Reaches && !o.MayReach
		if limited || exceeds(c.Effect, o.Effect, lead(run).Lower, run.Margin) {
			return true
		}
	}
	return false
}

// exceeds reports whether the interval of effect a lies beyond that of b, over the same baseline,
// by more than the margin. The intervals hold simultaneously, so this holds for any two effects. It
// returns false if they overlap, one is unknown, or one is of a ratio and the other of a
// difference.
func exceeds(a, b *record.Effect, lower bool, margin float64) bool {
	x, y := a.Ratio, b.Ratio
	if a.Difference != nil && b.Difference != nil {
		x, y, margin = *a.Difference, *b.Difference, 0
	}
	if lower {
		x, y = y, x
	}
	known := func(s record.EffectSize) bool { return !s.None && s.Low <= s.Mean && s.Mean <= s.High }
	return known(x) && known(y) && x.Low > y.High*(1+margin)
}
