package ecmp

import (
	"math"
	"math/rand/v2"
	"testing"

	"linerate/internal/model/record"
)

// TestOccupancyTable: what is published of the occupancy problem, and computed by
// inclusion and exclusion.
func TestOccupancyTable(t *testing.T) {
	for _, c := range []struct {
		links, flows   int
		unused, used   float64 // chance that some link is unused; mean share of used ones
		together       float64 // equal transfers' rate over that of all links; 0: not known
		digitsTogether float64
	}{
		{2, 2, 0.5, 0.75, 0, 0},
		{2, 3, 0.25, 0.875, 0, 0}, // what three flows over two links do
		{2, 4, 0.125, 0.938, 0.727, 5e-4},
		{2, 8, 0.0078, 0.996, 0.785, 5e-4},
		{2, 16, 0, 1, 0.836, 5e-4},
		{4, 4, 0.906, 0.684, 0.471, 5e-4},
		{4, 8, 0.377, 0.900, 0.565, 5e-4},
		{4, 16, 0.040, 0.990, 0.652, 5e-4},
		{4, 32, 0.0004, 1, 0.728, 5e-4},
		{8, 8, 0.998, 0.656, 0.385, 5e-4},
		{8, 16, 0.693, 0.882, 0.476, 5e-4},
		{8, 32, 0.109, 0.986, 0.568, 5e-4},
		{8, 64, 0.0016, 1, 0.654, 5e-4},
	} {
		links := Alike(c.links, 1)
		unused, _ := links.SomeUnused(c.flows)
		used := links.ExpectedUsed(c.flows) / float64(c.links)
		if math.Abs(unused-c.unused) > 6e-4 || math.Abs(used-c.used) > 6e-4 {
			t.Errorf("%d links, %d flows: %.4f some unused, %.4f used; want %.4f, %.4f", c.links, c.flows, unused, used,
				c.unused, c.used)
		}
		if together, ok := links.TogetherBps(fillers(c.flows)); !ok || c.together > 0 &&
			math.Abs(together/float64(c.links)-c.together) > c.digitsTogether {
			t.Errorf("%d links, %d flows: together %.4f, want %.4f", c.links, c.flows, together/float64(c.links),
				c.together)
		}
		// Inclusion and exclusion, where it does not yet cancel.
		sum, binomials := 0.0, 1.0
		for j := 0; j <= c.links; j++ {
			sum += binomials * math.Pow(-1, float64(j)) * math.Pow(1-float64(j)/float64(c.links), float64(c.flows))
			binomials *= float64(c.links-j) / float64(j+1)
		}
		near(t, "inclusion and exclusion", unused, 1-sum, 1e-12)
	}
}

// TestFlowsNeeded: enough is enough, and one less is not.
func TestFlowsNeeded(t *testing.T) {
	for _, c := range []struct{ links, carry95, all95, all99 int }{
		{2, 5, 6, 8}, {4, 11, 16, 21}, {8, 23, 38, 51}, {16, 47, 90, 115},
	} {
		links := Alike(c.links, 1e9)
		carry, _ := links.FlowsNeeded(0.95, 0)
		all95, _ := links.FlowsToUseAll(0.95)
		all99, _ := links.FlowsToUseAll(0.99)
		if carry != c.carry95 || all95 != c.all95 || all99 != c.all99 {
			t.Errorf("%d links: %d, %d, %d flows; want %d, %d, %d", c.links, carry, all95, all99, c.carry95,
				c.all95, c.all99)
		}
	}
	// With demands it takes at least as many as the rates hold.
	links := Alike(4, 1e9)
	needed, ok := links.FlowsNeeded(0.95, 1e7)
	before, _ := links.ExpectedBps([]Kind{{Count: needed - 1, Bps: 1e7}})
	after, _ := links.ExpectedBps([]Kind{{Count: needed, Bps: 1e7}})
	if !ok || before >= 3.8e9 || after < 3.8e9 || needed < 380 {
		t.Errorf("%d flows carry %.4g, one less %.4g", needed, after, before)
	}
	if n, ok := links.FlowsNeeded(0.95, 1); ok {
		t.Errorf("%d flows of 1 bit/s fill 4 Gbit/s", n)
	}
}

