// Package outlier names the trials whose value stands apart from the other trials of their
// treatment, and what the records of such a trial show that those of the others do not.
//
// An outlier is neither dropped nor corrected. Package stats decides whether a value stands apart.
// What the records show goes together with the value but need not be its cause.
package outlier

import (
	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/science/stats"
)

// Find lists the outliers of a run in each of its responses, in the order of the trials.
func Find(run *record.Run, inference *stats.Inference) (list []record.Outlier) {
	for _, r := range metric.Of(run) {
		for _, t := range inference.Apart(r) {
			var others []*record.Trial
			var values []float64
			for _, o := range run.TrialsOf(t.Treatment) {
				if value, ok := r.Value(o); ok && o != t {
					others, values = append(others, o), append(values, value)
				}
			}
			value, _ := r.Value(t)
			list = append(list, record.Outlier{
				Response: r.Name, Treatment: t.Treatment, Block: t.Block, Order: t.Order,
				Value: value, Others: stats.Median(values), Saw: seen(t, others, &run.Topology),
			})
		}
	}
	return list
}
