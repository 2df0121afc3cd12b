package conclude

import (
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"linerate/internal/model/lists"
	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/science/stats"
)

// fewestTrials returns the smallest number of trials that any treatment has.
func fewestTrials(run *record.Run) int {
	fewest := len(run.Trials)
	for _, t := range run.Treatments {
		fewest = min(fewest, t.Trials)
	}
	return fewest
}

// missed returns the share of all trials that an event must hit for n trials to miss it with a
// probability of only 1 − confidence. 0: there are no trials.
func missed(n int, confidence float64) float64 {
	if n == 0 {
		return 0
	}
	return stats.Missed(n, confidence)
}

// sensitivity returns what effects the run was able to detect in the response that it is judged by,
// given the scatter of the trials that it compares. nil: it compares nothing, has too few blocks,
// is judged by a difference (which has no relative size) or by a percentile for which a trial has
// too few requests, or everything that it compares is left to chance.
func sensitivity(run *record.Run) *record.Sensitivity {
	r := lead(run)
	few := func(t record.Trial) bool { return t.Latency != nil && r.TooFew(t.Latency.Count) != "" }
	if r.Signed || slices.ContainsFunc(run.Trials, few) {
		return nil
	}
	tried := lists.Map(run.Treatments, func(t record.Treatment) map[string]string { return t.Levels })
	levels, treatments := record.Contrasts(run.Factors, tried, run.Design.Partial)
	scatters, chance := scattersOf(run, r, slices.Concat(levels, treatments))
	if len(scatters) == 0 {
		return nil
	}
	design := stats.Design{
		Blocks: fewestTrials(run), Comparisons: len(levels) + len(treatments), Responses: len(metric.Of(run)),
		Confidence: run.Confidence, Margin: run.Margin,
	}
	s, least := design.Sensitivity(slices.Max(scatters)), design.Sensitivity(slices.Min(scatters))
	if s != nil {
		s.Least, s.LeftToChance = &record.Smallest{Detectable: least.Detectable, Scatter: least.Scatter}, chance
	}
	return s
}

// scattersOf returns how far the trials of each comparison scatter, as one standard deviation
// relative to the mean, pooled over its two treatments. A comparison is skipped if one of its
// treatments has no mean. Comparisons that theory leaves to chance are only counted, in chance:
// their intervals are not wide because of scatter.
func scattersOf(run *record.Run, r metric.Metric, contrasts []record.Contrast) (scatters []float64, chance int) {
	of := func(levels map[string]string) (variance float64, known, chance bool) {
		i := slices.IndexFunc(run.Treatments, func(t record.Treatment) bool { return maps.Equal(t.Levels, levels) })
		if i < 0 {
			return 0, false, false
		}
		t := run.Treatments[i]
		var values []float64
		for _, trial := range run.TrialsOf(t.Name) {
			if v, ok := r.Value(trial); ok {
				values = append(values, v)
			}
		}
		mean, deviation := stat.MeanStdDev(values, nil)
		known = len(values) > 1 && mean > 0
		return math.Pow(deviation/mean, 2), known, t.Chance != nil && t.Chance.MostBps > t.Chance.LeastBps
	}
	for _, c := range contrasts {
		base, baseKnown, baseChance := of(c.Base)
		level, levelKnown, levelChance := of(c.Level)
		switch {
		case baseChance || levelChance:
			chance++
		case baseKnown && levelKnown:
			scatters = append(scatters, math.Sqrt((base+level)/2))
		}
	}
	return scatters, chance
}
