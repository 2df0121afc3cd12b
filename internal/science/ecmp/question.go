package ecmp

import (
	"cmp"
	"math"
	"slices"
)

// Question describes flows that are hashed over equal-cost links, and how to answer what they carry.
type Question struct {
	Tiers Tiers
	Kinds []Kind // of single flows
	Flows int    // total
	// Policy is fib_multipath_hash_policy, 0 to 3. Fields is fib_multipath_hash_fields, for policy
	// 3.
	Policy int
	Fields uint32
	// Bond is the xmit_hash_policy if the question is about a bond. Policy is then the value that
	// hashes the same fields. Empty: the flows are routed.
	Bond string
	// Pairs is the number of pairs of addresses that the flows are between; 0, with a Fabric: each
	// flow has its own.
	Pairs  int
	Sizes  *Sizes // nil: all transfers are equal
	Target float64
	// Replicates is the number of draws where no formula exists; 0: as many as are quick.
	Replicates int
	Seed       uint64
	Fabric     Fabric // without hosts: the question is about one sender
}

// distinct returns the number of different hashes, which is how many bundles are placed.
func (q Question) distinct() int { return Distinct(q.Policy, q.Fields, q.Flows, q.Pairs) }

// Forecast is the answer to a Question without a Fabric (schema linerate.limits.ecmp/v1).
type Forecast struct {
	Asked
	Figures
	// OneSeed has the figures if both tiers hash with the same seed.
	OneSeed *Figures `json:"one_seed,omitempty"`
	// NeededCarry is how many flows it takes to carry the share Target of all links' rates on
	// average, and NeededAll how many to use every link with probability Target. Both count pairs
	// of addresses if ports are not hashed; 0: more than 2³⁰, or unknown.
	Target      float64        `json:"target"`
	NeededCarry int            `json:"needed_to_carry,omitempty"`
	NeededAll   int            `json:"needed_to_use_all,omitempty"`
	PerLink     []LinkForecast `json:"per_link"`
	// WithPorts is the mean that a hash of ports (policy 1) would give, if the policy in question
	// distinguishes fewer flows.
	WithPorts float64 `json:"expected_with_ports_bps,omitempty"`
}

// Asked repeats the Question, as it was understood.
type Asked struct {
	Schema   string      `json:"schema"`
	Flows    int         `json:"flows"`
	Kinds    []AskedKind `json:"flow_kinds"`
	Links    int         `json:"links"`
	Second   int         `json:"second_links,omitempty"`
	Tiers    int         `json:"tiers"`
	Policy   int         `json:"hash_policy"`
	Bond     string      `json:"xmit_hash_policy,omitempty"`
	Fields   uint32      `json:"hash_fields,omitempty"`
	Pairs    int         `json:"pairs,omitempty"`
	Distinct int         `json:"distinct_hashes,omitempty"`
	Sizes    string      `json:"sizes,omitempty"`
	Shape    float64     `json:"sizes_shape,omitempty"`
	Seed     uint64      `json:"seed"`
}

// AskedKind is a number of flows with the same demand. Demand 0: they take as much as they get.
type AskedKind struct {
	Flows     int     `json:"flows"`
	DemandBps float64 `json:"demand_bps,omitempty"`
}

// Figures describes one outcome. The figures named in Drawn come from at least Replicates draws;
// all others are exact.
type Figures struct {
	LimitBps    float64         `json:"limit_bps"` // with the best placement, each flow on one link
	ExpectedBps float64         `json:"expected_bps"`
	Share       float64         `json:"expected_share"`
	SDBps       float64         `json:"sd_bps"` // standard deviation from one set of ports to the next
	Quantiles   []CarriedChance `json:"carried_quantiles"`
	Values      []CarriedChance `json:"carried_distribution,omitempty"`
	SomeIdle    float64         `json:"some_idle_chance"` // probability that some link of the first tier is idle
	Used        float64         `json:"expected_used_links"`
	UsedSecond  float64         `json:"expected_used_second_links,omitempty"`
	Reachable   int             `json:"reachable_second_links,omitempty"`
	AllSecond   int             `json:"all_second_links,omitempty"`
	Busiest     float64         `json:"busiest_link_share"` // share of all flows on the busiest link of the first tier
	// TogetherBps is the rate of transfers that begin at the same time, over the time until the
	// last is done. 0: the flows have a demand below the rate of a link.
	TogetherBps float64  `json:"together_bps,omitempty"`
	Drawn       []string `json:"drawn,omitempty"`
	Replicates  int      `json:"replicates,omitempty"`
}

