package ecmp

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Tier describes the result for the links of one tier. Both directions of a link are counted
// separately.
type Tier struct {
	Name    string  `json:"tier"`
	Links   int     `json:"links"`
	Idle    float64 `json:"idle"`        // how many links carry nothing
	Full    float64 `json:"full"`        // how many links carry their full rate
	Busiest float64 `json:"busiest_use"` // shares of the rate
	Average float64 `json:"average_use"`
}

// Rates describes the rates that flows got.
type Rates struct {
	CarriedBps float64 `json:"-"` // total
	// LeastBps to MostBps are the minimum, the 1st, 50th and 99th percentiles, and the maximum.
	LeastBps float64 `json:"least"`
	P1Bps    float64 `json:"p1"`
	P50Bps   float64 `json:"p50"`
	P99Bps   float64 `json:"p99"`
	MostBps  float64 `json:"most"`
	Fairness float64 `json:"fairness"` // Jain's index (1984): 1 if all rates are equal
}

// FabricFigures has the results of one simulated replicate, or the means over several. Flow has the
// rates with hashing, EvenFlow those of the same flows if leaves and spines spread packets evenly.
type FabricFigures struct {
	ExpectedBps float64 `json:"expected_bps"`
	SDBps       float64 `json:"sd_bps"`    // standard deviation between replicates
	LimitBps    float64 `json:"limit_bps"` // what the same flows carry if spread evenly
	Share       float64 `json:"expected_share"`
	Flow        Rates   `json:"flow_bps"`
	EvenFlow    Rates   `json:"even_flow_bps"`
	PerTier     []Tier  `json:"per_tier"`
}

// Simulation runs replicates and reuses its memory between them. Steps counts the work of all of
// them.
type Simulation struct {
	Fabric  Fabric
	Load    FabricLoad
	Steps   int
	sharer  Sharer
	paths   routes
	demands []float64
	rates   []float64
	loads   []float64
}

// Run simulates one replicate.
func (s *Simulation) Run(seed uint64) FabricFigures {
	s.demand()
	s.share(seed, true)
	f := FabricFigures{EvenFlow: s.summary()}
	s.share(seed, false)
	f.PerTier = s.tiers()
	f.Flow = s.summary()
	f.ExpectedBps, f.LimitBps = f.Flow.CarriedBps, f.EvenFlow.CarriedBps
	f.Share = f.ExpectedBps / f.LimitBps
	return f
}

// share places the flows and shares the links among them.
func (s *Simulation) share(seed uint64, even bool) {
	s.place(seed, even)
	s.rates = s.Fabric.rates(s.rates, even)
	s.sharer.Share(s.rates, &s.paths, s.demands)
	s.Steps += s.sharer.Steps
}

// Replicate runs n simulations, with seeds from seed on, and returns the means of their figures.
func (s *Simulation) Replicate(seed uint64, n int) (mean FabricFigures) {
	carried := make([]float64, n)
	for i := range n {
		one := s.Run(seed + uint64(i))
		carried[i] = one.ExpectedBps
		part := 1 / float64(n)
		mean.Flow.add(one.Flow, part)
		mean.EvenFlow.add(one.EvenFlow, part)
		if mean.PerTier == nil {
			mean.PerTier = make([]Tier, len(one.PerTier))
		}
		for i, tier := range one.PerTier {
			sum := &mean.PerTier[i]
			sum.Name, sum.Links = tier.Name, tier.Links
			sum.Idle += part * tier.Idle
			sum.Full += part * tier.Full
			sum.Busiest += part * tier.Busiest
			sum.Average += part * tier.Average
		}
	}
	mean.ExpectedBps, mean.LimitBps = mean.Flow.CarriedBps, mean.EvenFlow.CarriedBps
	mean.Share = mean.ExpectedBps / mean.LimitBps
	if n > 1 {
		mean.SDBps = stat.StdDev(carried, nil)
	}
	return mean
}

func (r *Rates) add(other Rates, part float64) {
	r.CarriedBps += part * other.CarriedBps
	r.LeastBps += part * other.LeastBps
	r.P1Bps += part * other.P1Bps
	r.P50Bps += part * other.P50Bps
	r.P99Bps += part * other.P99Bps
	r.MostBps += part * other.MostBps
	r.Fairness += part * other.Fairness
}

// demand sets the demands of the flows; nil if all take what they get.
func (s *Simulation) demand() {
	_, flows := totals(s.Load.Kinds)
	s.paths.begin(s.Fabric, flows)
	if !slices.ContainsFunc(s.Load.Kinds, func(k Kind) bool { return k.Bps > 0 }) {
		s.demands = nil
		return
	}
	s.demands = s.demands[:0]
	for _, kind := range s.Load.Kinds {
		for range kind.Count {
			s.demands = append(s.demands, kind.Bps)
		}
	}
}

