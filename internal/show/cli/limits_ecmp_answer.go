package cli

import (
	"math"
	"slices"

	"linerate/internal/science/ecmp"
)

// ecmpLimit is what `linerate limits ecmp --json` prints without --hosts.
type ecmpLimit struct {
	ecmpAsked
	ecmpFigures
	// OneSeed is how it comes out when both tiers hash with one seed.
	OneSeed *ecmpFigures `json:"one_seed,omitempty"`
	// How many flows it takes (pairs of addresses, where ports don't count) until
	// that share of all links' rates is carried on average, and until no link is
	// idle as often; 0: more than anybody has, or not known.
	Target      float64    `json:"target"`
	NeededCarry int        `json:"needed_to_carry,omitempty"`
	NeededAll   int        `json:"needed_to_use_all,omitempty"`
	PerLink     []ecmpLink `json:"per_link"`
	// WithPorts is the mean that a hash of ports (policy 1) would give, where the
	// policy asked about has less to place.
	WithPorts float64 `json:"expected_with_ports_bps,omitempty"`
}

// ecmpAsked is the question, as it was understood.
type ecmpAsked struct {
	Schema   string     `json:"schema"`
	Flows    int        `json:"flows"`
	Kinds    []ecmpKind `json:"flow_kinds"`
	Links    int        `json:"links"`
	Second   int        `json:"second_links,omitempty"`
	Tiers    int        `json:"tiers"`
	Policy   int        `json:"hash_policy"`
	Fields   uint32     `json:"hash_fields,omitempty"`
	Pairs    int        `json:"pairs,omitempty"`
	Distinct int        `json:"distinct_hashes,omitempty"`
	Sizes    string     `json:"sizes,omitempty"`
	Shape    float64    `json:"sizes_shape,omitempty"`
	Seed     uint64     `json:"seed"`
}

type ecmpKind struct {
	Flows     int     `json:"flows"`
	DemandBps float64 `json:"demand_bps,omitempty"`
}

// ecmpFigures are one outcome. Those not named in drawn are exact.
type ecmpFigures struct {
	LimitBps    float64     `json:"limit_bps"`
	ExpectedBps float64     `json:"expected_bps"`
	Share       float64     `json:"expected_share"`
	SDBps       float64     `json:"sd_bps"`
	Quantiles   []ecmpShare `json:"carried_quantiles"`
	Values      []ecmpValue `json:"carried_distribution,omitempty"`
	SomeIdle    float64     `json:"some_idle_chance"`
	Used        float64     `json:"expected_used_links"`
	UsedSecond  float64     `json:"expected_used_second_links,omitempty"`
	Reachable   int         `json:"reachable_second_links,omitempty"`
	AllSecond   int         `json:"all_second_links,omitempty"`
	Busiest     float64     `json:"busiest_link_share"`
	TogetherBps float64     `json:"together_bps,omitempty"`
	Drawn       []string    `json:"drawn,omitempty"`
	Replicates  int         `json:"replicates,omitempty"`
}

// ecmpShare: with that chance at most so much is carried.
type ecmpShare struct {
	Chance float64 `json:"chance"`
	Bps    float64 `json:"carried_bps"`
}

type ecmpValue struct {
	Bps    float64 `json:"carried_bps"`
	Chance float64 `json:"chance"`
}

type ecmpLink struct {
	RateBps     float64 `json:"rate_bps"`
	Weight      float64 `json:"weight"`
	Chance      float64 `json:"share"` // of flows, on average
	Idle        float64 `json:"idle_chance"`
	ExpectedBps float64 `json:"expected_bps,omitempty"`
}

const ecmpSchema = "linerate.limits.ecmp/v1"

