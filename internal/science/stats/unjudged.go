package stats

import (
	"fmt"
	"math"
	"time"

	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

// Unjudged says of a run that its budget ended it before it had the blocks that a verdict
// takes, and how to continue it: "ended by --budget 6m20s after 2 of 8 blocks: no verdicts;
// linerate run … continues it". It is empty for other runs.
func Unjudged(run *record.Run) string {
	made, planned := run.Blocks(), run.Design.Replicates
	if run.Status != record.StatusBudget || made >= LeastBlocks || planned <= made || len(run.Trials) == 0 {
		return ""
	}
	return fmt.Sprintf("ended by --budget %s after %d of %d blocks: no verdicts; linerate run --resume %s --budget %s continues it",
		unit.Duration(run.Design.BudgetS*float64(time.Second)), made, planned, run.ID, EnoughBudget(run, planned))
}

// EnoughBudget is one in which a run has so many blocks: at the pace of those that it has, what
// was repeated among them, with a tenth to spare, and longer than the budget that ended it.
func EnoughBudget(run *record.Run, blocks int) unit.Duration {
	seconds := 1.1 * run.DurationS / float64(max(1, run.Blocks())) * float64(blocks)
	return unit.Duration(math.Ceil(max(seconds, run.Design.BudgetS+60)/60) * float64(time.Minute))
}
