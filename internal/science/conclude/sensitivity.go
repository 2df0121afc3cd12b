package conclude

import (
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
// scatter that its trials have; nil: it compares nothing, has too few blocks, is judged by
// a difference, of which there is no relative size, or by a percentile for which a trial has
// too few requests.
func sensitivity(run *record.Run) *record.Sensitivity {
	r := lead(run)
	scatter, known := scatterOf(run, r)
	few := func(t record.Trial) bool { return t.Latency != nil && r.TooFew(t.Latency.Count) != "" }
	if r.Signed || !known || slices.ContainsFunc(run.Trials, few) {
		return nil
	}
	var tried []map[string]string
	for _, t := range run.Treatments {
		tried = append(tried, t.Levels)
	}
	levels, treatments := record.Contrasts(run.Factors, tried, run.Design.Partial)
	return stats.Design{
		Blocks: fewestTrials(run), Comparisons: len(levels) + len(treatments), Responses: len(metric.Of(run)),
		Confidence: run.Confidence, Margin: run.Margin,
	}.Sensitivity(scatter)
}

// scatterOf is the median over the treatments of how far their trials scatter: the standard
// deviation relative to the mean. Treatments of which chance makes one thing or another, as
// theory knows, are left out: that is not what scatters the others.
func scatterOf(run *record.Run, r metric.Metric) (scatter float64, known bool) {
	var list []float64
	for _, t := range run.Treatments {
		var values []float64
		for _, trial := range run.TrialsOf(t.Name) {
			if v, ok := r.Value(trial); ok {
				values = append(values, v)
			}
		}
		chance := t.Chance != nil && t.Chance.MostBps > t.Chance.LeastBps
		if mean, deviation := stat.MeanStdDev(values, nil); len(values) > 1 && mean > 0 && !chance {
			list = append(list, deviation/mean)
		}
	}
	return stats.Median(list), len(list) > 0
}
