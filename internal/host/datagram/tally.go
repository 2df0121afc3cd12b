package datagram

import (
	"math"
	"math/rand/v2"
	"sync/atomic"

	"linerate/internal/model/record"
	"linerate/internal/science/stats"
)

// tally is what a flow's mover shows of its work. Only the mover writes it;
// anyone may read it at any time. The counts of a receiver belong together: they
// are written between two steps of the version, and read when it is even and has
// not changed meanwhile.
type tally struct {
	first atomic.Int64 // instant at which the first call returned that moved something
	last  atomic.Int64 // and the latest one
	busy  atomic.Int64 // nanoseconds not spent waiting: no less than the CPU time
	full  atomic.Int64 // nanoseconds that a sender waited for room in its socket's buffer
	sent  atomic.Int64 // datagrams that the kernel took

	bursts, largest, skipped atomic.Int64 // of a paced sender: see pace

	version atomic.Uint32
	counts  [10]atomic.Int64

	_ [64]byte // flows do not slow each other down
}

// moved notes that a call moved something.
func (t *tally) moved(at int64) {
	if t.first.Load() == 0 {
		t.first.Store(at)
	}
	t.last.Store(at)
}

// show publishes a tracker's counts.
func (t *tally) show(c *counts) {
	t.version.Add(1)
	for i, v := range [...]int64{c.received, c.bytes, c.lost, c.reordered, c.duplicates, c.late, c.inBuffer, c.stray,
		c.arrivedBytes, int64(math.Float64bits(c.jitter))} {
		t.counts[i].Store(v)
	}
	t.version.Add(1)
}

// read is what was shown last.
func (t *tally) read() counts {
	for {
		before := t.version.Load()
		var v [len(t.counts)]int64
		for i := range v {
			v[i] = t.counts[i].Load()
		}
		if before%2 == 0 && t.version.Load() == before {
			return counts{v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], math.Float64frombits(uint64(v[9]))}
		}
	}
}

// maxDelays is how many delays a receiver keeps of a window.
const maxDelays = 1 << 14

// delays are how much later than sent the datagrams of the window arrived, on two
// clocks that need not agree. Of more than there is room for, a random choice is
// kept, in which each has the same chance (reservoir sampling), and the extremes.
// The fastest is of the whole flow: those of the window may all have waited in a queue
// that was full before.
type delays struct {
	count        atomic.Int64
	fastest, max atomic.Int64
	kept         []atomic.Int64
}

func newDelays() *delays {
	d := &delays{kept: make([]atomic.Int64, maxDelays)}
	d.fastest.Store(math.MaxInt64)
	return d
}

// see records the delay of a datagram outside the window, which counts only if it is the fastest.
func (d *delays) see(ns int64) {
	if ns < d.fastest.Load() {
		d.fastest.Store(ns)
	}
}

func (d *delays) add(ns int64) {
	d.see(ns)
	n := d.count.Load()
	if n == 0 || ns > d.max.Load() {
		d.max.Store(ns)
	}
	if n < int64(len(d.kept)) {
		d.kept[n].Store(ns)
	} else if i := rand.Int64N(n + 1); i < int64(len(d.kept)) {
		d.kept[i].Store(ns)
	}
	d.count.Store(n + 1)
}

// distribution is of the kept ones, above the fastest; the largest of all is in it.
func (d *delays) distribution() *record.Distribution { return d.above(d.fastest.Load()) }

// above is distribution above an instant that is none of them.
func (d *delays) above(least int64) *record.Distribution {
	n := d.count.Load()
	if n == 0 {
		return nil
	}
	h := stats.NewHistogram()
	most := d.max.Load()
	for i := range d.kept[:min(n, int64(len(d.kept)))] {
		ns := d.kept[i].Load()
		most = max(most, ns)
		stats.Record(h, ns-least)
	}
	if n > int64(len(d.kept)) && h.Max() < most-least {
		stats.Record(h, most-least)
	}
	distribution, _ := stats.Distribution(h) // a histogram of our own can be encoded
	return distribution
}
