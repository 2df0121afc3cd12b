package conclude

import (
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/science/sciencetest"
)

// ended is a run that ended with a status, its design asking for until.
func ended(blocks int, status string, until float64) *record.Run {
	run := sciencetest.Few(blocks, 0, 4)
	run.Status, run.Design.Until, run.Design.Replicates = status, until, 4
	Conclude(run)
	return run
}

// TestEnding: a run that did not fulfil its design says so, and calls nothing
// settled that is not.
func TestEnding(t *testing.T) {
	const never, always = 1e-9, 0.9
	for _, c := range []struct {
		name, status string
		blocks       int
		until        float64
		settled      bool
	}{
		{"budget, too wide", record.StatusBudget, 4, never, false},
		{"budget, narrow", record.StatusBudget, 4, always, true},
		{"budget, no until", record.StatusBudget, 5, 0, true},
		{"blocks", record.StatusBlocks, 5, never, false},
		{"interrupted", "interrupted", 4, never, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := ended(c.blocks, c.status, c.until)
			if e := run.Conclusion.Ending; e.Status != c.status || e.Blocks != c.blocks ||
				e.Planned != max(c.blocks, 4) || e.Wide != Wide(run) || e.Until != c.until {
				t.Errorf("%+v", e)
			}
			if settled := run.Effects[0].Why == ""; settled != c.settled {
				t.Errorf("settled %t, want %t: %+v", settled, c.settled, run.Effects[0])
			}
			if wide := Wide(run); (wide == 0) != (c.until != never) {
				t.Errorf("%d effects are wide", wide)
			}
		})
	}
	// Without anything to compare, the goodput itself is held to it.
	plain := sciencetest.Few(3, 4)
	plain.Status, plain.Design.Until = record.StatusBudget, never
	Conclude(plain)
	if Wide(plain) != 1 || plain.Conclusion.Ending.Wide != 1 {
		t.Errorf("%d wide, %+v", Wide(plain), plain.Conclusion.Ending)
	}
}
