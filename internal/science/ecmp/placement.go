package ecmp

import (
	"cmp"
	"math"
	"net/netip"
	"slices"
	"strconv"

	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/topology"
	"linerate/internal/science/stats"
)

// This file holds what a run's flows carried together over equal-cost
// links against what hashing them leads to expect (spread.go): by treatment,
// how many links theory has used, within which band the mean of the replicates
// lies, and where it was measured.
//
// It judges treatments whose flows go from one host to another and fork once, over
// links that are alike, each flow able to fill one. Which way a single flow takes
// is not its question; that stands in the flow.

// Group is one treatment beside the theory.
type Group struct {
	Treatment string
	// Host is where the ways fork, and LinkBps what one of the links can carry.
	Host    string
	LinkBps float64
	// Placements is how many things the hash tells apart. Even says that service
	// ports were chosen so that flows spread evenly: then nothing is left to chance.
	Placements int
	Even       bool
	// Ends are the links, by the interface that leads to each, and On how many flows and
	// which share of the goodput fell on it, over all replicates.
	Ends []string
	On   []LinkLoad
	// From and To is the interval of the measured mean, from the replicates alone;
	// both 0: there is none.
	From, To float64
	Comparison
}

// LinkLoad is what fell on one link.
type LinkLoad struct {
	Flows int
	Share float64
}

// ByChance says that a hash placed the flows, and that there was a choice.
func (g Group) ByChance() bool { return !g.Even && g.Placements > 1 }

// EachPlaced says that a hash placed each flow by itself: such groups are a curve's
// points, of which that of one flow leaves nothing to chance.
func (g Group) EachPlaced() bool { return !g.Even && g.Placements == g.Flows }

// Placements are the treatments of a run that can be held against the theory, in the
// run's order.
func Placements(run *record.Run) []Group {
	confidence := run.Confidence
	if confidence <= 0 || confidence >= 1 {
		confidence = 0.95
	}
	var groups []Group
	for _, treatment := range run.Treatments {
		var group Group
		var measured []Replicate
		var worths []float64
		fits, carried := true, 0.0
		for i := range run.Trials {
			t := &run.Trials[i]
			if t.Treatment != treatment.Name {
				continue
			}
			g, replicate, ok := judge(t, t.Over(&run.Topology))
			if len(measured) == 0 {
				group = g
				group.On = make([]LinkLoad, len(g.Ends))
			}
			if fits = fits && ok && g.like(group); !fits {
				break
			}
			measured, worths = append(measured, replicate), append(worths, replicate.Worth)
			for _, f := range t.Flows {
				on := &group.On[g.link(f.Path)]
				on.Flows++
				on.Share += f.GoodputBps
				carried += f.GoodputBps
			}
		}
		if !fits || len(measured) == 0 {
			continue
		}
		used, ok := group.theory()
		if !ok {
			continue
		}
		group.Comparison = used.Hold(group.Links, group.Flows, measured, run.Margin, confidence)
		group.Treatment = treatment.Name
		if mean := stats.Mean(worths, confidence); mean.Known {
			group.From, group.To = max(0, mean.Low), min(mean.High, float64(group.Links))
		}
		for i := range group.On {
			if carried > 0 {
				group.On[i].Share /= carried
			}
		}
		groups = append(groups, group)
	}
	return groups
}

// Record spells groups for the result document.
func Record(groups []Group) []record.Hashing {
	var list []record.Hashing
	for _, g := range groups {
		h := record.Hashing{
			Treatment: g.Treatment, Host: g.Host, Links: g.Links, LinkBps: g.LinkBps, Flows: g.Flows, Placements: g.Placements, Chosen: g.Even, ByChance: g.ByChance(), Replicates: g.Replicates,
			ExpectedLinks: g.Mean, ExpectedLowLinks: g.Low, ExpectedHighLinks: g.High,
			MeasuredLinks: g.Measured, MeasuredLowLinks: g.From, MeasuredHighLinks: g.To, MeasuredLeastLinks: g.Least, MeasuredMostLinks: g.Most, Inside: g.Inside,
			IdleChance: g.SomeUnused, IdleTrials: g.Unused, IdleLowTrials: g.Few, IdleHighTrials: g.Many, IdleAsExpected: g.AsOften(), IdleLowShare: g.UnusedLow, IdleHighShare: g.UnusedHigh,
			FullTrials: g.Full, FullLeastLinks: g.LeastFull, LeastOfPredicted: g.LeastShare,
		}
		for i, end := range g.Ends {
			h.PerLink = append(h.PerLink, record.HashedLink{Interface: end, Flows: g.On[i].Flows, Share: g.On[i].Share})
		}
		list = append(list, h)
	}
	return list
}

// like: the same question was put to chance.
func (g Group) like(other Group) bool {
	return g.Host == other.Host && g.LinkBps == other.LinkBps && g.Placements == other.Placements && g.Even == other.Even &&
		g.Flows == other.Flows && slices.Equal(g.Ends, other.Ends)
}

// link is the place of the link that a way takes among the ends; -1: none.
func (g Group) link(way []string) int {
	return slices.IndexFunc(g.Ends, func(end string) bool { return slices.Contains(way, end) })
}

// theory is the number of used links.
func (g Group) theory() (Distribution, bool) {
	if g.Even {
		return Distribution{{Value: float64(min(g.Flows, g.Links)), Chance: 1}}, true
	}
	return Alike(g.Links, 1).Used(g.Placements)
}

