package conclude

import (
	"cmp"
	"slices"

	"linerate/internal/model/record"
)

// recommend gives each treatment its comparison with the baseline, which is the effect
// of its one level or, where it differs in several factors, that of all of them together.
// It marks the one combination of levels that the answer recommends in every condition.
//
// A combination can be recommended if it was tried in every condition, is shown to improve
// somewhere and to worsen nowhere, and leaves links their rates. None is preferred over
// another for its mean: one is left out if another is ahead of it, as intervals show, and
// it is ahead of that one nowhere. Of the others the one that is shown to improve in most
// conditions is recommended, then the one with the fewest settings.
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

// combination is one combination of the compared factors' levels, in each condition.
type combination struct{ at []*record.Candidate }

// combinations are those that can be recommended.
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

// improves is in how many conditions it is shown to.
func (r combination) improves() (n int) {
	for _, c := range r.at {
		if c.Effect != nil && c.Effect.Verdict == record.Improves {
			n++
		}
	}
	return n
}

// ahead: in some condition the combination is shown to do more than another or, in a run
// about goodput, to reach the limit where the other is shown to miss it.
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

// exceeds: one effect's interval lies beyond that of another over the same baseline, by
// more than the margin. The intervals hold together, so that this is shown of any two.
// False: they overlap, one is unknown, or one is of a ratio and the other of a difference.
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