// TestLargeNumbers: a million flows on many links stay sums of chances.
func TestLargeNumbers(t *testing.T) {
	for _, n := range []int{2, 64, 300} {
		links := Alike(n, 1e9)
		used, ok := links.Used(1_000_000)
		sum := 0.0
		for _, p := range used {
			sum += p.Chance
		}
		if !ok || math.Abs(sum-1) > 1e-9 || math.Abs(used.Mean()-links.ExpectedUsed(1_000_000)) > 1e-6 {
			t.Errorf("%d links: chances sum to %.12f, mean %.6f", n, sum, used.Mean())
		}
		carried, ok := links.ExpectedBps([]Kind{{Count: 1_000_000, Bps: 1e6}})
		if limit := min(1e12, links.RateBps()); !ok || carried > limit*(1+1e-9) || carried < 0.95*limit {
			t.Errorf("%d links carry %.6g of %.6g", n, carried, limit)
		}
	}
	// Small chances are not lost: the last of 8 links stays unused.
	unused, _ := Alike(8, 1).SomeUnused(200)
	near(t, "small chance", unused/(8*math.Pow(7.0/8, 200)), 1, 1e-6)
	// The chain and its end agree where both are at hand.
	few := Alike(2, 1)
	at50, _ := few.SomeUnused(50)
	at60, _ := few.SomeUnused(60)
	near(t, "halved with every flow", at60*1024/at50, 1, 1e-12)
	// Where links differ too much for exact chances, that is said.
	var different Links
	for i := range 40 {
		different = append(different, Link{1e9, 1 + float64(i)/7})
	}
	if _, ok := different.Used(100); ok {
		t.Error("2^40 states in no time")
	}
	if _, ok := Alike(64, 1e9).BusiestShare(fillers(1_000_000)); ok {
		t.Error("the busiest of 64 links with a million flows in no time")
	}
}

func TestBinomial(t *testing.T) {
	for _, n := range []int{0, 1, 5, 1000, 3_000_000} {
		for _, p := range []float64{0, 1e-7, 0.25, 0.5, 0.999, 1} {
			first, chances := binomial(n, p)
			sum, mean, variance := 0.0, 0.0, 0.0
			for i, c := range chances {
				sum += c
				mean += c * float64(first+i)
			}
			for i, c := range chances {
				variance += c * (float64(first+i) - mean) * (float64(first+i) - mean)
			}
			near(t, "sum", sum, 1, 1e-12)
			near(t, "mean", mean, float64(n)*p, 1e-9)
			near(t, "variance", variance, float64(n)*p*(1-p), 1e-8)
		}
	}
}

// TestMeanBand: the mean of replicates lies inside at least as often as promised,
// also when they are few, and the band closes in on the mean.
func TestMeanBand(t *testing.T) {
	source := rand.New(rand.NewPCG(5, 6))
	distributions := map[string]Distribution{}
	distributions["3 flows on 2 links"], _ = Alike(2, 1).Used(3)
	distributions["8 flows on 8 links"], _ = Alike(8, 1).Used(8)
	distributions["unequal"], _ = Links{{1, 1}, {2.37, 2}}.Carried(fillers(2))
	distributions["no chance"], _ = Alike(3, 1).Used(1)
	for name, d := range distributions {
		width := math.Inf(1)
		for _, draws := range []int{1, 4, 20, 100} {
			low, high := d.MeanBand(draws, 0.95)
			if low > d.Mean()+1e-9 || high < d.Mean()-1e-9 || high-low > width+1e-9 {
				t.Errorf("%s, %d draws: %.4f … %.4f around %.4f", name, draws, low, high, d.Mean())
			}
			width = high - low
			const rounds = 4000
			inside := 0
			for range rounds {
				mean := 0.0
				for range draws {
					mean += d.Quantile(source.Float64()) / float64(draws)
				}
				// Values without a common spacing were put on a fine one.
				if mean >= low-1e-3 && mean <= high+1e-3 {
					inside++
				}
			}
			if share := float64(inside) / rounds; share < 0.94 {
				t.Errorf("%s, %d draws: %.1f %% of means inside %.4f … %.4f", name, draws, 100*share, low, high)
			}
		}
		// Many draws: normal.
		low, high := d.MeanBand(1_000_000, 0.95)
		near(t, name, high-low, 2*1.96*d.SD()/1000, 1e-4)
	}
}

func held(d Distribution, links, flows int, measured []replicate) record.Hashing {
	h := record.Hashing{Links: links, Flows: flows}
	d.hold(&h, measured, 0.02, 0.95)
	return h
}

