package study

import (
	"fmt"
	"slices"
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
	if err == nil && len(run.Design.LeftOut) > 0 {
		plan = plan.Without(run.Design.LeftOut)
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

// Without returns the plan without some of its treatments.
func (p *Plan) Without(list []record.LeftOut) *Plan {
	kept := *p
	kept.Treatments = slices.DeleteFunc(slices.Clone(p.Treatments), func(t Treatment) bool {
		return slices.ContainsFunc(list, func(l record.LeftOut) bool { return l.Treatment == t.Name })
	})
	return &kept
}

// Answers reports whether treatments remain that answer what the plan asks: baselines, and if it compares
// levels, others to compare with them.
func (p *Plan) Answers(asked *Plan) bool {
	baseline := func(t Treatment) bool { return t.Baseline }
	isOther := func(t Treatment) bool { return !t.Baseline }
	for _, is := range []func(Treatment) bool{baseline, isOther} {
		if slices.ContainsFunc(asked.Treatments, is) && !slices.ContainsFunc(p.Treatments, is) {
			return false
		}
	}
	return len(p.Treatments) > 0
}

// Planned returns the number of trials that a run should have. 0: unknown.
func Planned(run *record.Run) int {
	plan, err := PlanOf(run)
	if err != nil {
		return 0
	}
	return len(plan.Treatments) * plan.Blocks()
}
