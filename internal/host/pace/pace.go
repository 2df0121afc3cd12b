// Package pace schedules a sender that does not wait for its receiver. Each packet or connection is due at its
// own time counted from the start, so the rate does not drift. After each wait, everything due is sent
// together. The package neither reads a clock nor sends.
package pace

import "linerate/internal/model/flow"

// Pace is a schedule. It is not safe for concurrent use.
type Pace struct {
	interval float64 // ns between instants
	start    int64
	sent     int64 // number sent since the start
	behind   int64 // how many may be late (flow.MaxLate)
}

// New returns a schedule of perSecond packets per second, from 1e-6 to 1e15 so that times and counts fit 64
// bits.
func New(perSecond float64) *Pace {
	p := &Pace{interval: 1e9 / min(max(perSecond, 1e-6), 1e15)}
	p.behind = max(1, int64(float64(flow.MaxLate)/p.interval))
	return p
}

// Start makes at, in ns, the time of the first packet.
func (p *Pace) Start(at int64) { p.start = at }

// Due returns how many packets to send at a time and, if none, when the next is due. skipped packets are never
// sent: they are later than flow.MaxLate.
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
		// Instant rounds down; one more, so that nothing is due too early.
		return 0, 0, p.Instant() + 1
	}
	return n, skipped, 0
}

// Sent records that n of the due packets were sent.
func (p *Pace) Sent(n int64) { p.sent += n }

// Instant returns when the next packet is due.
func (p *Pace) Instant() int64 { return p.start + int64(float64(p.sent)*p.interval) }
