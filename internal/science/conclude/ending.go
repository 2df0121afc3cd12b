package conclude

import (
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/science/stats"
)

// Wide is how many of a run's effects are known less narrowly than its design
// requests; where it compares nothing, how many of its treatments' goodputs.
func Wide(run *record.Run) int {
	n := 0
	for _, e := range run.Effects {
		if wide(run, e) {
			n++
		}
	}
	if len(run.Effects) > 0 || run.Design.Until == 0 {
		return n
	}
	for _, t := range run.Treatments {
		if !stats.Narrow(nil, []record.Treatment{t}, run.Design.Until) {
			n++
		}
	}
	return n
}

func wide(run *record.Run, e record.Effect) bool {
	return run.Design.Until > 0 && !stats.Narrow([]record.Effect{e}, nil, run.Design.Until)
}

// unsettled explains each effect that a run left wider than requested, unless
// there is a reason that more blocks would not have helped against.
func unsettled(run *record.Run, effects []record.Effect) {
	if run.Status != record.StatusBudget && run.Status != record.StatusBlocks {
		return
	}
	for i, e := range effects {
		if (e.Why == "" || strings.HasPrefix(e.Why, stats.Spans)) && wide(run, e) {
			effects[i].Why = "not settled: its interval is wider than requested"
		}
	}
}