// CarriedChance is the probability that the flows carry exactly Bps (in Figures.Values), or at most
// Bps (in Figures.Quantiles).
type CarriedChance struct {
	Bps    float64 `json:"carried_bps"`
	Chance float64 `json:"chance"`
}

// LinkForecast describes one link of the first tier.
type LinkForecast struct {
	RateBps     float64 `json:"rate_bps"`
	Weight      float64 `json:"weight"`
	Chance      float64 `json:"share"` // share of the flows, on average
	Idle        float64 `json:"idle_chance"`
	ExpectedBps float64 `json:"expected_bps,omitempty"`
}

// forecastSchema is the schema name and version of both forecasts.
const forecastSchema = "linerate.limits.ecmp/v1"

func (q Question) asked() Asked {
	a := Asked{
		Schema: forecastSchema, Flows: q.Flows, Links: len(q.Tiers.First), Second: len(q.Tiers.Second),
		Tiers: 1, Policy: q.Policy, Bond: q.Bond, Pairs: q.Pairs, Distinct: q.distinct(), Seed: q.Seed,
	}
	if a.Second > 0 {
		a.Tiers = 2
	}
	if q.Policy == 3 {
		a.Fields = q.Fields
	}
	if q.Sizes != nil {
		a.Sizes, a.Shape = q.Sizes.Law, q.Sizes.Shape
	}
	for _, kind := range q.Kinds {
		a.Kinds = append(a.Kinds, AskedKind{kind.Count, kind.Bps})
	}
	return a
}

// bundles returns the bundles that are placed.
func (q Question) bundles() []Kind {
	if q.distinct() == q.Flows {
		return q.Kinds
	}
	return bundle(q.Kinds, q.distinct())
}

// Forecast answers a Question about one sender, which has no Fabric.
func (q Question) Forecast() Forecast {
	kinds := q.bundles()
	l := Forecast{Asked: q.asked(), Target: q.Target}
	l.Figures = q.figures(q.Tiers, kinds)
	if l.Tiers == 2 {
		one := q.Tiers
		one.SameSeed = true
		figures := q.figures(one, kinds)
		l.OneSeed = &figures
	}
	if q.distinct() < q.Flows {
		l.WithPorts, _ = q.Tiers.ExpectedBps(q.Kinds)
	}
	links := q.Tiers.First
	if len(kinds) == 1 && l.Tiers == 1 {
		l.NeededCarry, _ = links.FlowsNeeded(q.Target, kinds[0].Bps)
	}
	l.NeededAll, _ = links.FlowsToUseAll(q.Target)
	for i, chance := range links.Chances() {
		link := LinkForecast{RateBps: links[i].RateBps, Weight: links[i].Weight, Chance: chance,
			Idle: math.Pow(1-chance, float64(q.distinct()))}
		if l.Tiers == 1 {
			link.ExpectedBps, _ = expected(link.RateBps, chance, kinds)
		}
		l.PerLink = append(l.PerLink, link)
	}
	return l
}

// mostValues is the largest number of values of a distribution that are listed one by one.
const mostValues = 64