// alike is how far rates may differ that are the same.
const alike = 0.001

// judge says what was placed in a trial, and what it carried; false: theory has
// nothing to say about it.
func judge(t *record.Trial, over *topology.Topology) (Group, Replicate, bool) {
	var g Group
	var none Replicate
	// What happens during a window changes the links, and theory has them for all of it.
	if len(t.Flows) == 0 || len(t.Events) > 0 {
		return g, none, false
	}
	fork, ok := forkOf(over, t.Flows[0])
	if !ok {
		return g, none, false
	}
	g = Group{Host: fork.host.Name, Even: t.Flows[0].SourcePorts == flow.PortsEven, LinkBps: t.Flows[0].LimitBps}
	g.Links, g.Flows, g.Ends = len(fork.ends), len(t.Flows), fork.ends
	pairs, used, foretold := map[[2]netip.Addr]bool{}, map[int]bool{}, map[int]bool{}
	for _, f := range t.Flows {
		first := t.Flows[0]
		same := f.From == first.From && f.To == first.To && f.Paths == first.Paths && f.SourcePorts == first.SourcePorts
		if !same || !f.Connected || f.Error != "" || !flow.Bulk(f.Protocol) || f.CapBps() > 0 ||
			math.Abs(f.LimitBps-g.LinkBps) > alike*g.LinkBps {
			return g, none, false
		}
		pair, ok := addresses(f)
		if !ok {
			return g, none, false
		}
		pairs[pair] = true
		on, said := g.link(f.Path), g.link(f.Predicted)
		if on < 0 || len(f.Observed) == 0 && (len(f.Predicted) == 0 || f.PredictedNote != "") {
			return g, none, false // nobody knows which way it took
		}
		used[on], foretold[said] = true, true
	}
	// Something else than these links may hold the flows back, such as a link that
	// all of them share.
	want := g.LinkBps * float64(min(g.Links, g.Flows))
	if !(g.LinkBps > 0) || math.Abs(t.LimitBps-want) > alike*want {
		return g, none, false
	}
	g.Placements = fork.distinct(t.Flows[0], len(t.Flows), len(pairs))
	replicate := Replicate{Worth: t.GoodputBps / g.LinkBps, Used: len(used)}
	if !foretold[-1] {
		replicate.Predicted = len(foretold)
	}
	return g, replicate, true
}

func addresses(f record.Flow) ([2]netip.Addr, bool) {
	source, err := netip.ParseAddrPort(f.Source)
	if err != nil {
		return [2]netip.Addr{}, false
	}
	destination, err := netip.ParseAddrPort(f.Destination)
	return [2]netip.Addr{source.Addr().Unmap(), destination.Addr().Unmap()}, err == nil
}

// fork is the one place where a flow's ways part.
type fork struct {
	host *topology.Host
	ends []string // "host.interface", one for each way
}

func forkOf(over *topology.Topology, f record.Flow) (fork, bool) {
	pair, ok := addresses(f)
	if !ok || f.Paths < 2 {
		return fork{}, false
	}
	ways, err := over.Paths(f.From, pair[0], pair[1])
	if err != nil || len(ways) != f.Paths {
		return fork{}, false
	}
	for at, end := range ways[0] {
		if !slices.ContainsFunc(ways, func(way []topology.End) bool { return at >= len(way) || way[at] != end }) {
			continue
		}
		var k fork
		for _, way := range ways {
			// Where two ways still have the interface in common they part again later.
			if at >= len(way) || way[at].Node != end.Node || slices.Contains(k.ends, way[at].String()) {
				return fork{}, false
			}
			k.ends = append(k.ends, way[at].String())
		}
		var found bool
		k.host, found = over.Host(end.Node)
		return k, found && !weighted(k.host)
	}
	return fork{}, false
}

// weighted: some next hop gets more flows than another.
func weighted(h *topology.Host) bool {
	return slices.ContainsFunc(h.Routes, func(r setting.Route) bool {
		return slices.ContainsFunc(r.Nexthops, func(n setting.Nexthop) bool {
			return cmp.Or(n.Weight, 1) != cmp.Or(r.Nexthops[0].Weight, 1)
		})
	}) || slices.ContainsFunc(h.Nexthops, func(n setting.NexthopObject) bool {
		return slices.ContainsFunc(n.Group, func(m setting.Member) bool {
			return cmp.Or(m.Weight, 1) != cmp.Or(n.Group[0].Weight, 1)
		})
	})
}

// The kernel's own values (ip-sysctl.rst): addresses, and, where fields are
// chosen, addresses and protocol.
const defaultFields = 0x7

// distinct is how many of a trial's flows the hash at the fork tells apart.
func (k fork) distinct(f record.Flow, flows, pairs int) int {
	family := "ipv4"
	if pair, _ := addresses(f); pair[0].Is6() {
		family = "ipv6"
	}
	policy, _ := strconv.Atoi(k.host.Sysctl("net." + family + ".fib_multipath_hash_policy"))
	fields := uint64(defaultFields)
	if text := k.host.Sysctl("net." + family + ".fib_multipath_hash_fields"); text != "" {
		fields, _ = strconv.ParseUint(text, 0, 32)
	}
	// A router hashes IPv6's flow label, too, and the kernel draws one for each
	// connection (net.ipv6.auto_flowlabels).
	if family == "ipv6" && policy == 0 && k.host.Name != f.From {
		return flows
	}
	return Distinct(policy, uint32(fields), flows, pairs)
}
