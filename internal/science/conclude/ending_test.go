package conclude

import (
	"strings"
	"testing"

	"linerate/internal/model/record"
)

// ended is a run that ended with a status, its design asking for until.
func ended(blocks int, status string, until float64) *record.Run {
	run := few(blocks, 0, 4)
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
		want         string // the last sentence
		settled      bool
	}{
		{"budget, too wide", record.StatusBudget, 2, never, "Stopped by the budget: intervals are wider than asked (±1e-07 %).", false},
		{"budget, narrow", record.StatusBudget, 2, always, "Stopped by the budget after 2 of 4 blocks.", true},
		{"budget, no until", record.StatusBudget, 3, 0, "Stopped by the budget after 3 of 4 blocks.", true},
		{"blocks", record.StatusBlocks, 5, never, "Stopped after 5 blocks: intervals are not as narrow as asked (±1e-07 %).", false},
		{"interrupted", "interrupted", 2, never, "The run ended early (interrupted), after 4 trials.", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := ended(c.blocks, c.status, c.until)
			if !strings.HasSuffix(run.Answer, ". "+c.want) {
				t.Errorf("got  %q\nwant … %q", run.Answer, c.want)
			}
			if settled := run.Effects[0].Why == ""; settled != c.settled {
				t.Errorf("settled %t, want %t: %+v", settled, c.settled, run.Effects[0])
			}
			if wide := Wide(run); (wide == 0) != (c.until != never) {
				t.Errorf("%d effects are wide", wide)
			}
		})
	}
	if run := ended(4, "complete", always); strings.Contains(run.Answer, "topped") {
		t.Errorf("a run that did what it was asked to: %q", run.Answer)
	}

	// Without anything to compare, the goodput itself is held to it.
	plain := few(3, 4)
	plain.Status, plain.Design.Until = record.StatusBudget, never
	Conclude(plain)
	if Wide(plain) != 1 || !strings.HasSuffix(plain.Answer, "Stopped by the budget: intervals are wider than asked (±1e-07 %).") {
		t.Errorf("%d wide, %q", Wide(plain), plain.Answer)
	}

	// Doubt comes first and hides nothing.
	doubtful := few(2, 0, 4)
	doubtful.Status, doubtful.Design.Until = record.StatusBudget, never
	doubtful.Trials[1].GoodputBps *= 1.2
	Conclude(doubtful)
	if !strings.HasSuffix(doubtful.Answer, "failed limit; stopped by the budget: intervals are wider than asked (±1e-07 %).") {
		t.Errorf("%q", doubtful.Answer)
	}
}
