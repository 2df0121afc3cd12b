package stats

import (
	"cmp"
	"slices"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
)

// Apart lists the trials whose value of a response is far from those of the other trials of their
// treatment, in the run's order: the trials on the smaller side of a jump, if they are at most a
// quarter of the treatment's trials. Trials whose outcome is known to be random are never listed.
func (in *Inference) Apart(r metric.Metric) (list []*record.Trial) {
	run, j := in.run, in.jumpsIn(r)
	groups := map[string][]*record.Trial{}
	for i := range run.Trials {
		t := &run.Trials[i]
		if _, ok := r.Value(t); ok && chance(t, r) == nil {
			key := treatmentOf(run, t)
			groups[key] = append(groups[key], t)
		}
	}
	value := func(t *record.Trial) float64 { v, _ := r.Value(t); return v }
	for _, trials := range groups {
		slices.SortStableFunc(trials, func(a, b *record.Trial) int { return cmp.Compare(value(a), value(b)) })
		values := make([]float64, len(trials))
		for i, t := range trials {
			values[i] = value(t)
		}
		at := j.in(relative(values, r))
		if at == 0 {
			continue
		}
		if few := len(trials) / 4; at <= few {
			list = append(list, trials[:at]...)
		} else if len(trials)-at <= few {
			list = append(list, trials[at:]...)
		}
	}
	slices.SortFunc(list, func(a, b *record.Trial) int { return a.Order - b.Order })
	return list
}

// Median returns the middle one of values, or the mean of the middle two; 0 if there are none.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}
