package rounds

import (
	"context"
	"time"
)

// clock tells the time and waits; tests have one of their own.
type clock interface {
	Now() time.Time
	// Sleep waits until ctx ends at most.
	Sleep(ctx context.Context, d time.Duration)
}

type machineClock struct{}

func (machineClock) Now() time.Time { return time.Now() }

func (machineClock) Sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// glance is how long the conductor sleeps before it looks at the clock again, which may be set
// meanwhile.
const glance = time.Minute

// begin returns when the next round may begin, so that it ends within the hours of the plan.
func (c *conductor) begin(now time.Time) time.Time {
	hours := c.plan.Hours
	begin := hours.Next(now)
	if end := hours.End(begin); !end.IsZero() && begin.Add(c.roundTime()).After(end) {
		begin = hours.Next(end)
	}
	return begin
}

// awaitHours waits until a round may be measured.
func (c *conductor) awaitHours(ctx context.Context) error {
	said := false
	for {
		now := c.options.clock.Now()
		begin := c.begin(now)
		if !begin.After(now) {
			return nil
		}
		c.progress("waiting until " + begin.Format("Mon 15:04"))
		if !said {
			c.options.Say("outside of the hours " + c.plan.Hours.String() + ": waiting until " +
				begin.Format("Mon 2006-01-02 15:04"))
		}
		said = true
		c.options.clock.Sleep(ctx, min(begin.Sub(now), glance))
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}
