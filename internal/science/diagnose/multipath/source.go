package multipath

import (
	"net/netip"
	"slices"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/fix"
)

// sourceRoute is a host's route with several next hops, each in a subnet of its own interface, and
// the interfaces by which flows left for each source address.
type sourceRoute struct {
	host   *facts.Host
	to     netip.Prefix
	hops   []netstate.RouteNexthop
	object bool // the route goes by a nexthop object
	pairs  []sourcePair
}

// sourcePair are the flows with one source address that left by one interface.
type sourcePair struct {
	source    netip.Addr
	own, left string // interface that has the address, and interface by which the flows left
	flows     int
	seen      int // flows whose interface was observed
}

// ecmpSourceMismatch finds flows that have the address of one link and leave by another. The kernel
// looks up the route to choose an address, and again with the ports; each lookup may choose another
// next hop. Since Linux 6.16, a route with its own next hops uses the one that has the address
// (fib_select_multipath); a group of nexthop objects does not. If no single link has an address, as
// with unnumbered interfaces, any link is right.
func ecmpSourceMismatch(f facts.Trial, c *sourceRoute) *record.Finding {
	is, seen := fact.Mismatched{To: c.to}, 0
	for _, p := range c.pairs {
		is.Flows += p.flows
		if p.own != p.left {
			is.Wrong, seen = is.Wrong+p.flows, seen+p.seen
			is.By = append(is.By, fact.MismatchedPair{Flows: p.flows, Source: p.source, Own: p.own, Left: p.left})
		}
	}
	if is.Wrong == 0 {
		return nil
	}
	finding := facts.Found(cause.ECMPSourceMismatch, c.host, record.Likely, cause.None{}).With(c.host.Name, is).
		Fixed(record.Settings(c.rules()...)...)
	if c.object {
		finding.With(c.host.Name, fact.ByObject{To: c.to})
		if seen == is.Wrong {
			finding.Confidence = record.Certain
		}
		if c.to.Addr().Is4() {
			finding.Fixed(fix.Without(routeBy(c.host, c.to, c.hops, ownWeight)))
		}
	}
	return finding
}

// sourceRoutes returns such routes for the flows that hosts opened to send.
func sourceRoutes(f facts.Trial) []*sourceRoute {
	var list []*sourceRoute
	for _, flow := range f.Trial.Flows {
		h := f.Host(flow.From)
		if h == nil || flow.OpenedBy != flow.From || !flow.Placed() || len(flow.Path) == 0 {
			continue
		}
		first := flow.Ends()[0]
		source := flow.SourceAddr()
		to, hops := h.Route(flow.DestinationAddr())
		if first.Node != h.Name || len(hops) < 2 || slices.ContainsFunc(hops, func(hop netstate.RouteNexthop) bool {
			return !numbered(h, hop)
		}) {
			continue
		}
		own := h.Holder(source)
		if own == nil || !slices.ContainsFunc(hops, func(hop netstate.RouteNexthop) bool {
			return hop.Interface == own.Name && reaches(own, source, hop)
		}) {
			continue
		}
		at := slices.IndexFunc(list, func(c *sourceRoute) bool { return c.host == h && c.to == to })
		if at < 0 {
			at, list = len(list), append(list, &sourceRoute{host: h, to: to, hops: hops, object: h.Object(to) != 0})
		}
		list[at].add(sourcePair{source: source, own: own.Name, left: first.Interface}, len(flow.Observed) > 0)
	}
	return list
}

func (c *sourceRoute) add(p sourcePair, seen bool) {
	at := slices.IndexFunc(c.pairs, func(o sourcePair) bool { return o.source == p.source && o.left == p.left })
	if at < 0 {
		at, c.pairs = len(c.pairs), append(c.pairs, p)
	}
	c.pairs[at].flows++
	if seen {
		c.pairs[at].seen++
	}
}

// numbered reports whether the next hop is in a subnet of its own interface and of no other one.
// With an address of a subnet that interfaces share, any of them is right.
func numbered(h *facts.Host, hop netstate.RouteNexthop) bool {
	via, err := netip.ParseAddr(hop.Via)
	if err != nil || via.IsLinkLocalUnicast() {
		return false
	}
	out := h.Interface(hop.Interface)
	return out != nil && slices.Equal(h.OnSubnet(via, out.VRF), []*facts.Interface{out})
}

// reaches reports whether the interface has the address in the subnet of the next hop. Link-local
// addresses do not count, because every interface has such a subnet.
func reaches(p *facts.Interface, address netip.Addr, hop netstate.RouteNexthop) bool {
	via, err := netip.ParseAddr(hop.Via)
	return err == nil && !address.IsLinkLocalUnicast() && slices.ContainsFunc(p.Prefixes, func(x netip.Prefix) bool {
		return x.Addr() == address && x.Contains(via)
	})
}

// rules returns the settings that send packets from each mismatched address by its own link. They
// use tables that the host does not use yet.
func (c *sourceRoute) rules() (settings []setting.Setting) {
	table := 100
	var done []netip.Addr
	for _, p := range c.pairs {
		i := slices.IndexFunc(c.hops, func(hop netstate.RouteNexthop) bool { return hop.Interface == p.own })
		if p.own == p.left || i < 0 || slices.Contains(done, p.source) {
			continue
		}
		done = append(done, p.source)
		for table++; c.host.UsesTable(table); table++ {
		}
		route := routeBy(c.host, c.to, c.hops[i:i+1], ownWeight)
		route[0].Route.Table = table
		settings = append(append(settings, route...), setting.Setting{Host: c.host.Name,
			Rule: &setting.Rule{From: p.source.String(), Table: table}})
	}
	return settings
}
