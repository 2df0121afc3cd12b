package stream

import "math"

// How a flow finds out which call for sending is the cheapest: it uses each for a
// short while, in one order and then in the reverse one, so that what changes
// steadily meanwhile (a growing window, a warming cache) counts for all alike.
// It asks how much of a processor's time the bytes cost. Where the sender is the
// limit, that decides the rate too; where the network is, it is what the sender
// needs least of.
const (
	leadNs  = 100e6 // before the first: slow start, neighbours, page faults
	sliceNs = 20e6  // for each, twice
	// worthwhile is how much cheaper than the ones before it in the list a
	// call must be: simple ones come first.
	worthwhile = 1.05
)

// choice is the state of such a trial. The instants and counts it is given are
// the flow's own.
type choice struct {
	moved, spent []int64 // bytes and nanoseconds, by candidate
	refused      []bool

	slice       int   // -1: the lead
	turn        int64 // when the slice ends
	bytes, busy int64 // at its begin
}

func newChoice(candidates int) *choice {
	return &choice{
		moved: make([]int64, candidates), spent: make([]int64, candidates), refused: make([]bool, candidates),
		slice: -1,
	}
}

// begin begins the lead, with the first candidate.
func (c *choice) begin(at int64) { c.turn = at + leadNs }

// candidate is whose slice a slice is: forth and back.
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

// next ends a slice, given what has been moved and spent until now, and returns
// whose turn it is; chosen: the best, for good.
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

// pace is how many bytes a candidate moved for each nanosecond it spent.
func (c *choice) pace(candidate int) float64 {
	return float64(c.moved[candidate]) / float64(max(c.spent[candidate], 1))
}

// best is the cheapest of those that were not refused; the first never is.
func (c *choice) best() int {
	best := 0
	for i := range c.moved {
		if !c.refused[i] && c.pace(i) > worthwhile*c.pace(best) {
			best = i
		}
	}
	return best
}

// How a fast flow's receiver takes the data in large pieces. Woken for each
// packet, it would cost the sender more than the data does: waking a thread on
// another processor takes microseconds of the waker's time. So it sleeps for a
// moment of its own accord once it has caught up.
const (
	fastBytesPerNs = 2.5  // 20 Gbit/s: below, waking costs nothing to speak of
	coalesceBytes  = 6e5  // what may come meanwhile: a part even of a window that losses have halved
	coalesceNs     = 80e3 // and no longer than this
)

// readCoalescer is a receiver's pace.
type readCoalescer struct{ bytes, at int64 }

// next says how long to sleep, given what has arrived until now; 0: wait for data.
func (p *readCoalescer) next(bytes, at int64) (ns int64) {
	moved, span := bytes-p.bytes, at-p.at
	p.bytes, p.at = bytes, at
	pace := float64(moved) / float64(max(span, 1))
	if pace < fastBytesPerNs {
		return 0
	}
	return int64(min(coalesceBytes/pace, coalesceNs))
}
