package ecmp

import (
	"cmp"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/device"
	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/topology"
)

// Placements are the treatments of a run whose flows a hash placed, in the run's order,
// beside what hashing them leads to expect: how many links theory has used, within which
// band the mean of the replicates lies, and where it was measured.
//
// They are treatments whose flows have one multipath route or bond on their path, the same
// one, over links that are alike, each flow able to fill one.
func Placements(run *record.Run) []record.Hashing {
	confidence := run.Confidence
	if confidence <= 0 || confidence >= 1 {
		confidence = 0.95
	}
	var list []record.Hashing
	for _, treatment := range run.Treatments {
		var h record.Hashing
		var measured []replicate
		fits, carried := true, 0.0
		for i := range run.Trials {
			t := &run.Trials[i]
			if t.Treatment != treatment.Name {
				continue
			}
			one, m, ok := judge(t, t.Over(&run.Topology))
			if len(measured) == 0 {
				h = one
			}
			if fits = fits && ok && alike(one, h); !fits {
				break
			}
			measured = append(measured, m)
			for _, f := range t.Flows {
				link := &h.PerLink[linkOf(h, f.Path)]
				link.Flows++
				link.Share += f.GoodputBps
				carried += f.GoodputBps
			}
		}
		if !fits || len(measured) == 0 {
			continue
		}
		used, ok := Distribution{{Value: float64(min(h.Flows, h.Links)), Chance: 1}}, true
		if !h.Chosen {
			used, ok = Alike(h.Links, 1).Used(h.Placements)
		}
		if !ok {
			continue
		}
		h.Treatment = treatment.Name
		used.hold(&h, measured, run.Margin, confidence)
		if g := treatment.Goodput; g.Confidence > 0 {
			h.MeasuredLowLinks = g.LowBps / h.LinkBps
			h.MeasuredHighLinks = max(h.MeasuredLinks, min(g.HighBps/h.LinkBps, float64(h.Links)))
		}
		for i := range h.PerLink {
			if carried > 0 {
				h.PerLink[i].Share /= carried
			}
		}
		list = append(list, h)
	}
	return list
}

// alike reports whether two trials put the same question to chance.
func alike(a, b record.Hashing) bool {
	return a.Host == b.Host && a.LinkBps == b.LinkBps && a.Placements == b.Placements && a.Chosen == b.Chosen &&
		a.Flows == b.Flows &&
		slices.EqualFunc(a.PerLink, b.PerLink, func(a, b record.HashedLink) bool { return a.Interface == b.Interface })
}

// linkOf is the place of the link that a path takes; -1: none.
func linkOf(h record.Hashing, path []string) int {
	return slices.IndexFunc(h.PerLink, func(l record.HashedLink) bool { return slices.Contains(path, l.Interface) })
}

// sameRate is how far rates may differ that are the same.
const sameRate = 0.001

// judge says what was placed in a trial, and what it carried; false: theory has
// nothing to say about it.
func judge(t *record.Trial, over *topology.Topology) (h record.Hashing, m replicate, ok bool) {
	// What happens during a window changes the links, and theory has them for all of it.
	if len(t.Flows) == 0 || len(t.Events) > 0 {
		return h, m, false
	}
	first := t.Flows[0]
	route, ok := multipathOf(over, first)
	if !ok {
		return h, m, false
	}
	h = record.Hashing{Host: route.node, Links: len(route.ends), Flows: len(t.Flows),
		Chosen: first.SourcePorts == flow.PortsEven, LinkBps: first.LimitBps}
	for _, end := range route.ends {
		h.PerLink = append(h.PerLink, record.HashedLink{Interface: end})
	}
	pairs, hosts := map[[2]netip.Addr]bool{}, map[[2]string]bool{}
	used, predicted := map[int]bool{}, map[int]bool{}
	for _, f := range t.Flows {
		// Those of a route are between two hosts; a bond's members are the same for all.
		between := f.From == first.From && f.To == first.To || route.spread != nil && multipathIs(over, f, route)
		same := between && f.Paths == first.Paths && f.SourcePorts == first.SourcePorts
		pair, valid := addresses(f)
		if !same || !valid || !f.Connected || f.Error != "" || flow.Of(f.Protocol).Transactional() || f.CapBps() > 0 ||
			math.Abs(f.LimitBps-h.LinkBps) > sameRate*h.LinkBps {
			return h, m, false
		}
		on := linkOf(h, f.Path)
		if on < 0 || !f.Placed() {
			return h, m, false
		}
		hosts[[2]string{f.From, f.To}] = true
		pairs[pair], used[on], predicted[linkOf(h, f.Predicted)] = true, true, true
	}
	// Something else than these links may hold the flows back, such as a link that
	// all of them share.
	want := h.LinkBps * float64(min(h.Links, h.Flows))
	if !(h.LinkBps > 0) || math.Abs(t.LimitBps-want) > sameRate*want {
		return h, m, false
	}
	h.Placements = route.hashes(t, over, first, len(t.Flows), len(pairs), len(hosts))
	h.ByChance = !h.Chosen && h.Placements > 1 && route.hashes(t, over, first, 2, 1, 1) == 2
	m = replicate{worth: t.GoodputBps / h.LinkBps, used: len(used)}
	if !predicted[-1] {
		m.predicted = len(predicted)
	}
	return h, m, true
}