func (q question) asked() ecmpAsked {
	a := ecmpAsked{
		Schema: ecmpSchema, Flows: q.flows, Links: len(q.tiers.First), Second: len(q.tiers.Second),
		Tiers: 1, Policy: q.policy, Pairs: q.pairs, Distinct: q.distinct, Seed: q.seed,
	}
	if a.Second > 0 {
		a.Tiers = 2
	}
	if q.policy == 3 {
		a.Fields = q.fields
	}
	if q.sizes != nil {
		a.Sizes, a.Shape = q.sizes.Law, q.sizes.Shape
	}
	for _, kind := range q.kinds {
		a.Kinds = append(a.Kinds, ecmpKind{kind.Count, kind.Bps})
	}
	return a
}

// bundles are what is placed.
func (q question) bundles() []ecmp.Kind {
	if q.distinct == q.flows {
		return q.kinds
	}
	return ecmp.Bundle(q.kinds, q.distinct)
}

func (q question) answer() ecmpAnswer {
	if q.fabric.Hosts > 0 {
		return q.simulate()
	}
	return q.expect()
}

func (q question) expect() ecmpLimit {
	kinds := q.bundles()
	l := ecmpLimit{ecmpAsked: q.asked(), Target: q.target}
	l.ecmpFigures = q.figures(q.tiers, kinds)
	if l.Tiers == 2 {
		one := q.tiers
		one.SameSeed = true
		figures := q.figures(one, kinds)
		l.OneSeed = &figures
	}
	if q.distinct < q.flows {
		l.WithPorts, _ = q.tiers.ExpectedBps(q.kinds)
	}
	links := q.tiers.First
	if len(kinds) == 1 && l.Tiers == 1 {
		l.NeededCarry, _ = links.FlowsNeeded(q.target, kinds[0].Bps)
	}
	l.NeededAll, _ = links.FlowsToUseAll(q.target)
	for i, chance := range links.Chances() {
		link := ecmpLink{RateBps: links[i].RateBps, Weight: links[i].Weight, Chance: chance,
			Idle: math.Pow(1-chance, float64(q.distinct))}
		if l.Tiers == 1 {
			link.ExpectedBps, _ = ecmp.Expected(link.RateBps, chance, kinds)
		}
		l.PerLink = append(l.PerLink, link)
	}
	return l
}

// mostValues is how many values of a distribution are listed one by one.
const mostValues = 64

func (q question) figures(t ecmp.Tiers, kinds []ecmp.Kind) ecmpFigures {
	o := t.Outcome(kinds, q.sizes, q.replicates, q.seed)
	f := ecmpFigures{
		LimitBps: o.LimitBps, ExpectedBps: o.MeanBps, Share: o.MeanBps / o.LimitBps, SDBps: o.SDBps,
		SomeIdle: o.SomeUnused, Used: o.UsedFirst, UsedSecond: o.UsedSecond, Busiest: o.BusiestShare,
		TogetherBps: o.TogetherBps, Replicates: o.Replicates,
	}
	if len(t.Second) > 0 {
		f.Reachable, f.AllSecond = t.Reachable(), len(t.First)*len(t.Second)
	}
	for _, chance := range []float64{0.05, 0.25, 0.5, 0.75, 0.95} {
		f.Quantiles = append(f.Quantiles, ecmpShare{chance, o.Carried.Quantile(chance)})
	}
	if len(o.Carried) <= mostValues {
		for _, p := range o.Carried {
			f.Values = append(f.Values, ecmpValue{p.Value, p.Chance})
		}
	}
	for _, drawn := range []struct {
		exact bool
		names []string
	}{
		{o.MeanExact, []string{"expected_bps", "expected_share"}},
		{o.CarriedExact, []string{"sd_bps", "carried_quantiles", "carried_distribution"}},
		{o.UnusedExact, []string{"some_idle_chance"}},
		{o.BusiestExact, []string{"busiest_link_share"}},
		{o.TogetherExact || o.TogetherBps == 0, []string{"together_bps"}},
	} {
		if !drawn.exact {
			f.Drawn = append(f.Drawn, drawn.names...)
		}
	}
	return f
}

