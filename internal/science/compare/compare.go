// Package compare sets two runs against each other: the treatments that both
// have, by name, and everything else in which the runs differ.
//
// Two runs are two visits to a network, perhaps months apart. Unlike the
// treatments of one run they were not shuffled into each other, so that a
// difference shows that something changed and not what: package stats takes the
// values as unpaired, and the other differences are listed first.
package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/science/stats"
)

// Runs compares the second run with the first. Both must have been concluded.
func Runs(from, to *record.Run) *record.Comparison {
	c := &record.Comparison{
		Schema: record.ComparisonSchema, From: compared(from), To: compared(to), Unit: to.Unit,
		Differences: differences(from, to), StudyLines: changedLines(from.StudyFile, to.StudyFile),
		Treatments: []record.ComparedTreatment{}, OnlyFrom: []string{}, OnlyTo: []string{},
		Confidence: max(from.Confidence, to.Confidence), Margin: max(from.Margin, to.Margin),
	}
	var pairs [][2]*record.Treatment
	for i := range from.Treatments {
		mine := &from.Treatments[i]
		if other := treatment(to, mine.Name); other != nil {
			pairs = append(pairs, [2]*record.Treatment{mine, other})
		} else {
			c.OnlyFrom = append(c.OnlyFrom, mine.Name)
		}
	}
	for _, t := range to.Treatments {
		if treatment(from, t.Name) == nil {
			c.OnlyTo = append(c.OnlyTo, t.Name)
		}
	}
	each := stats.Sidak(c.Confidence, len(pairs))
	var ps []float64
	var judged []int
	for _, pair := range pairs {
		t, p := one(from, to, pair[0], pair[1], each, c.Margin)
		c.Treatments = append(c.Treatments, t)
		if t.Verdict != record.NotComparable {
			c.Comparable = true
			ps, judged = append(ps, p), append(judged, len(c.Treatments)-1)
		}
	}
	for i, p := range stats.Holm(ps) {
		c.Treatments[judged[i]].P = p
	}
	c.Answer = sentence(c)
	return c
}

func compared(run *record.Run) record.ComparedRun {
	doubts := []string{}
	for _, check := range run.Trust {
		if !check.Pass {
			doubts = append(doubts, check.Check+": "+check.Detail)
		}
	}
	return record.ComparedRun{ID: run.ID, Study: run.Study, Seed: run.Seed, Started: run.Started, Status: run.Status,
		Answer: run.Answer, Trials: len(run.Trials), Doubts: doubts}
}

