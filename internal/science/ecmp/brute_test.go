package ecmp

import (
	"fmt"
	"math"
	"testing"
)

// brute is the theory without any: every placement there is, with its chance.
type brute struct {
	carried, used                               []Point
	busiest, time, someUnused, usedSecond, mean float64
}

// enumerate goes through all placements of all bundles on all pairs of links.
func enumerate(t Tiers, kinds []Kind) brute {
	var b brute
	cells := t.cells()
	_, total := totals(kinds)
	var bundles []Kind
	for _, kind := range kinds {
		for range kind.Count {
			bundles = append(bundles, kind)
		}
	}
	at := make([]int, len(bundles))
	for {
		chance := 1.0
		demand := make([]float64, len(cells))
		flows := make([]int, len(t.First))
		onFirst := make([]float64, len(t.First))
		usedCells := 0
		seen := make([]bool, len(cells))
		for i, c := range at {
			chance *= cells[c].chance
			d := bundles[i].Bps
			if d == 0 {
				d = math.Inf(1)
			}
			demand[c] += d
			flows[cells[c].i] += bundles[i].flows()
			if !seen[c] {
				seen[c] = true
				usedCells++
			}
		}
		for c, d := range demand {
			if len(t.Second) > 0 {
				d = min(d, t.Second[cells[c].j].RateBps)
			}
			onFirst[cells[c].i] += d
		}
		carried, used, busiest, time := 0.0, 0, 0, 0.0
		for i, link := range t.First {
			carried += min(link.RateBps, onFirst[i])
			if flows[i] > 0 {
				used++
			}
			busiest = max(busiest, flows[i])
			time = max(time, float64(flows[i])/link.RateBps)
		}
		b.carried = append(b.carried, Point{carried, chance})
		b.used = append(b.used, Point{float64(used), chance})
		b.busiest += chance * float64(busiest) / float64(total)
		b.time += chance * time
		b.usedSecond += chance * float64(usedCells)
		if used < len(t.First) {
			b.someUnused += chance
		}
		b.mean += chance * carried
		i := 0
		for ; i < len(at); i++ {
			if at[i]++; at[i] < len(cells) {
				break
			}
			at[i] = 0
		}
		if i == len(at) {
			return b
		}
	}
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > tolerance*max(1, math.Abs(want)) {
		t.Errorf("%s: %.12g, want %.12g", what, got, want)
	}
}

func same(t *testing.T, what string, got, want Distribution) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d values %v, want %d: %v", what, len(got), got, len(want), want)
		return
	}
	for i := range got {
		near(t, fmt.Sprintf("%s, value %d", what, i), got[i].Value, want[i].Value, 1e-9)
		near(t, fmt.Sprintf("%s, chance of %g", what, want[i].Value), got[i].Chance, want[i].Chance, 1e-11)
	}
}

// TestAgreesWithEnumeration: each formula says what going through all placements
// does, for links that are alike and that are not, for flows that fill a link,
// that don't, and that come in bundles.
func TestAgreesWithEnumeration(t *testing.T) {
	weighted := Links{{1e9, 1}, {1e9, 3}}
	unequal := Links{{1e9, 1}, {2.5e9, 2}, {1e9, 1}}
	cases := []struct {
		name  string
		links Links
		kinds []Kind
	}{
		{"one link", Alike(1, 1e9), fillers(3)},
		{"one flow", Alike(4, 1e9), fillers(1)},
		{"2 links, 3 flows", Alike(2, 1e9), fillers(3)},
		{"4 links, 6 flows", Alike(4, 1e9), fillers(6)},
		{"8 links, 4 flows", Alike(8, 1e9), fillers(4)},
		{"weights 1 and 3", weighted, fillers(5)},
		{"unequal rates", unequal, fillers(6)},
		{"three weights", Links{{1e9, 1}, {1e9, 2}, {1e9, 5}}, fillers(7)},
		{"demands", Alike(3, 1e9), []Kind{{Count: 7, Bps: 3e8}}},
		{"demands that divide the rate", Alike(2, 1e9), []Kind{{Count: 9, Bps: 2.5e8}}},
		{"demands on unequal rates", unequal, []Kind{{Count: 6, Bps: 7e8}}},
		{"demands as large as a link", Alike(3, 1e9), []Kind{{Count: 4, Bps: 1e9}}},
		{"two kinds", Alike(2, 1e9), []Kind{{Count: 5, Bps: 3e8}, {Count: 2}}},
		{"three kinds", weighted, []Kind{{Count: 3, Bps: 3e8}, {Count: 3, Bps: 1e8}, {Count: 1, Bps: 2e9}}},
		{"bundles", Alike(3, 1e9), bundle([]Kind{{Count: 12, Bps: 1e8}}, 4)},
		{"bundles that differ", Alike(3, 1e9), bundle([]Kind{{Count: 8, Bps: 2e8}, {Count: 3, Bps: 1e8}}, 4)},
		{"bundles of unlimited flows", Alike(4, 1e9), bundle(fillers(10), 5)},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := enumerate(Tiers{First: c.links}, c.kinds)
			bundles, _ := totals(c.kinds)
			mean, ok := c.links.ExpectedBps(c.kinds)
			if !ok {
				t.Error("no exact mean")
			}
			near(t, "mean", mean, b.mean, 1e-12)
			used, ok := c.links.Used(bundles)
			if !ok {
				t.Error("no exact number of used links")
			}
			same(t, "used", used, collect(b.used))
			near(t, "expected used", c.links.ExpectedUsed(bundles), collect(b.used).Mean(), 1e-12)
			unused, _ := c.links.SomeUnused(bundles)
			near(t, "some unused", unused, b.someUnused, 1e-12)
			if d, ok := c.links.Carried(c.kinds); ok {
				same(t, "carried", d, collect(b.carried))
			} else if len(c.kinds) == 1 {
				t.Error("no exact distribution of one kind")
			}
			if !sameSize(c.kinds) {
				return
			}
			busiest, ok := c.links.BusiestShare(c.kinds)
			if !ok {
				t.Error("no exact share of the busiest link")
			}
			near(t, "busiest", busiest, b.busiest, 1e-10)
			if c.kinds[0].Bps == 0 && len(c.kinds) == 1 {
				together, _ := c.links.TogetherBps(c.kinds)
				near(t, "together", together, float64(bundles*c.kinds[0].flows())/b.time, 1e-10)
			}
		})
	}
}

