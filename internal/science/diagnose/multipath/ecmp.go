// Package multipath has the rules about flows that a hash spreads over the next hops of a route
// (ECMP) or the members of a bond.
package multipath

import (
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/hint"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/topology"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/fix"
	"linerate/internal/science/diagnose/rule"
)

// A route with several next hops sends each flow by one of them, chosen by a hash. Flows with the
// same hashed fields share a link, and with few flows some links stay idle.

// Rules are about routes with several next hops.
var Rules = []rule.Rule{
	{ID: cause.ECMPL3Hash.Code, Find: rule.Each(multipaths, ecmpL3Hash)},
	{ID: cause.ECMPFewFlows.Code, Find: rule.Each(multipaths, ecmpFewFlows)},
	{ID: cause.ECMPPolarization.Code, Find: rule.Each(multipaths, ecmpPolarization)},
	{ID: cause.ECMPWeightMismatch.Code, Find: rule.Each(multipaths, ecmpWeightMismatch)},
	{ID: cause.ECMPDeadNexthop.Code, Find: rule.Each(rule.EveryHost, ecmpDeadNexthop)},
	{ID: cause.ECMPSourceMismatch.Code, Find: rule.Each(sourceRoutes, ecmpSourceMismatch)},
}

// improbable is the probability below which chance no longer explains how few links are used.
const improbable = 0.01

// ecmpL3Hash finds hosts whose hash does not include ports, so that links stay unused because the
// flows have fewer different pairs of addresses than there are links.
func ecmpL3Hash(f facts.Trial, k *multipath) *record.Finding {
	n, known := k.placements()
	used := len(k.used())
	if !known || n >= len(k.flows) || used >= len(k.hops) || n >= len(k.hops) || !f.HeldBack() {
		return nil
	}
	return facts.Found(cause.ECMPL3Hash, k.host, k.confidence(), cause.Links{Links: len(k.hops)}).
		With(k.host.Name, k.placed(), fact.Pairs{Pairs: k.pairs()}).With(k.host.Name, k.rule()...).
		Fixed(fix.Parameter(k.host, "net."+k.family()+".fib_multipath_hash_policy", "1")...)
}

// ecmpFewFlows finds hosts that hash too few flows to use every link.
func ecmpFewFlows(f facts.Trial, k *multipath) *record.Finding {
	n, known := k.placements()
	used := len(k.used())
	if !known || n < len(k.flows) && n < len(k.hops) || used >= len(k.hops) || !f.HeldBack() {
		return nil
	}
	links := k.links()
	chance, ok := links.UsedAtMost(n, used)
	if !ok || chance < improbable {
		return nil
	}
	finding := facts.Found(cause.ECMPFewFlows, k.host, k.confidence(), cause.Links{Links: len(k.hops)}).
		With(k.host.Name, k.placed(), fact.Chance{Used: used, Of: len(k.hops), P: chance}).
		With(k.host.Name, k.rule()...)
	if enough, ok := links.FlowsToUseAll(0.95); ok {
		finding.Fixed(record.Advice("", hint.MoreFlows{Flows: enough, Links: len(k.hops)}))
	}
	return finding
}

// ecmpPolarization finds routers that hash in the same way as a host before them on the path, so
// that all flows that reach them have the same hash.
func ecmpPolarization(f facts.Trial, k *multipath) *record.Finding {
	n, known := k.placements()
	used := len(k.used())
	if !known || used >= len(k.hops) {
		return nil
	}
	chance, ok := k.links().UsedAtMost(n, used)
	if !ok || chance >= improbable {
		return nil
	}
	routes := multipaths(f)
	before := slices.IndexFunc(routes, func(o *multipath) bool {
		return o.host != k.host && slices.Contains(k.flows[0].before, o.host.Name) && o.rule() != nil &&
			reflect.DeepEqual(o.rule(), k.rule())
	})
	if before < 0 {
		return nil
	}
	first := routes[before]
	// A seed of its own for each host: its place among them.
	return facts.Found(cause.ECMPPolarization, k.host, k.confidence(), cause.Before{Host: first.host.Name}).
		With(k.host.Name, k.placed(), fact.Chance{Flows: n, Used: used, Of: len(k.hops), P: chance}).
		With(first.host.Name, first.rule()...).With(k.host.Name, k.rule()...).
		Fixed(fix.Parameter(k.host, "net."+k.family()+".fib_multipath_hash_policy", "3", "net."+k.family()+
			".fib_multipath_hash_fields", "55", "net.ipv4.fib_multipath_hash_seed",
			strconv.Itoa(slices.Index(f.Hosts, k.host)+1))...)
}

