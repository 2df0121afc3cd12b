package study

import (
	"fmt"
	"time"

	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

// PlanOf returns the plan of a run.
func PlanOf(run *record.Run) (*Plan, error) {
	s, err := Parse(run.ID, []byte(run.StudyFile), run.Design.Set...)
	if err != nil {
		return nil, fmt.Errorf("the study of run %s can no longer be read: %w", run.ID, err)
	}
	plan, err := NewPlan(s, run.Design.Parts...)
	if err == nil {
		plan, err = plan.Only(run.Design.Only)
	}
	if err != nil {
		return nil, fmt.Errorf("the plan of run %s can no longer be made: %w", run.ID, err)
	}
	for _, s := range run.Topology.Switches { // paths are relative to the study file
		if own, is := plan.Study.Topology.Switch(s.Name); is && own.SNMP != nil && s.SNMP != nil {
			own.SNMP.Credentials = s.SNMP.Credentials
		}
	}
	d := &plan.Study.Design
	d.Replicates, d.Until = run.Design.Replicates, unit.Ratio(run.Design.Until)
	d.Budget = unit.Duration(run.Design.BudgetS * float64(time.Second))
	return plan, nil
}

// Planned returns the number of trials that a run should have. 0: unknown.
func Planned(run *record.Run) int {
	plan, err := PlanOf(run)
	if err != nil {
		return 0
	}
	return len(plan.Treatments) * plan.Blocks()
}
