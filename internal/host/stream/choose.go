package stream

import "math"

// A flow finds the cheapest call for sending by using each for a short while, in one order and then in reverse,
// so that steady changes meanwhile (a growing window, a warming cache) affect all equally. The measure is
// processor time per byte: it decides the rate where the sender is the limit, and the load where the network
// is.
const (
	leadNs  = 100e6 // before the first: covers slow start, neighbours, page faults
	sliceNs = 20e6  // for each, twice
	// worthwhile is how many times cheaper than its predecessors in the list a call must be, because simple
	// calls come first.
	worthwhile = 1.05
)

// choice is the state of such a comparison. Its times and counts are the flow's.
type choice struct {
	moved, spent []int64 // bytes and nanoseconds, by candidate
	refused      []bool

	slice       int   // -1: the lead
	turn        int64 // when the slice ends
	bytes, busy int64 // at the slice's begin
}

func newChoice(candidates int) *choice {
	return &choice{
		moved: make([]int64, candidates), spent: make([]int64, candidates), refused: make([]bool, candidates),
		slice: -1,
	}
}

// begin begins the lead, with the first candidate.
func (c *choice) begin(at int64) { c.turn = at + leadNs }

// candidate returns the candidate of a slice: forward, then backward.
func (c *choice) candidate(slice int) int {
	n := len(c.moved)
	if slice < 0 {
		return 0
	}
	if slice >= n {
		return 2*n - 1 - slice
	}
	return slice
}

// next ends a slice, given the totals moved and spent, and returns the candidate to use next; chosen: it is the
// best, for good.
func (c *choice) next(at, bytes, busy int64) (candidate int, chosen bool) {
	if c.slice >= 0 && c.slice < 2*len(c.moved) {
		was := c.candidate(c.slice)
		c.moved[was] += bytes - c.bytes
		c.spent[was] += busy - c.busy
	}
	c.bytes, c.busy = bytes, busy
	for c.slice++; c.slice < 2*len(c.moved); c.slice++ {
		if now := c.candidate(c.slice); !c.refused[now] {
			c.turn = at + sliceNs
			return now, false
		}
	}
	c.turn = math.MaxInt64
	return c.best(), true
}

// pace returns the bytes that a candidate moved per ns spent.
func (c *choice) pace(candidate int) float64 {
	return float64(c.moved[candidate]) / float64(max(c.spent[candidate], 1))
}

// best returns the cheapest candidate that was not refused; the first is never refused.
func (c *choice) best() int {
	best := 0
	for i := range c.moved {
		if !c.refused[i] && c.pace(i) > worthwhile*c.pace(best) {
			best = i
		}
	}
	return best
}

// A fast flow's receiver reads large pieces. Waking it for each packet would cost the sender more than the
// data, as waking a thread on another processor takes microseconds. So the receiver sleeps briefly once it has
// caught up.
const (
	fastBytesPerNs = 2.5  // 20 Gbit/s: below that, waking costs little
	coalesceBytes  = 6e5  // what may arrive meanwhile: part even of a window halved by losses
	coalesceNs     = 80e3 // the maximum sleep
)

// readCoalescer decides how long a receiver sleeps.
type readCoalescer struct{ bytes, at int64 }

// next returns how long to sleep, in ns, given the bytes received so far; 0: wait for data.
func (p *readCoalescer) next(bytes, at int64) (ns int64) {
	moved, span := bytes-p.bytes, at-p.at
	p.bytes, p.at = bytes, at
	pace := float64(moved) / float64(max(span, 1))
	if pace < fastBytesPerNs {
		return 0
	}
	return int64(min(coalesceBytes/pace, coalesceNs))
}
