// Package pace is the schedule of a sender that does not wait for its receiver: each packet
// or connection is due at its own instant, counted from the start, so that nothing drifts.
// After each wait all that are due go out together; where the instants are further apart than
// a wait is long, that is one. It takes no time and sends nothing.
package pace

import "linerate/internal/model/flow"

// Pace says what is due. One goroutine at a time may use it.
type Pace struct {
	interval float64 // ns from one to the next
	start    int64
	sent     int64 // since start
	behind   int64 // how many may be late (flow.MaxLate)
}

// New is a schedule of so many per second: between 1e-6 and 1e15, so that instants and counts
// are numbers of 64 bits.
func New(perSecond float64) *Pace {
	p := &Pace{interval: 1e9 / min(max(perSecond, 1e-6), 1e15)}
	p.behind = max(1, int64(float64(flow.MaxLate)/p.interval))
	return p
}

// Start makes an instant, in ns, that of the first.
func (p *Pace) Start(at int64) { p.start = at }

// Due is how many are to be sent at an instant, and, when none is, the instant of
// the next. skipped are never sent, since they are later than flow.MaxLate.
func (p *Pace) Due(at int64) (n, skipped, next int64) {
	n = int64(float64(at-p.start)/p.interval) + 1 - p.sent
	if at < p.start {
		n = 0
	}
	if n > p.behind {
		skipped = n - p.behind
		n = p.behind
		p.sent += skipped
	}
	if n <= 0 {
		// One more than the instant rounded down, so that it is not due too early.
		return 0, 0, p.Instant() + 1
	}
	return n, skipped, 0
}

// Sent says that so many of what is due were sent.
func (p *Pace) Sent(n int64) { p.sent += n }

// Instant is when the next is due.
func (p *Pace) Instant() int64 { return p.start + int64(float64(p.sent)*p.interval) }
