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
// continue with: …". It is empty for other runs.
func Unjudged(run *record.Run) string {
	made, planned := run.Blocks(), run.Design.Replicates
	if run.Status != record.StatusBudget || made >= LeastBlocks || planned <= made || len(run.Trials) == 0 {
		return ""
	}
	each := run.DurationS / float64(len(run.Trials)) * float64(len(run.Treatments))
	minutes := math.Ceil(max(float64(planned)*each, run.Design.BudgetS+60) / 60)
	return fmt.Sprintf("ended by --budget %s after %d of %d blocks: no verdicts; continue with: linerate run --resume %s --budget %s",
		unit.Duration(run.Design.BudgetS*float64(time.Second)), made, planned, run.ID, unit.Duration(minutes*float64(time.Minute)))
}