// closLimit is what `linerate limits ecmp --hosts … --json` prints.
type closLimit struct {
	ecmpAsked
	Hosts        int     `json:"hosts"`
	HostsPerLeaf int     `json:"hosts_per_leaf"`
	HostBps      float64 `json:"host_rate_bps"`
	Leaves       int     `json:"leaves"`
	Pods         int     `json:"pods"`
	Spines       int     `json:"spines"`
	Cores        int     `json:"cores,omitempty"`
	Replicates   int     `json:"replicates"`
	closFigures
	OneSeed *closFigures `json:"one_seed,omitempty"`
}

// closFigures are means over replicates; the scatter is that of one replicate.
type closFigures struct {
	ExpectedBps float64    `json:"expected_bps"`
	SDBps       float64    `json:"sd_bps"`
	LimitBps    float64    `json:"limit_bps"` // the same flows, spread evenly
	Share       float64    `json:"expected_share"`
	Flow        closRates  `json:"flow_bps"`
	EvenFlow    closRates  `json:"even_flow_bps"`
	PerTier     []closTier `json:"per_tier"`
}

type closRates struct {
	Least    float64 `json:"least"`
	P1       float64 `json:"p1"`
	P50      float64 `json:"p50"`
	P99      float64 `json:"p99"`
	Most     float64 `json:"most"`
	Fairness float64 `json:"fairness"`
}

type closTier struct {
	Name    string  `json:"tier"`
	Links   int     `json:"links"` // each direction is one
	Idle    float64 `json:"idle"`
	Full    float64 `json:"full"`
	Busiest float64 `json:"busiest_use"`
	Average float64 `json:"average_use"`
}

// quickFlows is how many flows are simulated when nobody says how often.
const quickFlows = 1_000_000

func (q question) simulate() closLimit {
	f := q.fabric
	l := closLimit{
		ecmpAsked: q.asked(), Hosts: f.Hosts, HostsPerLeaf: f.HostsPerLeaf, HostBps: f.HostBps,
		Leaves: f.Leaves(), Pods: f.Pods(), Spines: f.Spines(), Cores: f.Cores(), Replicates: q.replicates,
	}
	l.Distinct = 0 // the pairs that chance picks decide it
	if l.Replicates == 0 {
		l.Replicates = min(max(1, quickFlows/q.flows), 100)
	}
	load := ecmp.FabricLoad{Kinds: q.kinds, Pairs: q.pairs, Key: ecmp.PerPair}
	switch {
	case ecmp.Distinct(q.policy, q.fields, 2, 1) == 2:
		load.Key = ecmp.PerFlow
	case ecmp.Distinct(q.policy, q.fields, 2, 2) == 1:
		load.Key = ecmp.One
	}
	l.closFigures = q.replicate(load, l.Replicates)
	if len(f.Core) > 0 {
		load.SameSeed = true
		one := q.replicate(load, l.Replicates)
		l.OneSeed = &one
	}
	return l
}

func (q question) replicate(load ecmp.FabricLoad, replicates int) closFigures {
	s := ecmp.Simulation{Fabric: q.fabric, Load: load}
	o, sd := s.Replicate(q.seed, replicates)
	c := closFigures{
		ExpectedBps: o.Hashed.CarriedBps, SDBps: sd, LimitBps: o.Even.CarriedBps,
		Share: o.Hashed.CarriedBps / o.Even.CarriedBps, Flow: newClosRates(o.Hashed), EvenFlow: newClosRates(o.Even),
	}
	for _, t := range o.Tiers {
		c.PerTier = append(c.PerTier, closTier(t))
	}
	return c
}

func newClosRates(r ecmp.Rates) closRates {
	return closRates{Least: r.LeastBps, P1: r.P1Bps, P50: r.P50Bps, P99: r.P99Bps, Most: r.MostBps, Fairness: r.Fairness}
}

// alike says that all links have one rate and weight.
func (l ecmpLimit) alike() bool {
	return !slices.ContainsFunc(l.PerLink, func(k ecmpLink) bool {
		return k.RateBps != l.PerLink[0].RateBps || k.Weight != l.PerLink[0].Weight
	})
}
