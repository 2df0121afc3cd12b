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

// Placements compares the treatments of a run whose flows a hash placed with theory, in the run's
// order: the expected number of used links, the interval in which the mean of the replicates should
// lie, and the measured mean.
//
// It covers treatments whose flows have one multipath route or bond on their path, the same for all
// flows, over links that are alike, and in which each flow can fill a link.
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

// alike reports whether theory gives the same distribution for two trials.
func alike(a, b record.Hashing) bool {
	return a.Host == b.Host && a.LinkBps == b.LinkBps && a.Placements == b.Placements && a.Chosen == b.Chosen &&
		a.Flows == b.Flows &&
		slices.EqualFunc(a.PerLink, b.PerLink, func(a, b record.HashedLink) bool { return a.Interface == b.Interface })
}

// linkOf returns the index in PerLink of the link that a path takes; -1: none.
func linkOf(h record.Hashing, path []string) int {
	return slices.IndexFunc(h.PerLink, func(l record.HashedLink) bool { return slices.Contains(path, l.Interface) })
}

// sameRate is the relative difference up to which two rates count as the same.
const sameRate = 0.001

// judge returns what was placed in a trial and what it carried; false: theory does not apply to the
// trial.
func judge(t *record.Trial, over *topology.Topology) (h record.Hashing, m replicate, ok bool) {
	// Events during a window change the links, but theory assumes the same links throughout.
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
		// The flows of a route are between two hosts. A bond's members are the same for all hosts.
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
	// If something else than these links holds the flows back, such as a link that all of them
	// share, theory does not apply.
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

// multipath is the only route with several next hops, or the only bond, on a flow's path.
type multipath struct {
	node   string
	spread device.Spread // of a bond
	ends   []string      // "host.interface", one for each path
}

// hashes returns how many different hashes this many flows like f have, between the given numbers
// of address pairs and of host pairs.
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
			// The two paths still have the interface in common and separate again later.
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

// weighted reports whether the weights of a route's next hops differ.
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

// defaultFields is the kernel's default of fib_multipath_hash_fields: addresses and protocol
// (ip-sysctl.rst).
const defaultFields = 0x7

// flowLabel is the bit of IPv6's flow label in the fields.
const flowLabel = 0x8

// PerConnection reports whether a host's hash of a flow includes something that changes with each
// connection. Then every trial places its flows anew. Everything else is the same in every trial
// between the same addresses.
func PerConnection(t *record.Trial, over *topology.Topology, host string, f record.Flow) bool {
	return hashes(t, over, host, f, 2, 1) == 2
}

// hashes returns how many different hashes a host has for this many flows like f, between this many
// pairs of addresses. It uses the parameters of the host and of the sender as the trial read them,
// or else as the topology sets them.
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
	// A router also hashes IPv6's flow label: with policies 0 and 2, or with policy 3 if the fields
	// include it. The sender's kernel draws one for each connection if net.ipv6.auto_flowlabels is
	// 1 or 3.
	labels := parameter(f.From, "net.ipv6.auto_flowlabels")
	if family == "ipv6" && host != f.From && labels != "0" && labels != "2" && (policy == 0 || policy == 2 ||
		policy == 3 && fields&flowLabel != 0) {
		return flows
	}
	return Distinct(policy, uint32(fields), flows, pairs)
}
