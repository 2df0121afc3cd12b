package run

import (
	"fmt"

	"linerate/internal/model/study"
	"linerate/internal/model/unit"
	"linerate/internal/science/stats"
)

// BlocksWarning says what follows from the chosen number of blocks if a plan needs another;
// empty: nothing.
func BlocksWarning(plan *study.Plan) string {
	d, blocks := plan.Study.Design, plan.Blocks()
	switch {
	case blocks < stats.LeastBlocks && plan.Comparisons() > 0:
		are := "blocks are"
		if blocks == 1 {
			are = "block is"
		}
		return fmt.Sprintf("%d %s a look: figures without verdicts, which take at least %d", blocks, are,
			stats.LeastBlocks)
	case Fitting(plan, 0) < stats.LeastBlocks && plan.Comparisons() > 0:
		return fmt.Sprintf("the budget has time for %s: figures without verdicts, which take at least %d, about %s",
			unit.Plural(Fitting(plan, 0), "block"), stats.LeastBlocks, unit.FormatTime(plan.Time(stats.LeastBlocks)))
	case d.Until > 0 && d.Replicates > 0 && d.Replicates < blocks:
		return fmt.Sprintf(
			"until makes at least %d blocks, not %d: with fewer, runs that end as soon as their intervals are "+
				"narrow are wrong too often", blocks, d.Replicates)
	}
	return ""
}