// ecmpWeightMismatch finds next hops whose weights are not in proportion to the rates of their
// links.
func ecmpWeightMismatch(f facts.Trial, k *multipath) *record.Finding {
	const off, full = 0.1, 0.85
	weights, rates := 0.0, 0.0
	for _, hop := range k.hops {
		weights += float64(hop.Weight)
		rates += rate(f, k, hop.Interface)
	}
	var over, idle []any // what each next hop is over- and underweighted by
	for _, hop := range k.hops {
		rate := rate(f, k, hop.Interface)
		if rate == 0 {
			rates = 0
			break
		}
		load := k.host.Deltas[hop.Interface].TxBps() / rate
		gets, has := float64(hop.Weight)/weights, rate/rates
		is := fact.Weighted{Interface: hop.Interface, Flows: gets, Rate: has, Load: load}
		switch {
		case gets-has > off && load >= full:
			over = append(over, is)
		case has-gets > off && load < full:
			idle = append(idle, is)
		}
	}
	if rates == 0 || len(over) == 0 || len(idle) == 0 || !f.HeldBack() {
		return nil
	}
	return facts.Found(cause.ECMPWeightMismatch, k.host, record.Certain, cause.None{}).
		With(k.host.Name, append(over, idle...)...).With(k.host.Name, k.rule()...).
		Fixed(record.Settings(reweighed(f, k)...)...)
}

// reweighed returns the route with weights in proportion to the rates of the links.
func reweighed(f facts.Trial, k *multipath) []setting.Setting {
	slowest := 0.0
	for _, hop := range k.hops {
		if rate := rate(f, k, hop.Interface); slowest == 0 || rate < slowest {
			slowest = rate
		}
	}
	return routeBy(k.host, k.to, k.hops, func(hop netstate.RouteNexthop) int {
		// Weights are 1 to 256; four steps to the slowest link are fine enough.
		return min(256, max(1, int(4*rate(f, k, hop.Interface)/slowest+0.5)))
	})
}

// routeBy returns the host's route to a destination by the given next hops, with weights if there
// are several.
func routeBy(h *facts.Host, to netip.Prefix, hops []netstate.RouteNexthop,
	weight func(netstate.RouteNexthop) int) []setting.Setting {
	route := setting.Route{To: to.String(), Metric: h.Metric(to)}
	for _, hop := range hops {
		next := setting.Nexthop{Interface: hop.Interface, Weight: weight(hop)}
		if via, err := netip.ParseAddr(hop.Via); err == nil {
			if next.Via = hop.Via; via.Is6() && to.Addr().Is4() {
				next.Via = "inet6 " + hop.Via
			}
		}
		route.Nexthops = append(route.Nexthops, next)
	}
	if len(hops) == 1 {
		route.Via, route.Interface, route.Nexthops = route.Nexthops[0].Via, route.Nexthops[0].Interface, nil
	}
	return []setting.Setting{{Host: h.Name, Route: &route}}
}

// ownWeight returns the weight that a next hop has now, at least 1.
func ownWeight(hop netstate.RouteNexthop) int { return max(hop.Weight, 1) }

