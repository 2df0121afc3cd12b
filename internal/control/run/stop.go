package run

import (
	"time"

	"linerate/internal/control/notebook"
	"linerate/internal/model/record"

	"linerate/internal/science/conclude"
	"linerate/internal/science/stats"
)

// maxBlocks ends a run whose intervals do not become narrow and that has no
// budget.
const maxBlocks = 64

// enough decides, before a block is begun or carried on, whether the run is
// over, and how it ended then.
func (c *conductor) enough(block int) (bool, string) {
	d := c.design
	wanted := block <= d.Replicates || c.missing(block) < len(c.plan.Treatments)
	if !wanted && d.Until > 0 {
		conclude.Conclude(c.run)
		wanted = !stats.Narrow(c.run.Effects, c.run.Treatments, d.Until)
		if wanted && block > maxBlocks {
			return true, record.StatusBlocks
		}
	}
	if !wanted {
		return true, notebook.Complete
	}
	// Without a single trial, nothing at all would be known.
	if d.BudgetS > 0 && len(c.run.Trials) > 0 && c.spent()+c.left(block).Seconds() > d.BudgetS {
		return true, record.StatusBudget
	}
	return false, ""
}

// next is the first block that has trials to be made.
func (c *conductor) next() int {
	block := 1
	for c.missing(block) == 0 {
		block++
	}
	return block
}

// missing is how many trials of a block are still to be made.
func (c *conductor) missing(block int) int {
	n, missing := len(c.plan.Treatments), 0
	for order := (block-1)*n + 1; order <= block*n; order++ {
		if !c.finished[order] {
			missing++
		}
	}
	return missing
}

// left is how long the rest of a block will take, by the pace so far.
func (c *conductor) left(block int) time.Duration {
	return time.Duration(c.missing(block)) * c.pace()
}

// pace is how long a trial takes: as measured, before that as planned. What a
// hypervisor has made the run wait for is over, and does not come with every trial.
func (c *conductor) pace() time.Duration {
	if n := len(c.run.Trials); n > 0 {
		return time.Duration((c.spent() - c.lost.Seconds()) / float64(n) * float64(time.Second))
	}
	return c.plan.BlockTime() / time.Duration(len(c.plan.Treatments))
}

// spent is how many seconds the run has taken, without the time in which it was
// interrupted.
func (c *conductor) spent() float64 {
	if c.began.IsZero() {
		return c.before
	}
	return c.before + time.Since(c.began).Seconds()
}
