package evidence

import (
	"testing"
	"time"

	"linerate/internal/model/record"
)

// TestInDoubtOnce: a check of a window in which two directions were measured failed once; the
// trials of a study are each in doubt.
func TestInDoubtOnce(t *testing.T) {
	for study, want := range map[string]string{record.MeasureStudy: "1 trust check failed",
		"other": "2 of 2 trials failed a trust check"} {
		run := &record.Run{Study: study}
		for order := 1; order <= 2; order++ {
			run.Trials = append(run.Trials, record.Trial{Order: order, Started: time.Unix(7, 0)})
			run.Trust = append(run.Trust, record.Check{Check: "steady", Trial: order})
		}
		if got := InDoubt(run); got != want {
			t.Errorf("%s: %q, want %q", study, got, want)
		}
	}
	run := &record.Run{Study: record.MeasureStudy, Trials: []record.Trial{{Order: 1, Started: time.Unix(7, 0)},
		{Order: 2, Started: time.Unix(8, 0)}}}
	run.Trust = []record.Check{{Check: "steady", Trial: 1}, {Check: "steady", Trial: 2}}
	if got, want := InDoubt(run), "2 of 2 trials failed a trust check"; got != want {
		t.Errorf("two modes: %q, want %q", got, want)
	}
}
