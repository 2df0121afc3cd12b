package ecmp

import (
	"math"
	"math/rand/v2"
	"testing"
)

// fair checks what makes rates max-min fair: no link carries more than its rate,
// no flow more than asked for, and one that has less than asked for has a link that
// is full and on which no flow has more (Bertsekas and Gallager, section 6.5.2).
// There is only one such allocation.
func fair(t *testing.T, rates []float64, paths Paths, demands []float64, s *Sharer) {
	t.Helper()
	loads := make([]float64, len(rates))
	highest := make([]float64, len(rates))
	for flow := range int32(paths.Flows()) {
		rate := s.Rate(flow)
		if rate < 0 || math.IsNaN(rate) {
			t.Fatalf("flow %d has the rate %g", flow, rate)
		}
		for _, link := range paths.Links(nil, flow) {
			loads[link] += rate
			highest[link] = max(highest[link], rate)
		}
	}
	const slack = 1e-9
	for link, load := range loads {
		if load > rates[link]*(1+slack) {
			t.Errorf("link %d carries %.12g of %.12g", link, load, rates[link])
		}
	}
	for flow := range int32(paths.Flows()) {
		rate := s.Rate(flow)
		if demands != nil && demands[flow] > 0 && rate >= demands[flow]*(1-slack) {
			if rate > demands[flow]*(1+slack) {
				t.Errorf("flow %d gets %g and asked for %g", flow, rate, demands[flow])
			}
			continue
		}
		held := false
		for _, link := range paths.Links(nil, flow) {
			full := loads[link] >= rates[link]*(1-slack) && rate >= highest[link]*(1-slack)
			held = held || full
			if full && link == s.Bottlenecks[flow] {
				break
			}
		}
		if !held {
			t.Errorf("flow %d, rate %g, could have more: no full link on which no flow has more", flow, rate)
		}
		if b := s.Bottlenecks[flow]; b == none || loads[b] < rates[b]*(1-slack) {
			t.Errorf("flow %d: its bottleneck %d is not full", flow, b)
		}
	}
}

// lists are paths with stride places for each flow, of which some have none.
type lists struct {
	stride int
	links  []int32
}

func (l lists) Flows() int { return len(l.links) / l.stride }

func (l lists) Links(list []int32, flow int32) []int32 {
	for _, link := range l.links[int(flow)*l.stride : (int(flow)+1)*l.stride] {
		if link != none {
			list = append(list, link)
		}
	}
	return list
}

// random are links and flows of no order whatever.
func random(source *rand.Rand) (rates []float64, paths lists, demands []float64) {
	rates = make([]float64, 1+source.IntN(30))
	for i := range rates {
		rates[i] = []float64{1e9, 1e9, 2.5e9, 1e10 * source.Float64(), 1}[source.IntN(5)]
	}
	paths.stride = 1 + source.IntN(6)
	flows := source.IntN(200)
	if source.IntN(2) == 0 {
		demands = make([]float64, flows)
	}
	for flow := range flows {
		order := source.Perm(len(rates))
		for hop := range paths.stride {
			link := int32(none)
			if hop == 0 || hop < len(order) && source.IntN(3) > 0 {
				link = int32(order[hop])
			}
			paths.links = append(paths.links, link)
		}
		if demands != nil && source.IntN(2) == 0 {
			demands[flow] = []float64{1e8, 1e3, 1e9 * source.Float64()}[source.IntN(3)]
		}
	}
	return rates, paths, demands
}

func TestShareIsMaxMinFair(t *testing.T) {
	source := rand.New(rand.NewPCG(1, 2))
	var s Sharer // one for all: nothing of the last may stay
	for range 500 {
		rates, paths, demands := random(source)
		s.Share(rates, paths, demands)
		fair(t, rates, paths, demands, &s)
		if t.Failed() {
			t.Fatalf("%d links, %d flows of up to %d links, demands %v", len(rates), paths.Flows(), paths.stride,
				demands != nil)
		}
	}
}

// TestShareByHand: three flows over two links, as in every textbook, and the three
// over two links of the study.
func TestShareByHand(t *testing.T) {
	for _, c := range []struct {
		name    string
		rates   []float64
		paths   lists
		demands []float64
		want    []float64
	}{
		{"long and short", []float64{1, 2}, lists{2, []int32{0, 1, 0, none, 1, none}}, nil, []float64{0.5, 0.5, 1.5}},
		{"two links, three flows", []float64{986, 986}, lists{1, []int32{0, 0, 1}}, nil, []float64{493, 493, 986}},
		{"a demand", []float64{10}, lists{1, []int32{0, 0, 0}}, []float64{1, 0, 0}, []float64{1, 4.5, 4.5}},
		{"a demand of the fair share", []float64{9}, lists{1, []int32{0, 0, 0}}, []float64{3, 0, 4},
			[]float64{3, 3, 3}},
		{"nothing", []float64{10}, lists{1, nil}, nil, nil},
	} {
		var s Sharer
		s.Share(c.rates, c.paths, c.demands)
		for i, want := range c.want {
			if rate := s.Rate(int32(i)); math.Abs(rate-want) > 1e-12 {
				t.Errorf("%s: flow %d gets %v, want %v", c.name, i, rate, c.want)
			}
		}
	}
}

// TestShareSteps: what it does grows with flows × links on their path, also when
// every flow ends at a link of its own level, which is worst for the heap.
func TestShareSteps(t *testing.T) {
	chain := func(n int) (rates []float64, paths lists) {
		paths.stride = 2
		for i := range n {
			rates = append(rates, float64(i+1)) // each fills at a level of its own
			paths.links = append(paths.links, int32(i), int32((i*7919+1)%n))
		}
		return rates, paths
	}
	var s Sharer
	for _, n := range []int{1000, 2000, 4000, 100_000} {
		rates, paths := chain(n)
		s.Share(rates, paths, nil)
		// Each flow is seen once on each link that fills and once on each it
		// leaves, and pays for at most one more look at the heap there.
		if most := 3*2*n + 2*n; s.Steps > most {
			t.Errorf("%d flows: %d steps, want at most %d", n, s.Steps, most)
		}
	}
}