// figures computes exactly what it can and draws the rest with the seed.
func (q Question) figures(t Tiers, kinds []Kind) Figures {
	bundles, _ := totals(kinds)
	f := Figures{LimitBps: t.BestBps(q.Kinds)}
	f.Used, f.UsedSecond = t.ExpectedUsed(bundles)
	if len(t.Second) > 0 {
		f.Reachable, f.AllSecond = t.Reachable(), len(t.First)*len(t.Second)
	}
	var carried Distribution
	var mean, scatter, idle, busiest, together bool // which of these figures are exact
	f.ExpectedBps, mean = t.ExpectedBps(kinds)
	f.SomeIdle, idle = t.First.SomeUnused(bundles)
	f.Busiest, busiest = t.First.BusiestShare(kinds)
	if len(t.Second) == 0 {
		carried, scatter = t.First.Carried(kinds)
		if q.Sizes == nil {
			f.TogetherBps, together = t.First.TogetherBps(kinds)
		}
	}
	draw := func(sizes *Sizes) {
		replicates := q.Replicates
		if replicates == 0 {
			replicates = t.Replicates(kinds, sizes)
		}
		if f.Replicates == 0 || replicates < f.Replicates {
			f.Replicates = replicates // the fewer, if two kinds of draws are made
		}
		d := t.Draw(kinds, sizes, replicates, q.Seed)
		f.TogetherBps = max(f.TogetherBps, d.TogetherBps)
		if !mean {
			f.ExpectedBps = d.MeanBps
		}
		if !scatter {
			carried = d.Distribution()
		}
		if !idle {
			f.SomeIdle = d.SomeUnused
		}
		if !busiest {
			f.Busiest = d.Busiest
		}
	}
	if !mean || !idle || !busiest || !scatter {
		draw(nil)
	}
	if allElastic(kinds) && !together {
		draw(cmp.Or(q.Sizes, &Sizes{}))
	}
	for _, p := range carried { // with several rates, a draw may exceed the best placement
		f.LimitBps = max(f.LimitBps, p.Value)
	}
	f.Share, f.SDBps = f.ExpectedBps/f.LimitBps, carried.SD()
	for _, chance := range []float64{0.05, 0.25, 0.5, 0.75, 0.95} {
		f.Quantiles = append(f.Quantiles, CarriedChance{carried.Quantile(chance), chance})
	}
	if len(carried) <= mostValues {
		for _, p := range carried {
			f.Values = append(f.Values, CarriedChance{p.Value, p.Chance})
		}
	}
	for _, drawn := range []struct {
		exact bool
		names []string
	}{
		{mean, []string{"expected_bps", "expected_share"}},
		{scatter, []string{"sd_bps", "carried_quantiles", "carried_distribution"}},
		{idle, []string{"some_idle_chance"}},
		{busiest, []string{"busiest_link_share"}},
		{together || f.TogetherBps == 0, []string{"together_bps"}},
	} {
		if !drawn.exact {
			f.Drawn = append(f.Drawn, drawn.names...)
		}
	}
	return f
}

// FabricForecast answers a Question with a Fabric, in the same schema.
type FabricForecast struct {
	Asked
	Hosts        int     `json:"hosts"`
	HostsPerLeaf int     `json:"hosts_per_leaf"`
	HostBps      float64 `json:"host_rate_bps"`
	Leaves       int     `json:"leaves"`
	Pods         int     `json:"pods"`
	Spines       int     `json:"spines"`
	Cores        int     `json:"cores,omitempty"`
	Replicates   int     `json:"replicates"`
	FabricFigures
	OneSeed *FabricFigures `json:"one_seed,omitempty"`
}

// quickFlows is how many flows are simulated in total if no number of replicates is given.
const quickFlows = 1_000_000

// Simulate answers a Question with a Fabric, by simulation.
func (q Question) Simulate() FabricForecast {
	f := q.Fabric
	l := FabricForecast{
		Asked: q.asked(), Hosts: f.Hosts, HostsPerLeaf: f.HostsPerLeaf, HostBps: f.HostBps,
		Leaves: f.Leaves(), Pods: f.Pods(), Spines: f.Spines(), Cores: f.Cores(), Replicates: q.Replicates,
	}
	l.Distinct = 0 // the random pairs decide it
	if l.Replicates == 0 {
		l.Replicates = min(max(1, quickFlows/q.Flows), 100)
	}
	load := FabricLoad{Kinds: q.Kinds, Pairs: q.Pairs, Key: PerPair}
	switch {
	case Distinct(q.Policy, q.Fields, 2, 1) == 2:
		load.Key = PerFlow
	case Distinct(q.Policy, q.Fields, 2, 2) == 1:
		load.Key = One
	}
	run := func() FabricFigures {
		s := Simulation{Fabric: f, Load: load}
		return s.Replicate(q.Seed, l.Replicates)
	}
	l.FabricFigures = run()
	if len(f.Core) > 0 {
		load.SameSeed = true
		one := run()
		l.OneSeed = &one
	}
	return l
}

// Alike reports whether all links have one rate and weight.
func (l Forecast) Alike() bool {
	return !slices.ContainsFunc(l.PerLink, func(k LinkForecast) bool {
		return k.RateBps != l.PerLink[0].RateBps || k.Weight != l.PerLink[0].Weight
	})
}
