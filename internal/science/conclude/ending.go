package conclude

import (
	"linerate/internal/model/record"
	"linerate/internal/science/stats"
)

// Wide returns how many of a run's effects have a wider interval than its design requests or, if it
// compares nothing, how many of its treatments' means.
func Wide(run *record.Run) int {
	n := 0
	if run.Design.Until == 0 {
		return n
	}
	for i := range run.Effects {
		if !stats.Narrow(&run.Effects[i], run.Treatments, run.Design.Until) {
			n++
		}
	}
	if len(run.Effects) > 0 {
		return n
	}
	for i := range run.Treatments {
		if !stats.NarrowMean(&run.Treatments[i], lead(run), run.Design.Until) {
			n++
		}
	}
	return n
}

// unsettled sets the reason of each effect whose interval is wider than the design requests, unless
// it has a reason that more blocks would not remove.
func unsettled(run *record.Run, effects []record.Effect) {
	if run.Status != record.StatusBudget && run.Status != record.StatusBlocks || run.Design.Until == 0 {
		return
	}
	for i := range effects {
		e := &effects[i]
		if e.ByInterval() && !stats.Narrow(e, run.Treatments, run.Design.Until) {
			e.Reason = record.Reason{Code: record.ReasonNotSettled}
			e.Why = "not settled: its interval is wider than requested"
		}
	}
}
