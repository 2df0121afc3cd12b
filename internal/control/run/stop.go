package run

import (
	"time"

	"linerate/internal/control/notebook"
	"linerate/internal/model/record"
	"linerate/internal/model/study"
	"linerate/internal/science/conclude"
	"linerate/internal/science/stats"
)

// maxBlocks bounds a run without a budget whose intervals do not become narrow.
const maxBlocks = 64

// ended is the status of a run that is over before a block is begun or continued; empty: it
// is not.
func (c *conductor) ended(block int) string {
	d := c.design
	wanted := block <= d.Replicates || c.missing(block) < len(c.plan.Treatments)
	if !wanted && d.Until > 0 {
		conclude.Conclude(c.run)
		wanted = len(c.run.Treatments) == 0 || conclude.Wide(c.run) > 0
		if wanted && block > maxBlocks {
			return record.StatusBlocks
		}
	}
	if !wanted {
		return notebook.Complete
	}
	// Without a single trial, nothing at all would be known.
	if d.BudgetS > 0 && len(c.run.Trials) > 0 &&
		!affordable(block, c.elapsed()+(c.remaining(block)+c.kept(block)).Seconds(), d.BudgetS) {
		return record.StatusBudget
	}
	return ""
}

// affordable reports whether a block may begin that is to end after so many seconds of a budget.
// One of those that verdicts take may exceed it by 5 %: a run without it answers nothing.
func affordable(block int, endS, budgetS float64) bool {
	if block <= stats.LeastBlocks {
		budgetS *= 1.05
	}
	return endS <= budgetS
}

// kept is the part of a budget that is kept for what follows the run when a block begins.
func (c *conductor) kept(block int) time.Duration {
	return kept(block, c.options.Reserve, c.trialTime())
}

func kept(block, reserve int, trial time.Duration) time.Duration {
	if block <= stats.LeastBlocks {
		return 0
	}
	return time.Duration(reserve) * trial
}

// Fitting returns how many blocks fit the budget of a plan, if it must leave time for reserve
// further trials (Options.Reserve): at most those planned, or with `until` at most 64 if that is
// more. Without a budget, all planned blocks fit.
func Fitting(p *study.Plan, reserve int) int {
	d, most := p.Study.Design, p.Blocks()
	if d.Budget <= 0 {
		return most
	}
	if d.Until > 0 {
		most = max(most, maxBlocks)
	}
	trial := p.BlockTime() / time.Duration(len(p.Treatments))
	return fitting(most, func(block int) bool {
		return affordable(block, (p.Time(block) + kept(block, reserve, trial)).Seconds(),
			time.Duration(d.Budget).Seconds())
	})
}

// fitting is how many of so many blocks are made where each fits or ends the run; one is made
// in any case.
func fitting(blocks int, fits func(block int) bool) int {
	n := 1
	for n < blocks && fits(n+1) {
		n++
	}
	return n
}

// nextBlock is the first block, from 1, in which trials are missing.
func (c *conductor) nextBlock() int {
	block := 1
	for c.missing(block) == 0 {
		block++
	}
	return block
}

// missing is the number of trials that a block does not have yet.
func (c *conductor) missing(block int) int {
	n, missing := len(c.plan.Treatments), 0
	for order := (block-1)*n + 1; order <= block*n; order++ {
		if !c.finished[order] {
			missing++
		}
	}
	return missing
}

// remaining estimates how long the missing trials of a block take.
func (c *conductor) remaining(block int) time.Duration {
	return time.Duration(c.missing(block)) * c.trialTime()
}

// trialTime is the mean time of a trial so far, and the planned time before the first.
// Time spent on retries is left out: it does not recur with every trial.
func (c *conductor) trialTime() time.Duration {
	if n := len(c.run.Trials); n > 0 {
		return time.Duration((c.elapsed() - c.retryTime.Seconds()) / float64(n) * float64(time.Second))
	}
	return c.plan.BlockTime() / time.Duration(len(c.plan.Treatments))
}

// elapsed is how many seconds the run has taken, interruptions left out.
func (c *conductor) elapsed() float64 {
	if c.began.IsZero() {
		return c.elapsedBefore
	}
	return c.elapsedBefore + time.Since(c.began).Seconds()
}