// ecmpDeadNexthop finds next hops that do not answer but still get their share of the flows.
func ecmpDeadNexthop(f facts.Trial, h *facts.Host) *record.Finding {
	var flows []fact.Fact
	var dead netstate.RouteNexthop
	var live []netstate.RouteNexthop
	var to netip.Prefix
	fine, stopped := 0, 0
	for _, flow := range f.Trial.Flows {
		destination := flow.DestinationAddr()
		prefix, hops := h.Route(destination)
		if len(hops) < 2 || flow.From != h.Name && flow.Connected &&
			!slices.ContainsFunc(flow.Ends(), func(end topology.End) bool { return end.Node == h.Name }) {
			continue
		}
		at := slices.IndexFunc(hops, func(hop netstate.RouteNexthop) bool { return unanswered(h, hop, destination) })
		if at < 0 {
			continue
		}
		late := slices.IndexFunc(flow.Outages, func(o record.Outage) bool { return o.Withdrawn && !o.Resumed })
		if flow.Connected && flow.ReceivedBytes > 0 && late < 0 {
			fine++
			continue
		}
		stopped++
		dead, to = hops[at], prefix
		live = slices.DeleteFunc(slices.Clone(hops), func(hop netstate.RouteNexthop) bool {
			return unanswered(h, hop, destination)
		})
		var is any = fact.StoppedFlow{Flow: flow.ID, To: destination, Error: flow.Error}
		if late >= 0 {
			is = facts.Silence(flow, flow.Outages[late])
		}
		flows = append(flows, fact.Fact{Host: h.Name, Is: is})
	}
	ignored := strings.TrimSpace(h.Reading.Snapshot.Sysctls["net.ipv4.fib_multipath_use_neigh"]) == "1" &&
		to.Addr().Is4()
	// The parameter does not reach groups: an ordinary one always looks whether its
	// next hops answer, and a resilient one never.
	object := h.Object(to)
	group, known := f.Object(h, object)
	if stopped == 0 || object == 0 && ignored || known && group.Resilient == nil {
		return nil
	}
	args := cause.DeadNexthop{Interface: dead.Interface, Object: object, Unknown: object != 0 && !known}
	finding := facts.Found(cause.ECMPDeadNexthop, h, record.Likely, args)
	if fine > 0 && (object == 0 || known) {
		finding.Confidence = record.Certain
	}
	finding.With(h.Name, fact.DeadHop{To: to, Via: dead.Via, Interface: dead.Interface, Down: dead.Down},
		fact.Through{Fine: fine, Stopped: stopped})
	finding.Facts = append(finding.Facts, flows...)
	finding.About.Route = to
	var without []setting.Setting
	if len(live) > 0 {
		without = routeBy(h, to, live, ownWeight)
	}
	switch {
	case object != 0:
		ordinary := hint.OrdinaryGroup{Object: object}
		if known {
			ordinary.Object = 0
			if settings := groupWithout(f, h, group, dead.Interface); settings != nil {
				args.Remedy = cause.OtherMembers
				finding.Fixed(record.Settings(settings...)...)
			}
		}
		step := record.Advice(h.Name, ordinary)
		step.Instead = true
		finding.Fixed(step)
	case to.Addr().Is4():
		args.Remedy = cause.NeighbourState
		finding.Fixed(fix.Parameter(h, "net.ipv4.fib_multipath_use_neigh", "1",
			"net.ipv4.conf.all.ignore_routes_with_linkdown", "1")...)
		if without != nil {
			finding.Fixed(fix.Without(without))
		}
	case without != nil:
		args.Remedy = cause.OtherHops
		finding.Fixed(record.Settings(without...)...)
	}
	finding.Args = args
	return finding
}

// groupWithout returns the setting of a group without its members by an interface; none if no other
// member is left, or if a member is not known.
func groupWithout(f facts.Trial, h *facts.Host, group *setting.NexthopObject, dead string) []setting.Setting {
	rest := *group
	rest.Group = nil
	for _, member := range group.Group {
		hop, known := f.Object(h, member.ID)
		if !known {
			return nil
		}
		if hop.Interface != dead {
			rest.Group = append(rest.Group, member)
		}
	}
	if len(rest.Group) == 0 {
		return nil
	}
	return []setting.Setting{{Host: h.Name, Nexthop: &rest}}
}

// unanswered reports whether the address of a next hop could not be resolved, or its interface is
// down.
func unanswered(h *facts.Host, hop netstate.RouteNexthop, destination netip.Addr) bool {
	if hop.Down {
		return true
	}
	address := hop.Via
	if address == "" {
		address = destination.String()
	}
	// The table at the end counts: at the beginning it may have answered still.
	i := slices.IndexFunc(h.Entries(), func(n netstate.Neighbour) bool {
		return n.Interface == hop.Interface &&
			n.Address == address
	})
	return i >= 0 && !facts.Resolved(h.Entries()[i])
}
