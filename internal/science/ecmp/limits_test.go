package ecmp

import (
	"math"
	"math/rand/v2"
	"testing"

	"linerate/internal/science/sciencetest"
)

// TestECMPLimits: the theory of every case of a run's curve expects what the forecast of
// `linerate limits ecmp` does.
func TestECMPLimits(t *testing.T) {
	source := rand.New(rand.NewPCG(5, 6))
	groups := Placements(sciencetest.Curve([]int{2, 4, 8}, []int{1, 2, 3, 4, 8, 16, 32}, 1, func(links int) int {
		return source.IntN(links)
	}))
	if len(groups) != 21 {
		t.Fatalf("%d groups", len(groups))
	}
	const rate = 100e6
	for _, g := range groups {
		q := Question{Tiers: Tiers{First: Alike(g.Links, rate)}, Flows: g.Flows, Kinds: []Kind{{Count: g.Flows}},
			Policy: 1, Pairs: 1, Target: 0.95, Seed: 1}
		f := q.Forecast()
		used, _ := Alike(g.Links, 1).Used(g.Placements)
		if math.Abs(f.ExpectedBps/rate-g.ExpectedLinks) > 1e-9 || math.Abs(f.SDBps/rate-used.SD()) > 1e-6 ||
			math.Abs(f.SomeIdle-g.IdleChance) > 1e-12 {
			t.Errorf("%s: the forecast is %.4f ±%.4f links' worth and an idle link with %.4f, "+
				"the run's theory %.4f ±%.4f and %.4f", g.Treatment, f.ExpectedBps/rate, f.SDBps/rate, f.SomeIdle,
				g.ExpectedLinks, used.SD(), g.IdleChance)
		}
	}
}