func treatment(run *record.Run, name string) *record.Treatment {
	i := slices.IndexFunc(run.Treatments, func(t record.Treatment) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return &run.Treatments[i]
}

// one compares a treatment of both runs; the p-value is not yet corrected.
func one(from, to *record.Run, a, b *record.Treatment, confidence, margin float64) (record.ComparedTreatment, float64) {
	base, level := goodput(from, a.Name), goodput(to, b.Name)
	t := record.ComparedTreatment{
		Name: a.Name, From: a.Goodput, To: b.Goodput, FromTrials: len(base), ToTrials: len(level),
		FromLimitBps: a.LimitBps, ToLimitBps: b.LimitBps, P: 1,
	}
	if why := unlike(from, to, a, b); why != "" {
		t.Verdict, t.Why = record.NotComparable, why
		return t, 1
	}
	ratio, p, why := stats.Unpaired(base, level, confidence)
	t.Ratio = record.RatioEstimate{Mean: ratio.Mean, Low: ratio.Low, High: ratio.High}
	t.Verdict, t.Why = stats.Verdict(ratio, margin), why
	switch {
	case why == "" && t.Verdict == record.Inconclusive && ratio.High >= 1000*ratio.Mean:
		t.Why = "too few trials for how much they scatter: the interval has no end worth a number"
	case why == "" && t.Verdict == record.Inconclusive:
		t.Why = fmt.Sprintf("the interval spans %.2f× to %.2f×", ratio.Low, ratio.High)
	case why == "" && differ(a.LimitBps, b.LimitBps):
		t.Why = "the limit differs, too: " + rate(a.LimitBps) + " → " + rate(b.LimitBps)
	}
	return t, p
}

func goodput(run *record.Run, treatment string) []float64 {
	var values []float64
	for _, t := range run.Trials {
		if t.Treatment == treatment {
			values = append(values, t.GoodputBps)
		}
	}
	return values
}

// unlike says why two treatments of one name are not the same treatment.
func unlike(from, to *record.Run, a, b *record.Treatment) string {
	for _, f := range from.Factors {
		mine, ok := settings(from, f.Name, a.Levels[f.Name])
		others, also := settings(to, f.Name, b.Levels[f.Name])
		if ok && also && !slices.Equal(mine, others) {
			return fmt.Sprintf("the level %q makes other settings", a.Levels[f.Name])
		}
	}
	if m, n := flows(from, a.Name), flows(to, b.Name); m != n {
		return fmt.Sprintf("the workload differs: %d flows → %d flows", m, n)
	}
	return ""
}

// settings spells what a level changes; false when the run has no such level.
func settings(run *record.Run, factor, level string) ([]string, bool) {
	for _, f := range run.Factors {
		for _, l := range f.Levels {
			if f.Name == factor && l.Name == level {
				return l.SettingLines, true
			}
		}
	}
	return nil, false
}

// flows is how many flows the trials of a treatment have.
func flows(run *record.Run, treatment string) int {
	for _, t := range run.Trials {
		if t.Treatment == treatment {
			return len(t.Flows)
		}
	}
	return 0
}

// differ says whether two limits differ by more than rounding.
func differ(a, b float64) bool { return math.Abs(a-b) > 1e-3*max(a, b) }

func rate(bps float64) string {
	if bps == 0 {
		return "unknown"
	}
	for _, unit := range []struct {
		name string
		size float64
	}{{"Gbit/s", 1e9}, {"Mbit/s", 1e6}, {"kbit/s", 1e3}} {
		if bps >= unit.size {
			return fmt.Sprintf("%.4g %s", bps/unit.size, unit.name)
		}
	}
	return fmt.Sprintf("%.4g bit/s", bps)
}

// sentence is what a reader must know.
func sentence(c *record.Comparison) string {
	names := map[string][]string{}
	for _, t := range c.Treatments {
		names[t.Verdict] = append(names[t.Verdict], t.Name)
	}
	total := len(c.Treatments)
	switch {
	case total == 0:
		return fmt.Sprintf("%s and %s cannot be compared: they have no treatment in common.", c.From.ID, c.To.ID)
	case !c.Comparable:
		return fmt.Sprintf("%s and %s cannot be compared: %s.", c.From.ID, c.To.ID, c.Treatments[0].Why)
	case len(names[record.NoDifference]) == total:
		return fmt.Sprintf("%s carries as much as %s in %s, within ±%.3g %%.", c.To.ID, c.From.ID, all(total), 100*c.Margin)
	}
	var parts []string
	for _, p := range []struct{ verdict, words string }{
		{record.Improves, "carries more in %s"},
		{record.Worsens, "carries less in %s"},
		{record.NoDifference, "carries as much in %s"},
		{record.Inconclusive, "is inconclusive in %s"},
		{record.NotComparable, "is not comparable in %s"},
	} {
		switch n := len(names[p.verdict]); {
		case n == 1:
			parts = append(parts, fmt.Sprintf(p.words, "“"+names[p.verdict][0]+"”"))
		case n == total:
			parts = append(parts, fmt.Sprintf(p.words, all(total)))
		case n > 1:
			parts = append(parts, fmt.Sprintf(p.words, fmt.Sprintf("%d of %d treatments", n, total)))
		}
	}
	words := parts[len(parts)-1]
	if before := parts[:len(parts)-1]; len(before) > 0 {
		words = strings.Join(before, ", ") + " and " + words
	}
	return fmt.Sprintf("Against %s, %s %s%s.", c.From.ID, c.To.ID, words, largest(c))
}

func all(n int) string {
	if n == 1 {
		return "the one treatment of both"
	}
	return fmt.Sprintf("all %d treatments", n)
}

// largest names the clearest change.
func largest(c *record.Comparison) string {
	var best *record.ComparedTreatment
	size := func(t *record.ComparedTreatment) float64 { return math.Abs(math.Log(max(t.Ratio.Mean, 1e-9))) }
	for i := range c.Treatments {
		t := &c.Treatments[i]
		if t.Verdict != record.Improves && t.Verdict != record.Worsens {
			continue
		}
		if best == nil || size(t) > size(best) {
			best = t
		}
	}
	if best == nil {
		return ""
	}
	return fmt.Sprintf("; the largest change is %.3g× (%.3g–%.3g), “%s”", best.Ratio.Mean, best.Ratio.Low, best.Ratio.High, best.Name)
}
