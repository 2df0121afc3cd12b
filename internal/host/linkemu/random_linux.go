//go:build !portable

package linkemu

import (
	"math"
	"math/rand/v2"
)

// bernoulli draws the frames to which an event such as a loss happens, independently and with equal
// probability.
type bernoulli struct {
	draw *rand.Rand
	none bool    // the probability is 0
	log  float64 // logarithm of the probability that the event does not happen
	gap  int     // frames before the next event
	hits []int
}

func newBernoulli(probability float64, draw *rand.Rand) bernoulli {
	b := bernoulli{draw: draw, none: probability <= 0, log: math.Log1p(-probability)}
	if !b.none {
		b.gap = b.drawGap()
	}
	return b
}

// drawGap draws the number of frames before the next event from a geometric distribution: one random number per
// event instead of one per frame.
func (b *bernoulli) drawGap() int {
	return int(min(math.Log(1-b.draw.Float64())/b.log, math.MaxInt32))
}

// next returns the indices of the next n frames to which the event happens. The slice is valid until the next
// call.
func (b *bernoulli) next(n int) []int {
	b.hits = b.hits[:0]
	if b.none {
		return b.hits
	}
	for at := 0; ; {
		if b.gap >= n-at {
			b.gap -= n - at
			return b.hits
		}
		at += b.gap
		b.hits = append(b.hits, at)
		at++
		b.gap = b.drawGap()
	}
}
