package run

import (
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/model/study"
	"linerate/internal/model/unit"
)

// TestBudgetWarning: a run that is asked for more blocks than its budget has time for says
// so, with one that is enough.
func TestBudgetWarning(t *testing.T) {
	saved := &record.Run{DurationS: 350, Design: record.Design{BudgetS: 430}}
	for block := range 4 {
		saved.Trials = append(saved.Trials, record.Trial{Treatment: "a", Block: block + 1})
	}
	saved.Treatments = []record.Treatment{{Name: "a", Trials: 4}}
	four, six, budget := 4, 6, unit.Duration(1)
	if got, want := BudgetWarning(saved, study.Redesign{Replicates: &six}),
		"the budget of 7m10s that the run was begun with still holds; 6 blocks need about --budget 10m"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	spent := &record.Run{DurationS: 470, Design: saved.Design, Trials: saved.Trials, Treatments: saved.Treatments}
	if got := BudgetWarning(spent, study.Redesign{Replicates: &four}); got != "" {
		t.Errorf("of blocks that were made: %s", got)
	}
	for _, asked := range []study.Redesign{{Replicates: &four}, {Replicates: &six, Budget: &budget}, {}} {
		if got := BudgetWarning(saved, asked); got != "" {
			t.Errorf("%+v: %s", asked, got)
		}
	}
}
