package rounds

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Hours are the hours of each day, local time, in which rounds may be measured: from From until To, as
// times since midnight. To is before From if midnight is between them. Zero: the whole day.
type Hours struct{ From, To time.Duration }

// ParseHours parses hours such as 01:00-05:00.
func ParseHours(text string) (h Hours, err error) {
	const day = 24 * time.Hour
	from, to, both := strings.Cut(text, "-")
	ends := [2]time.Duration{}
	for i, end := range []string{from, to} {
		at, wrong := time.Parse("15:04", strings.TrimSpace(end))
		if end == "24:00" {
			at, wrong = time.Time{}.AddDate(1, 0, 0), nil
		}
		if wrong != nil || !both {
			return h, fmt.Errorf("%.40q: expected hours such as 01:00-05:00", text)
		}
		ends[i] = (time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute) % day
	}
	return Hours{ends[0], ends[1]}, nil
}

func (h Hours) String() string {
	of := func(d time.Duration) string { return fmt.Sprintf("%02d:%02d", int(d.Hours()), int(d.Minutes())%60) }
	return of(h.From) + "-" + of(h.To)
}

// whole reports whether h is the whole day.
func (h Hours) whole() bool { return h.From == h.To }

// length is how long the hours of one day are.
func (h Hours) length() time.Duration {
	const day = 24 * time.Hour
	if h.whole() {
		return day
	}
	return (h.To - h.From + day) % day
}

// until returns when something that takes a time may begin, so that it ends within the hours: now, or
// later.
func (h Hours) until(now time.Time, takes time.Duration) time.Time {
	if h.whole() {
		return now
	}
	at := func(days int, d time.Duration) time.Time { // a clock time, also on days of 23 or 25 hours
		return time.Date(now.Year(), now.Month(), now.Day()+days, int(d.Hours()), int(d.Minutes())%60, 0, 0,
			now.Location())
	}
	for days := -1; ; days++ {
		from, to := at(days, h.From), at(days, h.To)
		if h.To < h.From {
			to = at(days+1, h.To)
		}
		begin := now
		if from.After(now) {
			begin = from
		}
		if !begin.Add(takes).After(to) || days > 2 {
			return begin
		}
	}
}

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

// awaitHours waits until a round may be measured.
func (c *conductor) awaitHours(ctx context.Context) error {
	said := false
	for {
		now := c.options.clock.Now()
		begin := c.options.Hours.until(now, c.roundTime())
		if !begin.After(now) {
			return nil
		}
		c.progress("waiting until " + begin.Format("Mon 15:04"))
		if !said {
			c.options.Say("outside of the hours " + c.options.Hours.String() + ": waiting until " +
				begin.Format("Mon 2006-01-02 15:04"))
		}
		said = true
		c.options.clock.Sleep(ctx, min(begin.Sub(now), glance))
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}
