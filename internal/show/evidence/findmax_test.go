package evidence

import (
	"strings"
	"testing"

	"linerate/internal/model/record"
)

// TestFindMax: the rate comes with its interval, what failed above it and why, and the trials; one
// that was not confirmed, or not found, is not called so; and the generator is never the server.
func TestFindMax(t *testing.T) {
	late := record.Condition{Metric: "latency_p99", Condition: "latency_p99 <= 20ms", Got: "31.2 ms"}
	kept := record.Condition{Metric: "latency_p99", Condition: "latency_p99 <= 20ms", Got: "9 ms", Met: true}
	found := record.FindMax{
		Objective: "latency_p99 <= 20ms", RatePerS: 940, Confirmed: 3, Repeats: 3, FailedAtPerS: 980,
		FailedAnsweredPerS: 979, Failed: []record.Condition{late},
		BoundedBy: record.BoundedByObjective, ClosedLoopPerS: 1010, NeededRequests: 1000,
		Trials: []record.FindMaxTrial{
			{AnsweredPerS: 1010, WindowS: 10, Conditions: []record.Condition{late}},
			{AskedPerS: 980, AnsweredPerS: 979, WindowS: 1.12, Lengthened: true, FailedBy: record.BoundedByObjective,
				Conditions: []record.Condition{late}},
			{AskedPerS: 940, AnsweredPerS: 940, WindowS: 10, Confirms: true, Pass: true,
				Conditions: []record.Condition{kept}},
		},
	}
	answers, generator, search, open, none := found, found, found, found, found
	answers.BoundedBy, answers.FailedAnsweredPerS, answers.Failed = record.BoundedByAnswers, 942, nil
	generator.BoundedBy, generator.Generator = record.BoundedByGenerator,
		"the busiest traffic thread took 99 % of a CPU (client)"
	search.BoundedBy, search.FailedAtPerS = record.BoundedBySearch, 0
	open.Confirmed, open.Why = 1, "the search was interrupted"
	none.RatePerS, none.Confirmed, none.FailedAtPerS, none.Why = 0, 0, 10, "even the lowest rate that was tried failed"
	for _, test := range []struct {
		f       record.FindMax
		want    []string
		without string
	}{
		{found, []string{
			"highest rate|940/s|latency_p99 <= 20ms met in 3 trials of 10 s",
			"980/s failed: latency_p99 <= 20ms, got 31.2 ms",
			"trials|closed loop|10 s: 1,010/s answered, latency_p99 31.2 ms",
			"|980/s|1.12 s for 1,000 requests: 979/s answered, latency_p99 31.2 ms; failed",
			"|940/s|to confirm it, 10 s: 940/s answered, latency_p99 9 ms",
		}, "generator"},
		{answers, []string{"980/s failed: 942/s answered; a closed loop has 1,010/s"}, "generator"},
		{generator,
			[]string{
				"980/s failed: the generator may be the limit, not the server (the busiest traffic thread took 99 " +
					"% of a CPU (client))"}, "answers no more"},
		{search, []string{"at least 940/s", "no higher rate was tried"}, "980/s failed:"},
		{open, []string{"not confirmed (1 of 3 trials): the search was interrupted; 980/s failed"}, "none found"},
		{none,
			[]string{
				"none found|latency_p99 <= 20ms: even the lowest rate that was tried failed; 10.0/s failed: " +
					"latency_p99 <= 20ms, got 31.2 ms"}, "kept"},
	} {
		var lines []string
		for _, row := range FindMaxRows(&test.f) {
			lines = append(lines, strings.Join(row, "|"))
		}
		text := strings.Join(lines, "\n")
		for _, want := range test.want {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
		if strings.Contains(text, test.without) {
			t.Errorf("%q in\n%s", test.without, text)
		}
	}
	run := &record.Run{Trials: []record.Trial{{Treatment: "measurement", FindMax: &found}}}
	if reasons := SearchReasons(run); len(reasons) != 1 || !strings.Contains(reasons[0], "980/s failed") ||
		!strings.Contains(reasons[0], "(3 trials)") {
		t.Errorf("%q", reasons)
	}
	if blocks := Searches(run); len(blocks) != 2 {
		t.Errorf("%+v", blocks)
	}
}