// TestTiersAgreeWithEnumeration: so do two tiers, with one seed and with two.
func TestTiersAgreeWithEnumeration(t *testing.T) {
	for _, c := range []struct {
		first, second Links
		flows         int
		reachable     [2]int // own seeds, one seed
	}{
		{Alike(2, 1e9), Alike(2, 1e9), 4, [2]int{4, 2}},
		{Alike(2, 2e9), Alike(2, 1e9), 5, [2]int{4, 2}},
		{Alike(2, 3e9), Alike(3, 1e9), 5, [2]int{6, 4}}, // n + m − gcd
		{Alike(3, 2e9), Alike(2, 1e9), 5, [2]int{6, 4}},
		{Links{{2e9, 1}, {2e9, 3}}, Links{{1e9, 1}, {2e9, 1}}, 5, [2]int{4, 3}},
		{Alike(2, 1e9), nil, 4, [2]int{2, 2}},
	} {
		for i, seed := range []bool{false, true} {
			tiers := Tiers{First: c.first, Second: c.second, SameSeed: seed}
			name := fmt.Sprintf("%d links, then %d, one seed %v", len(c.first), len(c.second), seed)
			if got := tiers.Reachable(); got != c.reachable[i] {
				t.Errorf("%s: %d reachable, want %d", name, got, c.reachable[i])
			}
			b := enumerate(tiers, fillers(c.flows))
			mean, ok := tiers.ExpectedBps(fillers(c.flows))
			if !ok {
				t.Errorf("%s: no exact mean", name)
			}
			near(t, name, mean, b.mean, 1e-12)
			_, second := tiers.ExpectedUsed(c.flows)
			if len(c.second) > 0 {
				near(t, name+", used in the second tier", second, b.usedSecond, 1e-12)
			}
			draws := tiers.Draw(fillers(c.flows), nil, 4000, 7)
			near(t, name+", drawn", draws.MeanBps, b.mean, 5*draws.MeanSEBps/b.mean+1e-12)
			near(t, name+", busiest", draws.Busiest, b.busiest, 0.02)
		}
	}
}

// TestDrawsAgreeWithEnumeration: draws come as near to the truth as their
// standard error says, and a seed says which draws.
func TestDrawsAgreeWithEnumeration(t *testing.T) {
	kinds := []Kind{{Count: 4, Bps: 3e8}, {Count: 2}}
	tiers := Tiers{First: Links{{1e9, 1}, {2e9, 2}, {1e9, 1}}}
	b := enumerate(tiers, kinds)
	d := tiers.Draw(kinds, nil, 20_000, 1)
	near(t, "mean", d.MeanBps, b.mean, 5*d.MeanSEBps/b.mean)
	near(t, "busiest", d.Busiest, b.busiest, 0.01)
	near(t, "some unused", d.SomeUnused, b.someUnused, 0.02)
	for _, q := range []float64{0.05, 0.5, 0.95} {
		near(t, fmt.Sprintf("quantile %g", q), d.Distribution().Quantile(q), collect(b.carried).Quantile(q), 1e-9)
	}
	again, other := tiers.Draw(kinds, nil, 20_000, 1), tiers.Draw(kinds, nil, 20_000, 2)
	if again.MeanBps != d.MeanBps || again.Busiest != d.Busiest {
		t.Error("the same seed gave other draws")
	}
	if other.MeanBps == d.MeanBps {
		t.Error("another seed gave the same draws")
	}

	// Equal transfers: the exact time of all of them.
	elastic := enumerate(tiers, fillers(6))
	together := tiers.Draw(fillers(6), &Sizes{}, 20_000, 3)
	near(t, "together", together.TogetherBps, 6/elastic.time, 0.01)
	// And sizes that scatter take longer, the more the heavier their tail.
	last := together.TogetherBps
	for _, sizes := range []Sizes{{exponential, 0}, {lognormal, 2}} {
		if err := sizes.Check(); err != nil {
			t.Error(err)
		}
		d := tiers.Draw(fillers(6), &sizes, 20_000, 3)
		if d.TogetherBps >= last {
			t.Errorf("%v: %.3g bit/s, want less than %.3g", sizes, d.TogetherBps, last)
		}
		last = d.TogetherBps
	}
}

// fillers are flows each of which fills a link alone, placed one by one.
func fillers(flows int) []Kind { return []Kind{{Count: flows}} }
