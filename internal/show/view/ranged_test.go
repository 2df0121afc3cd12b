package view

import (
	"testing"

	"linerate/internal/model/record"
)

// TestSpellRanged: a mean is not rounded to a value that its interval excludes, such as a
// loss-free rate to more than the link carries.
func TestSpellRanged(t *testing.T) {
	for _, c := range []struct {
		mean, low, high   float64
		shown, from, upTo string
	}{
		{291.6e6, 290e6, 291.7e6, "291.6", "290", "292"},
		{119.46e6, 119.45e6, 335e6, "119.5", "119", "335"},
		{-119.46e6, -335e6, -119.45e6, "−119.5", "−335", "−119"},
		{269.2e6, 134e6, 441e6, "269", "134", "441"},
	} {
		e := record.ResponseEstimate{Mean: c.mean}
		e.Low, e.High = c.low, c.high
		if mean, low, high := SpellRanged(e, 1e-6); mean != c.shown || low != c.from || high != c.upTo {
			t.Errorf("%v (%v–%v): %s (%s–%s), want %s (%s–%s)", c.mean, c.low, c.high, mean, low, high, c.shown,
				c.from, c.upTo)
		}
	}
}
