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
	"linerate/internal/science/stats"
	"linerate/internal/science/trust"
)

// retryPauses are the pauses before each retry of a trial in which a hypervisor took
// processors away: such a load lasts for seconds to a minute.
var retryPauses = []time.Duration{5 * time.Second, 15 * time.Second, 45 * time.Second}

// attempts bounds how often a trial is tried, for that reason or because its schedule
// could not be kept on a busy machine.
var attempts = len(retryPauses) + 1

// withRetries makes a trial, and makes it again while its schedule was missed or a
// hypervisor took too much, up to attempts. The last one made is returned.
func (c *conductor) withRetries(ctx context.Context, name string, try func(attempt int) (record.Trial, error)) (
	t record.Trial, err error) {
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
		c.progress(name + ", again")
		select {
		case <-time.After(retryPauses[attempt]):
		case <-ctx.Done():
			return t, context.Cause(ctx)
		}
		c.retryTime += time.Since(began)
	}
	return t, err
}

// stolen reports whether a trial is to be made again because a hypervisor took too much
// of the processors. The time for that is bounded (maxRetryTime): on a machine that is
// always shared, retries give no better figures. A search retries its own windows.
func (c *conductor) stolen(t record.Trial, attempt int) bool {
	return t.LossFree == nil && attempt < len(retryPauses) && c.retryTime+retryPauses[attempt] <= c.maxRetryTime() &&
		c.spares(retryPauses[attempt]) && trust.Stolen(t)
}

// spares reports whether the budget has time to make a trial again after a pause, beside what is
// missing of the blocks that verdicts take: a trial in doubt is better than no verdict.
func (c *conductor) spares(pause time.Duration) bool {
	need := time.Duration(0) // with this trial, which is not finished yet
	for block := 1; block <= min(c.design.Replicates, stats.LeastBlocks); block++ {
		need += c.remaining(block)
	}
	return c.design.BudgetS == 0 || c.elapsed()+(pause+max(need, c.trialTime())).Seconds() <= c.design.BudgetS
}

// maxRetryTimeVariable names the environment variable that overrides how long a run may
// spend on retries: "30s"; "0s" retries nothing.
const maxRetryTimeVariable = "LINERATE_MAX_RETRY_TIME"

// maxRetryFromEnv is the environment's override of maxRetryTime; nil: none.
func maxRetryFromEnv() (*time.Duration, error) {
	text := os.Getenv(maxRetryTimeVariable)
	if text == "" {
		return nil, nil
	}
	d, err := unit.ParseDuration(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", maxRetryTimeVariable, err)
	}
	most := time.Duration(d)
	return &most, nil
}

// maxRetryTime bounds the time that a run spends on retries: the override, or a quarter
// of what its trials take and at least 10 s.
func (c *conductor) maxRetryTime() time.Duration {
	if c.maxRetrySet != nil {
		return *c.maxRetrySet
	}
	return max(10*time.Second, c.plan.Time(c.design.Replicates)/4)
}
