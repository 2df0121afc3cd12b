package datagram

import "linerate/internal/model/flow"

// pace says how many datagrams are due: each has its instant, counted from the
// start, so that nothing drifts. After each wait all that are due go out together;
// where the instants are further apart than a wait is long, that is one.
type pace struct {
	interval float64 // ns from one datagram to the next
	start    int64
	sent     int64 // since start
	behind   int64 // datagrams that may be late (flow.MaxLate)
}

func newPace(bytes int, bitsPerSecond float64) *pace {
	// Between 1 bit/s and 1 Pbit/s, so that instants and counts are numbers of 64 bits.
	p := &pace{interval: float64(bytes) * 8e9 / min(max(bitsPerSecond, 1), 1e15)}
	p.behind = max(1, int64(float64(flow.MaxLate)/p.interval))
	return p
}

// due is how many are to be sent at an instant, and, when none is, the instant of
// the next. skipped are never sent, since they are later than flow.MaxLate.
func (p *pace) due(at int64) (n, skipped, next int64) {
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
		return 0, 0, p.start + int64(float64(p.sent)*p.interval) + 1
	}
	return n, skipped, 0
}
