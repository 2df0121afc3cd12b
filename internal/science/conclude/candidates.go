package conclude

import (
	"slices"
	"strings"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/science/suspects"
)

// enough is the share of the limit from which on a goodput counts as reaching it.
const enough = 0.98

// above is the share of the limit above which a goodput counts as beyond it.
const above = 1.05

// candidates groups a run's treatments by condition. Levels that are compared with something else
// than the baseline are left out: they take a part away from another level to see what the part
// does, and are no candidates for a recommendation.
func candidates(run *record.Run) (list []record.ConditionResult) {
	lines := map[string][]string{} // each candidate's changes, by treatment
	focus := Focus(run)
	for _, t := range run.Treatments {
		if dissects(run, t) {
			continue
		}
		c := record.Candidate{
			Treatment: t.Name, Goodput: t.Goodput, LimitBps: t.LimitBps, Limit: t.Limit, LimitWhy: t.LimitWhy,
			Responses: t.Responses, Effect: t.Effect, Best: t.Best, Chance: t.Chance,
		}
		var levels, baseline []string
		for _, f := range run.Factors {
			if !compared(f) {
				continue
			}
			name := t.Levels[f.Name]
			if name != f.Baseline {
				levels = append(levels, name)
			}
			if len(f.Levels) > 1 {
				baseline = append(baseline, f.Baseline)
			}
			for _, l := range f.Levels {
				if l.Name == name {
					c.Settings += l.Settings
					lines[t.Name] = append(lines[t.Name], l.SettingLines...)
				}
			}
		}
		c.Label = strings.Join(levels, " + ")
		if len(levels) == 0 {
			c.Label = strings.Join(baseline, " and ")
		}
		g := t.Goodput
		c.Exceeds = t.LimitBps > 0 && g.MeanBps > above*t.LimitBps
		c.Reaches = t.LimitBps > 0 && g.Confidence > 0 && g.LowBps >= enough*t.LimitBps && !c.Exceeds
		c.Interfaces = interfaceUse(run, focus, func(trial *record.Trial) bool { return trial.Treatment == t.Name })
		if b := baselineOf(run, &t); b != nil && !t.Baseline {
			c.Lifts = lifts(&t, b)
			c.Fix = c.Reaches && !c.Lifts && c.Effect != nil && c.Effect.Response == "" &&
				c.Effect.Verdict == record.Improves
			c.MayReach = !c.Fix && mayReach(&t)
		}
		name := conditionOf(run, t.Levels)
		condition := entry(&list, record.ConditionResult{Name: name}, func(c record.ConditionResult) bool {
			return c.Name == name
		})
		if t.Baseline {
			condition.Baseline = &c
		} else {
			condition.Candidates = append(condition.Candidates, c)
		}
	}
	for _, t := range run.Treatments {
		for i := range list {
			if c := &list[i]; c.Name == conditionOf(run, t.Levels) && dissects(run, t) {
				c.PartMayReach = c.PartMayReach || mayReach(&t)
			}
		}
	}
	for _, condition := range list {
		// A fix that makes all the changes of a smaller one only adds to that one.
		all := slices.Clone(condition.Candidates)
		for i := range condition.Candidates {
			c := &condition.Candidates[i]
			c.Fix = c.Fix && !slices.ContainsFunc(all, func(o record.Candidate) bool {
				return o.Fix && within(lines[o.Treatment], lines[c.Treatment])
			})
		}
	}
	if len(list) == 1 {
		list[0].Name = "" // the only condition needs no name
	}
	return list
}

// mayReach reports whether the interval of a treatment's goodput leaves it open that it reaches the
// limit.
func mayReach(t *record.Treatment) bool {
	g := t.Goodput
	return t.LimitBps > 0 && (g.Confidence == 0 || g.HighBps >= enough*t.LimitBps)
}

// within reports whether the changes in part are some of those in whole, but not all.
func within(part, whole []string) bool {
	return len(part) > 0 && len(part) < len(whole) && !slices.ContainsFunc(part, func(l string) bool {
		return !slices.Contains(whole, l)
	})
}

// dissects reports whether a level of the treatment is compared with another level than the
// baseline.
func dissects(run *record.Run, t record.Treatment) bool {
	for _, f := range run.Factors {
		for _, l := range f.Levels {
			if l.Name == t.Levels[f.Name] && l.Against != "" && l.Against != f.Baseline {
				return true
			}
		}
	}
	return false
}

// conclusion builds the run's conclusion from its treatments, effects and checks.
func conclusion(run *record.Run) *record.Conclusion {
	c := &record.Conclusion{
		Unit: run.Unit, Confidence: run.Confidence, Margin: run.Margin,
		Compared:   slices.ContainsFunc(run.Factors, compared),
		Conditions: candidates(run), Trials: len(run.Trials), Measured: Measured(run), BothWays: summed(run),
		Ending: record.Ending{Status: run.Status, Blocks: run.Blocks(),
			Planned: max(run.Blocks(), run.Design.Replicates), Wide: Wide(run), Until: run.Design.Until},
		FewestTrials: fewestTrials(run), Missed: missed(fewestTrials(run), run.Confidence),
		Sensitivity: sensitivity(run), Silent: silent(run), Odd: odd(run), LeftOut: run.Design.LeftOut,
	}
	for _, f := range run.Factors {
		c.Untried = append(c.Untried, f.Untried...)
	}
	for i, r := range metric.Of(run) {
		switch {
		case i > 0:
			c.Others = append(c.Others, r.Name)
		case r.Name != metric.Goodput.Name:
			c.Response = r.Name
		}
	}
	doubted := map[int]bool{}
	for _, check := range record.Doubts(run.Trust) {
		doubted[check.Trial] = true
		if !slices.Contains(c.Doubts, check.Check) {
			c.Doubts = append(c.Doubts, check.Check)
		}
	}
	c.DoubtedTrials = len(doubted)
	if run.Design.Pairs && !c.Compared && onGoodput(run) && len(run.Trials) > 0 {
		says := suspects.Conclude(suspects.OfStudy(run))
		c.Pairs = &says
		return c
	}
	if c.ToolReport = toolReport(run); c.ToolReport != nil {
		return c
	}
	if c.Outages = levelOutages(run); c.Outages != nil {
		return c
	}
	if onGoodput(run) {
		if c.Hashing = hashingResult(run); c.Hashing != nil {
			return c
		}
	}
	if lists := Lists(run); slices.ContainsFunc(lists, func(t *record.Tune) bool { return t.List != nil }) {
		c.Lists = lists
	}
	return c
}
