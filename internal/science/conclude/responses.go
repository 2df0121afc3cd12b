package conclude

import (
	"linerate/internal/model/lists"
	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/science/stats"
)

// lead returns the response that the answer and the verdicts are about.
func lead(run *record.Run) metric.Metric { return metric.Of(run)[0] }

func onGoodput(run *record.Run) bool { return lead(run).Name == metric.Goodput.Name }

// estimated returns a treatment's mean of a response, with an interval within the possible values.
func estimated(run *record.Run, inference *stats.Inference, treatment string, r metric.Metric) record.ResponseEstimate {
	e := record.ResponseEstimate{Response: r.Name, Unit: r.Unit}
	inference.Side(run.TrialsOf(treatment), r).Estimate(&e, run.Confidence)
	return e
}

// others fills in what a treatment's trials measured besides goodput.
func others(run *record.Run, inference *stats.Inference, t *record.Treatment, trials []record.Trial) {
	for _, r := range metric.Of(run) {
		t.Responses = append(t.Responses, estimated(run, inference, t.Name, r))
	}
	if e := estimated(run, inference, t.Name, metric.Transactions); e.Trials > 0 {
		t.TransactionsPerS = e.Mean
	}
	if e := estimated(run, inference, t.Name, metric.Lost); e.Trials > 0 {
		t.LostShare = &e.Mean
	}
	latencies := lists.Map(trials, func(trial record.Trial) *record.Distribution { return trial.Latency })
	// What can no longer be added up is still shown trial by trial.
	if together, err := stats.Together(latencies...); err == nil && together != nil {
		together.Histogram = nil
		t.Latency = together
	}
}
