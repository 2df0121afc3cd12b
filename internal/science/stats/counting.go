package stats

import (
	"math/bits"
	"sync/atomic"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Counting is a histogram like that of NewHistogram, into which one goroutine may record while
// others read it.
type Counting struct{ counts []atomic.Int64 }

// Each power of two above 2^subBits is divided into half steps.
const (
	subBits = 11 // 2048 steps: the least power of two that gives three digits
	half    = 1 << (subBits - 1)
)

// NewCounting returns an empty histogram.
func NewCounting() *Counting {
	return &Counting{make([]atomic.Int64, step(longestNs)+1)}
}

// step returns the index of a value in the counts.
func step(ns int64) int {
	power := bits.Len64(uint64(ns)|(2*half-1)) - subBits
	return (power+1)*half + int(ns>>power) - half
}

// longest returns the longest time that counts at an index, in nanoseconds.
func longest(step int) int64 {
	power := max(step/half-1, 0)
	return int64(step-power*half+1)<<power - 1
}

// Record adds a time in nanoseconds. It allocates nothing and takes no lock.
func (c *Counting) Record(ns int64) {
	at := &c.counts[step(min(max(ns, 1), longestNs))]
	at.Store(at.Load() + 1) // there is only one writer
}

// Histogram returns what was recorded so far.
func (c *Counting) Histogram() *hdrhistogram.Histogram {
	h := NewHistogram()
	s := h.Export()
	for i := range c.counts {
		s.Counts[i] = c.counts[i].Load()
	}
	return hdrhistogram.Import(s)
}
