package conclude

import (
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/science/stats"
)

// fewestTrials is how many trials the treatment has that has the fewest.
func fewestTrials(run *record.Run) int {
	fewest := len(run.Trials)
	for _, t := range run.Treatments {
		fewest = min(fewest, t.Trials)
	}
	return fewest
}

// missed is the share of all trials that an event hits which is missed by n trials with a
// probability of 1 − confidence; 0: there are none.
func missed(n int, confidence float64) float64 {
	if n == 0 {
		return 0
	}
	return stats.Missed(n, confidence)
}

// sensitivity is what the run was able to show in the response that it is judged by, at the
// scatter of the trials that it compares; nil: it compares nothing, has too few blocks, is
// judged by a difference, of which there is no relative size, or by a percentile for which a
// trial has too few requests, or all that it compares is left to chance.
func sensitivity(run *record.Run) *record.Sensitivity {
	r := lead(run)
	few := func(t record.Trial) bool { return t.Latency != nil && r.TooFew(t.Latency.Count) != "" }
	if r.Signed || slices.ContainsFunc(run.Trials, few) {
		return nil
	}
	var tried []map[string]string
	for _, t := range run.Treatments {
		tried = append(tried, t.Levels)
	}
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

// scattersOf are how far the trials of comparisons scatter, each as one standard deviation
// relative to the mean: that of its two treatments, pooled. Comparisons that have a treatment
// without a mean have none. What chance makes one thing or another, as theory knows, is only
// counted: scatter is not what makes its interval wide.
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
