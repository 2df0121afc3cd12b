package evidence

import (
	"testing"

	"linerate/internal/model/record"
)

// TestInDoubt: a failed check of the only trial is counted, and of several the trials.
func TestInDoubt(t *testing.T) {
	for n, want := range map[int]string{1: "1 trust check failed", 2: "2 of 2 trials failed a trust check"} {
		run := &record.Run{Study: record.MeasureStudy}
		for order := 1; order <= n; order++ {
			run.Trials = append(run.Trials, record.Trial{Order: order})
			run.Trust = append(run.Trust, record.Check{Check: "steady", Trial: order})
		}
		if got := InDoubt(run); got != want {
			t.Errorf("%d trials: %q, want %q", n, got, want)
		}
	}
}
