package tune

import (
	"fmt"
	"time"

	"linerate/internal/model/metric"
	"linerate/internal/model/settingfile"
	"linerate/internal/model/study"
	"linerate/internal/model/unit"
	"linerate/internal/science/bottleneck"
	"linerate/internal/science/stats"
	"linerate/internal/science/tuning"
)

// proofTrials is how many trials are kept free for the proof: the baseline, the list, the
// best set and what is kept, in the blocks that so many comparisons have.
const proofTrials = 4 * 6

// redesign changes the plan as requested. Its budget is then at least one block: whether
// what was requested is enough, and how much is, is reported by afford.
func (t *Tuner) redesign(plan *study.Plan) error {
	requested := t.options.Redesign
	if b := requested.Budget; b != nil && *b > 0 {
		requested.Budget = new(max(*b, unit.Duration(plan.BlockTime())))
	}
	return plan.Redesign(requested)
}

// afford gives a run what is left of the budget, which is that of the whole tune. The first
// run is to leave enough for reserve trials, the proof, once it has the blocks that verdicts
// take: without verdicts there is nothing to prove. The search leaves it in any case. The error is
// tuning.ErrSpent where what is left is too short for verdicts, and an InputError if it is
// so from the beginning.
func (t *Tuner) afford(plan *study.Plan, d settingfile.Design) (reserve int, err error) {
	whole := time.Duration(plan.Study.Design.Budget)
	if b := t.options.Redesign.Budget; b != nil {
		whole = time.Duration(*b)
	}
	if whole == 0 {
		return 0, nil
	}
	trial := plan.BlockTime() / time.Duration(len(plan.Treatments))
	if t.trials > 0 {
		trial = max(trial, t.spent/time.Duration(t.trials))
	}
	if proves := len(d.Sets) > 0 && d.Sets[0].Name == settingfile.AsItIs; t.options.Keep != "" && !proves &&
		len(t.lines) > 1 {
		reserve = proofTrials
	}
	blocks := min(plan.Blocks(), stats.LeastBlocks)
	need, proof := time.Duration(blocks*len(plan.Treatments))*trial, time.Duration(reserve)*trial
	left := whole - t.spent
	switch enough := left >= need+proof; {
	case enough && t.trials == 0:
		budget := unit.Duration(left)
		return reserve, plan.Redesign(study.Redesign{Budget: &budget})
	case enough:
		budget := unit.Duration(left - proof)
		return 0, plan.Redesign(study.Redesign{Budget: &budget})
	case t.trials > 0:
		return 0, tuning.ErrSpent
	}
	text := fmt.Sprintf("budget %s: %d blocks of %d trials take about %s", unit.Duration(whole), blocks,
		len(plan.Treatments), unit.FormatTime(need))
	if proof > 0 {
		text += fmt.Sprintf(", and the proof of what is kept %s", unit.FormatTime(proof))
	}
	return 0, &InputError{fmt.Errorf("%s; expected at least %s, or fewer settings%s", text,
		unit.FormatTime(need+proof+time.Second),
		shorter(plan, trial-whole/time.Duration(blocks*len(plan.Treatments)+reserve)))}
}

// shorter proposes windows that are shorter by a time, in steps of 100 ms; empty: they would be
// too short to tell what holds flows back, or for the percentiles of a probe.
func shorter(plan *study.Plan, by time.Duration) string {
	least := time.Duration(bottleneck.LeastWindowS(plan.RoundTrip(&plan.Treatments[0]).Seconds()) * float64(
		time.Second))
	for _, name := range plan.Study.Responses {
		if m, _ := metric.Find(name); m.Quantile > 0 {
			least = study.ProbeWindow(0)
		}
	}
	is := time.Duration(plan.Treatments[0].Workload.Duration)
	if window := (is - by).Truncate(100 * time.Millisecond); window >= least {
		return fmt.Sprintf(", or --set workload.duration=%s in place of %s", unit.Duration(window), unit.Duration(is))
	}
	return ""
}
