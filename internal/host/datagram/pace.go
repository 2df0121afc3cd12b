package datagram

import "time"

// maxLate bounds how much a paced sender that was held up sends at once: what it
// was late with beyond that is left out, rather than poured into the network.
const maxLate = 10 * time.Millisecond

// pace says how many datagrams are due: each has its instant, counted from the
// start, so that nothing drifts. After each wait all that are due go out together;
// where the instants are further apart than a wait is long, that is one.
type pace struct {
	interval float64 // ns from one datagram to the next
	start    int64
	sent     int64 // since start
	behind   int64 // datagrams that may be late
}

func newPace(bytes int, bitsPerSecond float64) *pace {
	// Between 1 bit/s and 1 Pbit/s, so that instants and counts are numbers of 64 bits.
	p := &pace{interval: float64(bytes) * 8e9 / min(max(bitsPerSecond, 1), 1e15)}
	p.behind = max(1, int64(float64(maxLate)/p.interval))
	return p
}

// due is how many are to be sent at an instant, and, when none is, the instant of
// the next. left are those that are left out, since they are too late.
func (p *pace) due(at int64) (n, left, next int64) {
	n = int64(float64(at-p.start)/p.interval) + 1 - p.sent
	if at < p.start {
		n = 0
	}
	if n > p.behind {
		left = n - p.behind
		n = p.behind
		p.sent += left
	}
	if n <= 0 {
		// One more than the instant rounded down, so that it is not due too early.
		return 0, 0, p.start + int64(float64(p.sent)*p.interval) + 1
	}
	return n, left, 0
}
