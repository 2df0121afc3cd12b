package stats

import (
	"fmt"
	"math"
	"time"

	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

// Unjudged describes a run that its budget ended before it had the blocks for a verdict. It returns
// nil for other runs.
func Unjudged(run *record.Run) *record.Unjudged {
	made, planned := run.Blocks(), run.Design.Replicates
	if run.Status != record.StatusBudget || made >= LeastBlocks || planned <= made || len(run.Trials) == 0 {
		return nil
	}
	return &record.Unjudged{BudgetS: run.Design.BudgetS, Blocks: made, Planned: planned, Command: Continue(run)}
}

// Look returns a text that says that a comparison has no verdict because there are fewer blocks than
// any verdict needs: so few were requested, or the run was interrupted. Empty: there are enough
// blocks, or nothing is compared.
func Look(c *record.Conclusion) string {
	if c == nil || !c.Compared || c.Ending.Blocks <= 0 || c.Ending.Blocks >= LeastBlocks {
		return ""
	}
	return fmt.Sprintf("a look at %s: no verdict and no recommendation, which take at least %d blocks",
		unit.Plural(c.Ending.Blocks, "block"), LeastBlocks)
}

// Continue returns the command that continues a run until it has the planned blocks, and at least
// those that a verdict needs.
func Continue(run *record.Run) string {
	command, planned := "linerate run --resume "+run.ID, run.Design.Replicates
	switch {
	case run.Status == record.StatusBudget:
		command += fmt.Sprintf(" --budget %s", EnoughBudget(run, max(planned, LeastBlocks)))
	case planned < LeastBlocks:
		command += fmt.Sprintf(" --replicates %d", LeastBlocks)
	}
	return command
}

// EnoughBudget returns a budget that is enough for the given number of blocks: at the pace of the
// run's blocks so far, including repeated trials, with a tenth to spare. It is longer than the budget
// that ended the run.
func EnoughBudget(run *record.Run, blocks int) unit.Duration {
	seconds := 1.1 * run.DurationS / float64(max(1, run.Blocks())) * float64(blocks)
	return unit.Duration(math.Ceil(max(seconds, run.Design.BudgetS+60)/60) * float64(time.Minute))
}
