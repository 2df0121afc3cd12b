package run

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"linerate/internal/control/notebook"
	"linerate/internal/model/record"
	"linerate/internal/model/study"
	"linerate/internal/model/unit"
	"linerate/internal/science/stats"
)

// ErrSpent means that a run cannot be resumed, because it used up its budget or its maximum
// number of blocks, or is a measurement.
var ErrSpent = errors.New("nothing can be added to the run")

// Resume continues an interrupted run, which keeps its finished trials, or one that has
// ended, if it is redesigned to have more.
func Resume(ctx context.Context, store notebook.Store, id string, o Options) (*record.Run, error) {
	c, err := hold(ctx, store, id, o)
	if err != nil {
		return nil, err
	}
	return c.conduct(ctx)
}

// hold makes the conductor of a run that is resumed, and holds the run.
func hold(ctx context.Context, store notebook.Store, id string, o Options) (*conductor, error) {
	saved, err := store.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	if saved.StudyFile == "" {
		return nil, fmt.Errorf("%w: it is a measurement; make another one with: %s", ErrSpent, saved.Again)
	}
	c, err := restore(store, saved, o)
	if err != nil {
		return nil, err
	}
	if err := MissingTools(c.plan); err != nil {
		return nil, err
	}
	if err := c.checkResumable(saved.Status); err != nil {
		return nil, err
	}
	// Another process may have resumed it meanwhile: from here on it is held.
	extend := saved.Status == notebook.Complete && o.Redesign != (study.Redesign{})
	if saved, err = store.Resume(ctx, id, extend); err != nil {
		return nil, err
	}
	return restore(store, saved, o)
}

// checkResumable returns why a run cannot be resumed that has ended.
func (c *conductor) checkResumable(before string) error {
	status := c.ended(c.nextBlock())
	switch {
	case before == notebook.Running, before == notebook.Interrupted, status == "":
		return nil
	case status != before && before != notebook.Complete:
		return nil // it ends with another status now
	case status == record.StatusBudget:
		budget := time.Duration(c.design.BudgetS * float64(time.Second))
		return fmt.Errorf("%w: after %.0f s, no further block fits its budget of %s; expected a larger one (--budget)",
			ErrSpent, c.elapsed(), unit.Duration(budget))
	case status == record.StatusBlocks:
		return fmt.Errorf(
			"%w: its intervals are not as narrow as asked (%s) after %d blocks; expected wider ones (--until), or "+
				"more blocks (--replicates)",
			ErrSpent, unit.Ratio(c.design.Until), c.nextBlock()-1)
	}
	return notebook.ErrComplete
}

// BudgetWarning says that the budget with which a run was begun ends it before the number of
// blocks asked for now; empty: it does not, the run has these blocks already, or a new
// budget is given.
func BudgetWarning(saved *record.Run, asked study.Redesign) string {
	made, budget := saved.Blocks(), saved.Design.BudgetS
	if budget == 0 || made == 0 || asked.Budget != nil || asked.Replicates == nil || *asked.Replicates <= made {
		return ""
	}
	seconds := saved.DurationS / float64(made) * float64(*asked.Replicates)
	if seconds <= budget {
		return ""
	}
	return fmt.Sprintf("the budget of %s that the run was begun with still holds; %d blocks need about --budget %s",
		unit.Duration(budget*float64(time.Second)), *asked.Replicates, stats.EnoughBudget(saved, *asked.Replicates))
}

// restore makes the conductor of a saved run, as it was except for the options.
func restore(store notebook.Store, saved *record.Run, o Options) (*conductor, error) {
	plan, err := study.PlanOf(saved)
	if err != nil {
		return nil, err
	}
	if err := plan.Redesign(o.Redesign); err != nil {
		return nil, err
	}
	o.RunName = saved.Name
	o.Only, o.Set, o.Seed, o.StudyFile = saved.Design.Only, saved.Design.Set, saved.Seed, saved.StudyFile
	c, err := prepare(plan, store, o)
	if err != nil {
		return nil, err
	}
	c.design.LeftOut = saved.Design.LeftOut
	c.run = c.header()
	c.run.ID, c.run.Started, c.run.DurationS = saved.ID, saved.Started, saved.DurationS
	c.run.Published, c.run.Proven = saved.Published, saved.Proven
	c.run.Trials, c.run.Notes, c.run.Again = saved.Trials, saved.Notes, saved.Again
	c.run.Environment, c.run.Snapshots = saved.Environment, saved.Snapshots
	if !strings.Contains(c.run.Again, o.Again) {
		c.run.Again += " " + o.Again
	}
	c.elapsedBefore = saved.DurationS
	for _, t := range saved.Trials {
		c.finished[t.Order] = true
	}
	return c, nil
}