// TestHold: what theory would draw is inside; what one link too few, or a margin
// too much, would give is not.
func TestHold(t *testing.T) {
	source := rand.New(rand.NewPCG(9, 9))
	d, _ := Alike(4, 1).Used(8)
	inside, rounds := 0, 500
	for range rounds {
		measured := make([]replicate, 20)
		for i := range measured {
			used := d.Quantile(source.Float64())
			measured[i] = replicate{worth: 0.99 * used, used: int(used)}
		}
		if held(d, 4, 8, measured).Inside {
			inside++
		}
	}
	if inside < rounds*94/100 {
		t.Errorf("%d of %d true means inside", inside, rounds)
	}
	wrong := make([]replicate, 20)
	for i := range wrong {
		wrong[i] = replicate{worth: 1, used: 1}
	}
	c := held(d, 4, 8, wrong)
	if c.Inside || c.IdleTrials != 20 || c.IdleHighTrials >= 20 || c.IdleLowTrials < 1 {
		t.Errorf("one link's worth passed for 8 flows on 4: %+v", c)
	}
	near(t, "theory's mean", c.ExpectedLinks, 3.5995, 1e-4)
	two, _ := Alike(2, 1).Used(3)
	if none := held(two, 2, 3, nil); none.Inside || none.ExpectedLinks != 1.75 || none.IdleChance != 0.25 {
		t.Errorf("nothing measured: %+v", none)
	}
}

// TestCounts: 20 replicates with a chance of 1/4 have 1 to 9 at 95 %, by tables of
// the binomial distribution: P(X ≤ 0) = 0.0032, P(X ≤ 1) = 0.0243, P(X ≥ 10) =
// 0.0139, P(X ≥ 9) = 0.0409.
func TestCounts(t *testing.T) {
	if few, many := Counts(20, 0.25, 0.95); few != 2 || many != 9 {
		t.Errorf("%d to %d, want 2 to 9", few, many)
	}
	if few, many := Counts(20, 0, 0.95); few != 0 || many != 0 {
		t.Errorf("%d to %d of nothing", few, many)
	}
	if few, many := Counts(20, 1, 0.95); few != 20 || many != 20 {
		t.Errorf("%d to %d of everything", few, many)
	}
}

