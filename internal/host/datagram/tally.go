package datagram

import (
	"math"
	"math/rand/v2"
	"sync/atomic"

	"linerate/internal/model/record"
	"linerate/internal/science/stats"
)

// tally publishes the counts of a flow's mover. Only the mover writes it; anyone may read it at any time. A
// receiver's counts are consistent: the writer increments version before and after, and a reader repeats until
// version is even and unchanged.
type tally struct {
	first atomic.Int64 // when the first call that moved something returned
	last  atomic.Int64 // when the latest one did
	busy  atomic.Int64 // ns not spent waiting: at least the CPU time
	full  atomic.Int64 // ns that a sender waited for room in its socket's buffer
	sent  atomic.Int64 // datagrams that the kernel took

	bursts, largest, skipped atomic.Int64 // of a paced sender: see paced

	version atomic.Uint32
	counts  [10]atomic.Int64

	_ [64]byte // avoids false sharing between flows
}

// moved records that a call moved something.
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

// read returns the counts that show published last.
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

// maxDelays is the number of delays that a receiver keeps for a window.
const maxDelays = 1 << 14

// delays holds how long after sending the datagrams of the window arrived, measured on two clocks that need not
// agree. If there are more than it can keep, it keeps a uniform random sample (reservoir sampling) and the
// extremes. The fastest is that of the whole flow, since all datagrams of the window may have waited in a full
// queue.
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

// distribution returns the sampled delays relative to the fastest, including the largest.
func (d *delays) distribution() *record.Distribution { return d.above(d.fastest.Load()) }

// above returns the distribution of the delays minus least.
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
	distribution, _ := stats.Distribution(h) // encoding our own histogram cannot fail
	return distribution
}
