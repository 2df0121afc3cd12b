package html

import (
	"io"
	"slices"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/science/conclude"
	"linerate/internal/science/sciencetest"
	"linerate/internal/show/present"
	"linerate/internal/show/text"
)

// TestInterruptedRuns: a run that was cut short after any of its trials is shown, also
// when its baseline was not tried.
func TestInterruptedRuns(t *testing.T) {
	runs := map[string]func() *record.Run{
		"arp-flux": func() *record.Run { return sciencetest.Run(7, 2) },
		"loaded":   func() *record.Run { return sciencetest.Loaded(7, 2, "goodput", "latency_p99") },
		"aliases":  func() *record.Run { return sciencetest.Aliases(7, 2, 1, 1) },
	}
	for name, make := range runs {
		for n := range len(make().Trials) + 1 {
			for _, without := range []bool{false, true} {
				run := make()
				run.Trials = run.Trials[:n]
				if without && len(run.Factors) > 0 {
					f := run.Factors[0]
					run.Trials = slices.DeleteFunc(run.Trials, func(t record.Trial) bool {
						return t.Levels[f.Name] == f.Baseline
					})
				}
				conclude.Conclude(run)
				if err := Run(io.Discard, run); err != nil {
					t.Errorf("%s after %d trials, page: %v", name, n, err)
				}
				if err := text.Run(io.Discard, present.Report(run), text.Options{Width: 80}); err != nil {
					t.Errorf("%s after %d trials, text: %v", name, n, err)
				}
			}
		}
	}
}
