package conclude

import (
	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/science/stats"
)

// lead is the response that the answer and the verdicts are about.
func lead(run *record.Run) metric.Metric { return metric.Of(run)[0] }

func onGoodput(run *record.Run) bool { return lead(run).Name == metric.Goodput.Name }

// others fills in what a treatment's trials measured besides goodput.
func others(run *record.Run, t *record.Treatment, trials []record.Trial) {
	mean := func(r metric.Metric) (stats.Interval, bool) {
		var values []float64
		for i := range trials {
			if v, ok := r.Value(&trials[i]); ok {
				values = append(values, v)
			}
		}
		return stats.Mean(values, run.Confidence), len(values) > 0
	}
	for _, r := range metric.Of(run) {
		e := r.Estimate(t)
		if r.Name != metric.Goodput.Name {
			in, _ := mean(r)
			in.Estimate(&e, r, run.Confidence)
		}
		t.Responses = append(t.Responses, e)
	}
	if in, ok := mean(metric.Transactions); ok {
		t.TransactionsPerS = in.Mean
	}
	if in, ok := mean(metric.Lost); ok {
		t.LostShare = &in.Mean
	}
	var latencies []*record.Distribution
	for _, trial := range trials {
		latencies = append(latencies, trial.Latency)
	}
	// What cannot be added up any more is shown trial by trial all the same.
	if together, err := stats.Together(latencies...); err == nil && together != nil {
		together.Histogram = nil
		t.Latency = together
	}
}