func TestDistinct(t *testing.T) {
	for _, c := range []struct {
		policy       int
		fields       uint32
		flows, pairs int
		want         int
	}{
		{0, 0, 40, 1, 1}, {0, 0, 40, 8, 8}, {0, 0, 3, 8, 3}, {2, 0, 40, 2, 2},
		{1, 0, 40, 1, 40}, {3, 0x37, 40, 1, 40}, {3, 0x7, 40, 4, 4}, {3, 0x20, 40, 4, 1},
	} {
		if got := Distinct(c.policy, c.fields, c.flows, c.pairs); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// TestFewerFlowsThanLinks: a flow has one link, so that fewer of them than links cannot be
// spread over all, and have the fastest ones at best.
func TestFewerFlowsThanLinks(t *testing.T) {
	links := Links{{RateBps: 1e9, Weight: 1}, {RateBps: 4e9, Weight: 4}, {RateBps: 2e9, Weight: 2}}
	for flows, want := range map[int]float64{1: 4e9, 2: 6e9, 3: 7e9, 30: 7e9} {
		q := Question{Tiers: Tiers{First: links}, Kinds: []Kind{{Count: flows}}, Flows: flows, Policy: 1,
			Replicates: 10}
		if f := q.Forecast(); f.LimitBps != want || f.Share > 1 {
			t.Errorf("%d flows: even spreading carries %g, of which %g is expected; want %g", flows, f.LimitBps,
				f.Share, want)
		}
	}
}

// TestBestPlacement: even spreading is the best that a placement of the flows carries, which no
// placement that was drawn exceeds.
func TestBestPlacement(t *testing.T) {
	one, two := Tiers{First: Alike(4, 1e9)}, Tiers{First: Alike(2, 1e9), Second: Alike(3, 4e8)}
	for name, c := range map[string]struct {
		tiers Tiers
		kinds []Kind
		want  float64
	}{
		"one of each":            {one, []Kind{{Count: 1, Bps: 1e8}, {Count: 1}}, 1.1e9},
		"two take what they get": {one, []Kind{{Count: 4, Bps: 1e8}, {Count: 2}}, 2.4e9},
		"one takes what it gets": {one, []Kind{{Count: 4, Bps: 1e8}, {Count: 1}}, 1.4e9},
		"as many as links":       {one, []Kind{{Count: 4, Bps: 1e8}, {Count: 4}}, 4e9},
		"less than the links":    {one, []Kind{{Count: 2, Bps: 1e8}}, 2e8},
		"more than a link":       {one, []Kind{{Count: 1, Bps: 5e9}}, 1e9},
		"do not fit":             {Tiers{First: Alike(2, 1e9)}, []Kind{{Count: 3, Bps: 6e8}}, 1.6e9},
		"fit if the largest is first": {Tiers{First: Alike(2, 1e9)}, []Kind{{Count: 2, Bps: 2e8}, {Count: 2, Bps: 3e8},
			{Count: 2, Bps: 5e8}}, 2e9},
		"only the drawn one fits": {Tiers{First: Alike(2, 1e9)},
			[]Kind{{Count: 4, Bps: 3e8}, {Count: 2, Bps: 4e8}}, 2e9},
		"the fastest to the unlimited": {Tiers{First: Links{{1e9, 1}, {1e10, 1}}},
			[]Kind{{Count: 1, Bps: 5e9}, {Count: 1}}, 1.1e10},
		"two tiers, one flow":          {two, []Kind{{Count: 1}}, 4e8},
		"two tiers, over both":         {two, []Kind{{Count: 4}}, 1.6e9},
		"two tiers, the first is full": {two, []Kind{{Count: 6}}, 2e9},
	} {
		flows, _ := totals(c.kinds)
		f := Question{Tiers: c.tiers, Kinds: c.kinds, Flows: flows, Policy: 1, Replicates: 1000}.Forecast()
		if math.Abs(f.LimitBps-c.want) > 1 || f.Share > 1+rounding || f.Values[len(f.Values)-1].Bps > f.LimitBps {
			t.Errorf("%s: %g of %g, want %g; values %v", name, f.ExpectedBps, f.LimitBps, c.want, f.Values)
		}
	}
	if f := (Question{Tiers: Tiers{First: Alike(4, 1e10)}, Kinds: []Kind{{Count: 1_000_000, Bps: 20e6}, {Count: 3}},
		Flows: 1_000_003, Policy: 1, Replicates: 1}.figures(Tiers{First: Alike(4, 1e10)},
		[]Kind{{Count: 1}})); f.LimitBps != 4e10 {
		t.Errorf("many flows: %g", f.LimitBps)
	}
}

// TestBundle: no flow is lost, and rounds are dealt on where the last one ended.
func TestBundle(t *testing.T) {
	got := bundle([]Kind{{Count: 3, Bps: 1e6}, {Count: 3, Bps: 1e7}}, 4)
	want := []Kind{{Count: 2, Flows: 2, Bps: 1.1e7}, {Count: 1, Flows: 1, Bps: 1e6}, {Count: 1, Flows: 1, Bps: 1e7}}
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%+v, want %+v", got[i], want[i])
		}
	}
	for _, bundles := range []int{1, 2, 3, 7, 50} {
		kinds := bundle([]Kind{{Count: 10, Bps: 1e6}, {Count: 5}, {Count: 4, Bps: 2e6}}, bundles)
		if b, flows := totals(kinds); flows != 19 || b != min(bundles, 19) {
			t.Errorf("%d bundles of %d flows, want %d of 19: %+v", b, flows, min(bundles, 19), kinds)
		}
	}
}

// TestUsedAtMost: twenty flows that all take one of two links are no chance.
func TestUsedAtMost(t *testing.T) {
	chance, _ := Alike(2, 1).UsedAtMost(20, 1)
	near(t, "one of two", chance, 2*math.Pow(0.5, 20), 1e-15)
	if all, _ := Alike(2, 1).UsedAtMost(20, 2); all != 1 {
		t.Errorf("%g, want 1", all)
	}
}

func TestCheck(t *testing.T) {
	for _, links := range []Links{nil, {{0, 1}}, {{1e9, 0}}, {{1e9, math.NaN()}}, {{math.Inf(1), 1}}} {
		if links.Check() == nil {
			t.Errorf("%v passed", links)
		}
	}
	for _, sizes := range []Sizes{{"gaussian", 1}, {pareto, 1}, {lognormal, 0}, {exponential, 1},
		{pareto, math.NaN()}} {
		if sizes.Check() == nil {
			t.Errorf("%v passed", sizes)
		}
	}
	if err := (Sizes{pareto, 1.2}).Check(); err != nil {
		t.Error(err)
	}
}
