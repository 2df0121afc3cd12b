package export

import (
	"slices"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/metric"
	"linerate/internal/model/record"
)

// withLevels returns columns including one for each factor.
func withLevels(run *record.Run, before, after string) []string {
	columns := strings.Fields(before)
	columns = append(columns, lists.Map(run.Factors, func(f record.Factor) string { return f.Name })...)
	return append(columns, strings.Fields(after)...)
}

// levels returns the values of the factors' columns.
func levels(run *record.Run, of map[string]string) (values []any) {
	return lists.Map(run.Factors, func(f record.Factor) any { return of[f.Name] })
}

func treatmentRows(run *record.Run, add func(...any)) {
	for _, t := range run.Treatments {
		g := t.Goodput
		var lost, rate any
		if t.LostShare != nil {
			lost = *t.LostShare
		}
		if t.TransactionsPerS > 0 || t.Latency != nil {
			rate = t.TransactionsPerS
		}
		us, ranks := percentiles(t.Latency)
		add(slices.Concat([]any{run.ID, t.Name}, levels(run, t.Levels), []any{t.Baseline, t.Trials, g.MeanBps, g.LowBps,
			g.HighBps, g.Confidence,
			t.LimitBps, t.Efficiency, t.Unconnected, rate}, us, []any{lost}, ranks,
			[]any{metric.Goodput.Estimate(&t).HalfWidth()})...)
	}
}

// percentiles returns the common percentiles p50, p99 and p99.9, and their ranks if there are too
// few transactions. It returns empty values if nothing was timed.
func percentiles(d *record.Distribution) (us, ranks []any) {
	if d == nil {
		return make([]any, 3), make([]any, 3)
	}
	all := d.Percentiles()
	for _, p := range []record.Percentile{all[0], all[2], all[3]} {
		us, ranks = append(us, p.Us), append(ranks, p.Rank)
	}
	return us, ranks
}

func responseRows(run *record.Run, add func(...any)) {
	for i := range run.Treatments {
		t := &run.Treatments[i]
		for _, r := range metric.Of(run) {
			e := r.Estimate(t)
			values := make([]any, 6)
			if values[4] = e.Rank; e.Trials > 0 {
				values = []any{e.Mean, e.Low, e.High, e.Confidence, e.Rank, e.HalfWidth()}
			}
			add(slices.Concat([]any{run.ID, t.Name}, levels(run, t.Levels), []any{r.Name, r.Unit, e.Trials}, values)...)
		}
	}
}

func effectRows(run *record.Run, add func(...any)) {
	for _, first := range run.Effects {
		for _, e := range append([]record.Effect{first}, first.Beside...) {
			var at []string
			for _, f := range run.Factors {
				if level, ok := e.At[f.Name]; ok {
					at = append(at, f.Name+": "+level)
				}
			}
			ratio, difference := []any{e.Ratio.Mean, e.Ratio.Low, e.Ratio.High}, make([]any, 3)
			if e.Ratio.None {
				ratio = make([]any, 3)
			}
			if d := e.Difference; d != nil {
				difference = []any{d.Mean, d.Low, d.High}
			}
			of, _ := metric.Find(e.Response)
			add(slices.Concat([]any{run.ID, e.Factor, e.From, e.To, strings.Join(at, "; ")}, ratio,
				[]any{e.P, e.Blocks, e.Verdict, e.Why, of.Name}, difference)...)
		}
	}
}
