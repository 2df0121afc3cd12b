// Package compare sets two runs against each other: the treatments that both
// have, by name, and everything else in which the runs differ.
//
// Two runs may be months apart. Unlike the treatments of one run they were not
// randomised together, so that a difference shows that something changed and not what: package stats takes the
// values as unpaired, and the other differences are listed first.
package compare

import (
	"fmt"
	"math"
	"slices"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
	"linerate/internal/science/stats"
)

// Runs compares the second run with the first, without an answer in words. Both must
// have been concluded.
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
	by := metric.Of(to)[0]
	c.Response = by.Name
	each := stats.Sidak(c.Confidence, len(pairs))
	var ps []float64
	var judged []int
	for _, pair := range pairs {
		t, p := one(by, from, to, pair[0], pair[1], each, c.Margin)
		c.Treatments = append(c.Treatments, t)
		if t.Verdict != record.NotComparable {
			c.Comparable = true
			ps, judged = append(ps, p), append(judged, len(c.Treatments)-1)
		}
	}
	for i, p := range stats.Holm(ps) {
		c.Treatments[judged[i]].P = p
	}
	return c
}

func compared(run *record.Run) record.ComparedRun {
	doubts := []string{}
	for _, check := range record.Doubts(run.Trust) {
		doubts = append(doubts, check.Check+": "+check.Detail)
	}
	return record.ComparedRun{ID: run.ID, Study: run.Study, Seed: run.Seed, Started: run.Started, Status: run.Status,
		Trials: len(run.Trials), Doubts: doubts}
}

func treatment(run *record.Run, name string) *record.Treatment {
	i := slices.IndexFunc(run.Treatments, func(t record.Treatment) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return &run.Treatments[i]
}

// one compares a treatment of both runs; the p-value is not yet corrected.
func one(by metric.Metric, from, to *record.Run, a, b *record.Treatment, confidence, margin float64) (record.ComparedTreatment, float64) {
	base, level := values(by, from, a.Name), values(by, to, b.Name)
	t := record.ComparedTreatment{
		Name: a.Name, From: a.Goodput, To: b.Goodput, FromTrials: len(from.TrialsOf(a.Name)), ToTrials: len(to.TrialsOf(b.Name)),
		FromLimitBps: a.LimitBps, ToLimitBps: b.LimitBps, P: 1,
		FromResponse: estimate(by, a, base, from.Confidence), ToResponse: estimate(by, b, level, to.Confidence),
	}
	if why := unlike(from, to, a, b); why != "" {
		t.Verdict, t.Why = record.NotComparable, why
		return t, 1
	}
	if len(base) < t.FromTrials || len(level) < t.ToTrials {
		t.Ratio.None = true
		t.Verdict, t.Why = record.Inconclusive, fmt.Sprintf("%d of %d trials and %d of %d have no value: %s",
			t.FromTrials-len(base), t.FromTrials, t.ToTrials-len(level), t.ToTrials, by.Absent)
		return t, 1
	}
	if by.Signed {
		apart, p, why := stats.UnpairedDifference(base, level, confidence)
		t.Ratio.None, t.Difference = true, &record.EffectSize{Mean: apart.Mean, Low: apart.Low, High: apart.High}
		if t.Verdict, t.Why = stats.VerdictApart(by, apart); why != "" {
			t.Why = why
		}
		return t, p
	}
	ratio, p, why := stats.Unpaired(base, level, confidence)
	t.Ratio = record.EffectSize{Mean: ratio.Mean, Low: ratio.Low, High: ratio.High}
	t.Verdict, t.Why = stats.VerdictOn(by, ratio, margin), why
	switch {
	case by.Name != metric.Goodput.Name && t.FromResponse.Mean == 0:
		t.Ratio = record.EffectSize{None: true}
		t.Why = "the first is zero in every trial: there is no ratio"
	case why == "" && t.Verdict == record.Inconclusive && ratio.High >= 1000*ratio.Mean:
		t.Why = "too few trials for how much they scatter: the interval has no end worth a number"
	case why == "" && t.Verdict == record.Inconclusive:
		t.Why = fmt.Sprintf("the interval spans %.2f× to %.2f×", ratio.Low, ratio.High)
	case why == "" && by.Name == metric.Goodput.Name && differ(a.LimitBps, b.LimitBps):
		t.Why = "the limit differs, too: " + limit(a.LimitBps) + " → " + limit(b.LimitBps)
	}
	return t, p
}

// values are a response of a treatment's trials, as far as they have one.
func values(by metric.Metric, run *record.Run, treatment string) []float64 {
	var list []float64
	for _, t := range run.TrialsOf(treatment) {
		if value, ok := by.Value(t); ok {
			list = append(list, value)
		}
	}
	return list
}

// estimate is a treatment's, also where its own run is judged by something else.
func estimate(by metric.Metric, t *record.Treatment, values []float64, confidence float64) record.ResponseEstimate {
	e := by.Estimate(t)
	if mean := stats.Mean(values, confidence); e.Trials == 0 && mean.N > 0 {
		mean.Estimate(&e, by, confidence)
	}
	return e
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
	for _, t := range run.TrialsOf(treatment) {
		return len(t.Flows)
	}
	return 0
}

// differ says whether two limits differ by more than rounding.
func differ(a, b float64) bool { return math.Abs(a-b) > 1e-3*max(a, b) }

func limit(bps float64) string {
	if bps == 0 {
		return "unknown"
	}
	return unit.FormatRate(bps)
}