// place picks each flow's hosts and, unless traffic is spread evenly, the links that the routers'
// hashes choose. If it is spread evenly, the flow takes the links that stand for all.
func (s *Simulation) place(seed uint64, even bool) {
	f := s.Fabric
	source := rand.New(rand.NewPCG(seed, 0x666c6f7773))
	seeds := mix(seed ^ 0x726f7574657273)
	up, core := newChooser(f.Up), newChooser(f.Core)
	var pairs []uint64
	for range s.Load.Pairs {
		from, to := f.pair(source)
		pairs = append(pairs, uint64(from)<<32|uint64(to))
	}
	for flow := range s.paths.Flows() {
		var from, to int
		if len(pairs) > 0 {
			pair := pairs[flow%len(pairs)]
			from, to = int(pair>>32), int(pair&0xffffffff)
		} else {
			from, to = f.pair(source)
		}
		spine, center := 0, 0
		if !even {
			key := uint64(0)
			switch s.Load.Key {
			case PerFlow:
				key = mix(uint64(flow) + 1)
			case PerPair:
				key = mix(uint64(from)<<32 | uint64(to) | 1<<63)
			}
			leaf := f.leaf(from)
			spine = up.choose(key, seeds)
			if !s.Load.SameSeed {
				spine = up.choose(key, mix(seeds+2*uint64(leaf)+1))
			}
			if len(f.Core) > 0 {
				center = core.choose(key, seeds)
				if !s.Load.SameSeed {
					router := f.pod(leaf)*len(f.Up) + spine
					center = core.choose(key, mix(seeds+2*uint64(router)+2))
				}
			}
		}
		s.paths.chosen[flow] = routeOf(from, to, spine, center)
	}
}

// pair picks two different hosts.
func (f Fabric) pair(source *rand.Rand) (from, to int) {
	from = source.IntN(f.Hosts)
	return from, (from + 1 + source.IntN(f.Hosts-1)) % f.Hosts
}

// chooser divides the range of a hash among links by weight, as the kernel does (fib_rebalance in
// net/ipv4/fib_semantics.c): in 31 bits.
type chooser []uint32

func newChooser(links Links) chooser {
	c := make(chooser, len(links))
	sum := 0.0
	for i, chance := range links.Chances() {
		sum += chance
		c[i] = uint32(math.Round(sum*(1<<31))) - 1
	}
	return c
}

func (c chooser) choose(key, seed uint64) int {
	hash := uint32(mix(key^seed) >> 33)
	// There are mostly few links, for which a linear search is fastest.
	for i, bound := range c {
		if hash <= bound {
			return i
		}
	}
	return len(c) - 1
}

// mix is SplitMix64's finaliser (Steele, Lea and Flood, 2014), used as an ideal hash.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// tiers sums up the flows on the links of each tier.
func (s *Simulation) tiers() (tiers []Tier) {
	s.loads = sized(s.loads, len(s.rates))
	clear(s.loads)
	var path []int32
	for flow := range int32(s.paths.Flows()) {
		rate := s.sharer.Rate(flow)
		path = s.paths.Links(path[:0], flow)
		for _, link := range path {
			s.loads[link] += rate
		}
	}
	bounds := s.Fabric.tiers()
	for i, name := range []string{"host to leaf", "leaf to spine", "spine to core"}[:len(bounds)-1] {
		tier := Tier{Name: name, Links: bounds[i+1] - bounds[i]}
		for link := bounds[i]; link < bounds[i+1]; link++ {
			used := s.loads[link] / s.rates[link]
			tier.Average += used / float64(tier.Links)
			tier.Busiest = max(tier.Busiest, min(1, used))
			switch {
			case s.loads[link] == 0:
				tier.Idle++
			case used > 1-1e-6:
				tier.Full++
			}
		}
		tiers = append(tiers, tier)
	}
	return tiers
}

// summary returns the statistics of the flows' rates. There are no more different rates than links and demands, of
// which there are far fewer than flows.
func (s *Simulation) summary() (r Rates) {
	type alike struct {
		rate  float64
		flows int
	}
	all := make([]alike, len(s.rates))
	for link, rate := range s.sharer.levels {
		all[link].rate = rate
	}
	met := map[float64]int{} // demands
	for flow, link := range s.sharer.Bottlenecks {
		if link == none {
			met[s.demands[flow]]++
		} else {
			all[link].flows++
		}
	}
	for demand, flows := range met {
		all = append(all, alike{demand, flows})
	}
	all = slices.DeleteFunc(all, func(a alike) bool { return a.flows == 0 })
	slices.SortFunc(all, func(a, b alike) int { return cmp.Compare(a.rate, b.rate) })
	n, squares := s.paths.Flows(), 0.0
	quantiles := []struct {
		at   int
		rate *float64
	}{{0, &r.LeastBps}, {int(0.01 * float64(n)), &r.P1Bps}, {int(0.5 * float64(n)), &r.P50Bps},
		{int(0.99 * float64(n)), &r.P99Bps}, {n - 1, &r.MostBps}}
	below := 0
	for _, a := range all {
		r.CarriedBps += a.rate * float64(a.flows)
		squares += a.rate * a.rate * float64(a.flows)
		below += a.flows
		for len(quantiles) > 0 && quantiles[0].at < below {
			*quantiles[0].rate, quantiles = a.rate, quantiles[1:]
		}
	}
	r.Fairness = r.CarriedBps * r.CarriedBps / (float64(n) * squares)
	return r
}
