package tune

import (
	"fmt"
	"time"

	"linerate/internal/model/settingfile"
	"linerate/internal/model/study"
	"linerate/internal/model/unit"
	"linerate/internal/science/stats"
	"linerate/internal/science/tuning"
)

// proofTrials is how many trials are kept free for the proof: the baseline, the list, the
// best set and what is kept, in the blocks that so many comparisons have.
const proofTrials = 4 * 6

// afford gives a run what is left of the budget, which is that of the whole tune: the first
// run and the search leave enough for the proof. It returns tuning.ErrSpent where what is
// left is too short for a verdict, and an InputError if it is so from the beginning.
func (t *Tuner) afford(plan *study.Plan, d settingfile.Design) error {
	whole := time.Duration(plan.Study.Design.Budget)
	if whole == 0 {
		return nil
	}
	trial := plan.BlockTime() / time.Duration(len(plan.Treatments))
	if t.trials > 0 {
		trial = max(trial, t.spent/time.Duration(t.trials))
	}
	var reserve time.Duration
	if proves := len(d.Sets) > 0 && d.Sets[0].Name == settingfile.AsItIs; t.options.Keep != "" && !proves && len(t.lines) > 1 {
		reserve = proofTrials * trial
	}
	blocks := min(plan.Blocks(), stats.LeastBlocks)
	need := time.Duration(blocks*len(plan.Treatments)) * trial
	left := whole - t.spent - reserve
	switch {
	case left >= need:
		budget := unit.Duration(left)
		return plan.Redesign(study.Redesign{Budget: &budget})
	case t.trials > 0:
		return tuning.ErrSpent
	}
	text := fmt.Sprintf("budget %s: %d blocks of %d trials take about %s", unit.Duration(whole), blocks, len(plan.Treatments), need.Round(time.Second))
	if reserve > 0 {
		text += fmt.Sprintf(", and the proof of what is kept %s", reserve.Round(time.Second))
	}
	return &InputError{fmt.Errorf("%s; expected at least %s", text, (need + reserve).Round(time.Second))}
}
