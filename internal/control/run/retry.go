package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"linerate/internal/control/trial"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
	"linerate/internal/science/trust"
)

// rests are the waits before a trial is made again in which a hypervisor took
// processors away: what they were taken for lasts for seconds to a minute.
var rests = []time.Duration{5 * time.Second, 15 * time.Second, 45 * time.Second}

// attempts is how often a trial is tried, for that or because its schedule could not
// be kept, as on a machine that was busy with something else for a moment.
var attempts = len(rests) + 1

// kept makes a trial until it can be kept, or once more is of no use.
func (c *conductor) kept(ctx context.Context, name string, try func(attempt int) (record.Trial, error)) (t record.Trial, err error) {
	remade := 0
	for attempt := range attempts {
		began := time.Now()
		t, err = try(attempt)
		t.Repeated += remade
		_, late := errors.AsType[trial.LateError](err)
		stolen := err == nil && c.stolen(t, attempt)
		if !late && !stolen || ctx.Err() != nil || c.broken != nil {
			break
		}
		if late {
			continue
		}
		remade++
		c.tell(name+", again", nil)
		select {
		case <-time.After(rests[attempt]):
		case <-ctx.Done():
			return t, context.Cause(ctx)
		}
		c.lost += time.Since(began)
	}
	return t, err
}

// stolen reports whether a trial is to be made again, since it tells of a hypervisor
// and not of a network. A machine that is never left alone would take many times as
// long for no better figures, so that the run's patience ends. A search has made its
// windows again by itself.
func (c *conductor) stolen(t record.Trial, attempt int) bool {
	return t.LossFree == nil && attempt < len(rests) && c.lost+rests[attempt] <= c.patience() && trust.Stolen(t)
}

// PatienceVariable overrides how long a run waits for a hypervisor, as 30s or 0s.
const PatienceVariable = "LINERATE_PATIENCE"

// allowed is what the environment says of it, if anything.
func allowed() (*time.Duration, error) {
	text := os.Getenv(PatienceVariable)
	if text == "" {
		return nil, nil
	}
	d, err := unit.ParseDuration(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", PatienceVariable, err)
	}
	patience := time.Duration(d)
	return &patience, nil
}

// patience is how long a run may wait for a hypervisor: a quarter of what its trials
// take, and ten seconds at least.
func (c *conductor) patience() time.Duration {
	if c.allowed != nil {
		return *c.allowed
	}
	return max(10*time.Second, c.plan.Time(c.design.Replicates)/4)
}
