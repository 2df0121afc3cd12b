package linkemu

import (
	"math"
	"math/rand/v2"
)

// chances draws which frames something happens to, such as a loss: to each by
// itself with the same chance.
type chances struct {
	draw *rand.Rand
	none bool
	per  float64 // the logarithm of the chance that it does not happen
	left int     // frames before the next one to which it does
	hit  []int
}

func newChances(share float64, draw *rand.Rand) chances {
	l := chances{draw: draw, none: share <= 0, per: math.Log1p(-share)}
	if !l.none {
		l.left = l.next()
	}
	return l
}

// next draws to how many frames it does not happen before it does (a geometric
// distribution), which costs one number for each hit rather than for each frame.
func (l *chances) next() int {
	gap := math.Log(1-l.draw.Float64()) / l.per
	return int(min(gap, math.MaxInt32))
}

// among says which of the next n frames are hit. The list is good until the next
// call.
func (l *chances) among(n int) []int {
	l.hit = l.hit[:0]
	if l.none {
		return l.hit
	}
	for at := 0; ; {
		if l.left >= n-at {
			l.left -= n - at
			return l.hit
		}
		at += l.left
		l.hit = append(l.hit, at)
		at++
		l.left = l.next()
	}
}
