package answer

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/science/conclude"
	"linerate/internal/science/sciencetest"
)

// TestRiseOfOneLevel: an interrupted run compares no level with itself.
func TestRiseOfOneLevel(t *testing.T) {
	for _, perConnection := range []float64{0, sciencetest.Limit * 0.0006} {
		run := sciencetest.Aliases(3, 6, perConnection, 1)
		run.Status = "interrupted"
		all := run.Trials
		run.Trials = []record.Trial{all[slices.IndexFunc(all, func(t record.Trial) bool {
			return t.Levels["aliases"] == "254" && t.Levels["connections"] == "254"
		})]}
		conclude.Conclude(run)
		a := Run(run)
		text := strings.Join(append([]string{a.Headline}, a.Statements...), " ")
		if !strings.Contains(text, "is not settled by this run, which has no figure at the baseline of aliases") ||
			strings.Contains(text, "sum goes") || strings.Contains(text, "does not show") {
			t.Error(text)
		}
		run.Trials = all
		conclude.Conclude(run)
		if a := Run(run); strings.Contains(strings.Join(a.Statements, " "), "no figure") {
			t.Error(a.Statements)
		}
	}
}

// TestLook: a run of fewer blocks than a verdict takes, or one interrupted in them, has
// figures, and neither a verdict nor a recommendation.
func TestLook(t *testing.T) {
	for _, blocks := range []int{1, 2, 3} {
		for _, cut := range []int{0, 3} {
			run := sciencetest.Run(7, blocks)
			run.Trials = run.Trials[:len(run.Trials)-cut]
			if cut > 0 {
				run.Status = "interrupted"
			}
			conclude.Conclude(run)
			a := Run(run)
			text := strings.Join(append([]string{a.Headline}, a.Statements...), " ")
			if !strings.Contains(text, "no verdict and no recommendation") {
				t.Errorf("%d blocks: %s", blocks, text)
			}
			for _, claim := range []string{"only", "reaches", "improves", "nclusive", "shown", "0×"} {
				if strings.Contains(text, claim) {
					t.Errorf("%d blocks: %q in %s", blocks, claim, text)
				}
			}
		}
	}
	run := sciencetest.Run(7, 4)
	conclude.Conclude(run)
	if a := Run(run); strings.Contains(strings.Join(a.Statements, " "), "no verdict") {
		t.Errorf("4 blocks: %v", a)
	}
	run.Status = "interrupted"
	conclude.Conclude(run)
	for i := range run.Conclusion.Conditions {
		at := &run.Conclusion.Conditions[i]
		for k := range at.Candidates {
			at.Candidates[k].Fix, at.Candidates[k].MayReach = k == 0, false
			at.Candidates[k].Effect = &record.Effect{Verdict: record.Improves}
		}
	}
	if text := strings.Join(Run(run).Statements, " "); strings.Contains(text, "nly ") {
		t.Errorf("an interrupted run: %s", text)
	}
}