func addresses(f record.Flow) ([2]netip.Addr, bool) {
	source, err := netip.ParseAddrPort(f.Source)
	if err != nil {
		return [2]netip.Addr{}, false
	}
	destination, err := netip.ParseAddrPort(f.Destination)
	return [2]netip.Addr{source.Addr().Unmap(), destination.Addr().Unmap()}, err == nil
}

// multipath is the one route with several next hops on a flow's path, or the one bond.
type multipath struct {
	node   string
	spread device.Spread // of a bond
	ends   []string      // "host.interface", one for each path
}

// hashes is how many different hashes it has for so many flows like this one, between so
// many pairs of addresses and of hosts.
func (m multipath) hashes(t *record.Trial, over *topology.Topology, f record.Flow, flows, pairs, hosts int) int {
	if m.spread == nil {
		return hashes(t, over, m.node, f, flows, pairs)
	}
	switch hashed := m.spread.Hashes(); {
	case hashed.Ports:
		return flows
	case hashed.Addresses:
		return pairs
	}
	return hosts
}

// multipathIs reports whether a flow has the same multipath.
func multipathIs(over *topology.Topology, f record.Flow, m multipath) bool {
	other, ok := multipathOf(over, f)
	return ok && slices.Equal(other.ends, m.ends)
}

func multipathOf(over *topology.Topology, f record.Flow) (multipath, bool) {
	pair, ok := addresses(f)
	if !ok || f.Paths < 2 {
		return multipath{}, false
	}
	paths, err := over.Paths(f.From, pair[0], pair[1])
	if err != nil || len(paths) != f.Paths {
		return multipath{}, false
	}
	for at, end := range paths[0] {
		if !slices.ContainsFunc(paths, func(path []topology.End) bool { return at >= len(path) || path[at] != end }) {
			continue
		}
		m := multipath{node: end.Node}
		for _, path := range paths {
			// Two paths that still have the interface in common part again later.
			if at >= len(path) || path[at].Node != end.Node || slices.Contains(m.ends, path[at].String()) {
				return multipath{}, false
			}
			m.ends = append(m.ends, path[at].String())
		}
		if _, bond, is := over.Device(end); is {
			m.spread = bond.Spread
			return m, m.spread != nil && len(m.ends) == len(bond.Beneath)
		}
		host, found := over.Host(end.Node)
		return m, found && !weighted(host)
	}
	return multipath{}, false
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

// flowLabel is IPv6's flow label among the fields.
const flowLabel = 0x8

// PerConnection reports whether what a host hashes of a flow has something that is drawn for
// each connection: then every trial places its flows anew. Between the same addresses all
// else is the same in every trial.
func PerConnection(t *record.Trial, over *topology.Topology, host string, f record.Flow) bool {
	return hashes(t, over, host, f, 2, 1) == 2
}

// hashes is how many different hashes a host has for so many flows like this one, between
// so many pairs of addresses. Its parameters and the sender's are as a trial read them, or
// else as the topology has them.
func hashes(t *record.Trial, over *topology.Topology, host string, f record.Flow, flows, pairs int) int {
	parameter := func(host, key string) string {
		reading, _ := t.Reading(host)
		value := reading.Snapshot.Sysctls[key]
		if h, ok := over.Host(host); ok {
			value = cmp.Or(value, h.Sysctl(key))
		}
		return strings.TrimSpace(value)
	}
	family := "ipv4"
	if pair, _ := addresses(f); pair[0].Is6() {
		family = "ipv6"
	}
	policy, _ := strconv.Atoi(parameter(host, "net."+family+".fib_multipath_hash_policy"))
	fields := uint64(defaultFields)
	if text := parameter(host, "net."+family+".fib_multipath_hash_fields"); text != "" {
		fields, _ = strconv.ParseUint(text, 0, 32)
	}
	// A router hashes IPv6's flow label as well, by policies 0 and 2 or where the fields have it. The
	// sender's kernel draws one for each connection, if net.ipv6.auto_flowlabels is 1 or 3.
	labels := parameter(f.From, "net.ipv6.auto_flowlabels")
	if family == "ipv6" && host != f.From && labels != "0" && labels != "2" && (policy == 0 || policy == 2 ||
		policy == 3 && fields&flowLabel != 0) {
		return flows
	}
	return Distinct(policy, uint32(fields), flows, pairs)
}
