package answer

import (
	"strings"
	"testing"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/science/conclude"
	"linerate/internal/science/sciencetest"
)

// TestCost: where a response that is better when it is less is not shown to change, the
// headline says how much it can have risen.
func TestCost(t *testing.T) {
	run := sciencetest.Levels("bit/s", 956e6, []string{""}, []string{"a", "b"}, func(_, _ string, _ int) float64 {
		return 940e6
	}, 4)
	run.Responses = []string{metric.LatencyP50.Name}
	conclude.Conclude(run)
	c := run.Conclusion
	high := 1.07
	of := func(why string) string {
		c.Conditions[0].Candidates[0].Effect = &record.Effect{Verdict: record.Inconclusive, Why: why,
			Ratio: record.EffectSize{Mean: 1.01, Low: 0.95, High: high}}
		return Conclusion(c).Headline
	}
	if got := of("the interval spans 0.9 to 1.1"); !strings.Contains(got,
		"nothing that was tried is shown to change it (at most 1.070×)") {
		t.Error(got)
	}
	if got := of("too few requests"); !strings.Contains(got, "nothing that was tried is shown to improve it") {
		t.Error(got)
	}
	high = 2.308
	if got := of("the interval spans 0.9 to 1.1"); !strings.Contains(got,
		"whether anything that was tried changes it is not known: up to 2.3× is possible") {
		t.Error(got)
	}
}
