// Package multipath has the rules about flows that a hash spreads over the next hops of a route or the ports of a
// bond.
package multipath

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/fix"
	"linerate/internal/science/diagnose/rule"
	"linerate/internal/science/diagnose/said"
)

// A route with several next hops sends each flow by one of them, which a hash
// decides. Flows that are alike in what is hashed share a link, and a hash leaves
// links idle where it has little to place.
const (
	hashReference  = "Linux Documentation/networking/ip-sysctl.rst (fib_multipath_hash_policy); RFC 2992"
	neighReference = "Linux Documentation/networking/ip-sysctl.rst (fib_multipath_use_neigh, ignore_routes_with_linkdown)"
)

// Rules are about routes with several next hops.
var Rules = []rule.Rule{
	{ID: "ecmp-l3-hash",
		About: "Flows leave some next hops unused, because the hash has no ports: there are fewer distinct hashes than next hops. Needs a run.",
		Find:  rule.Each(multipaths, ecmpL3Hash)},
	{ID: "ecmp-few-flows",
		About: "There are so few flows that chance leaves a next hop without any with a probability of at least 1 %. Needs a run.",
		Find:  rule.Each(multipaths, ecmpFewFlows)},
	{ID: "ecmp-polarization",
		About: "A router behind one with the same hash policy uses so few of its links that chance would with a probability below 1 %. Needs a run.",
		Find:  rule.Each(multipaths, ecmpPolarization)},
	{ID: "ecmp-weight-mismatch",
		About: "A link's share of the weights is more than 10 percentage points above its share of the rates, and it is at least 85 % full while another is not. Needs a run.",
		Find:  rule.Each(multipaths, ecmpWeightMismatch)},
	{ID: "ecmp-dead-nexthop",
		About: "Flows by a next hop that does not answer or whose interface is down cannot connect or receive nothing; certain when others by that route do. Needs a measurement.",
		Find:  rule.Each(rule.EveryHost, ecmpDeadNexthop), SameCause: sameKindOfRoute},
	{ID: "ecmp-source-mismatch",
		About: "Flows left by an interface other than the one in whose subnet their source address is. Needs a measurement.",
		Find:  rule.Each(sourceRoutes, ecmpSourceMismatch)},
}

// sameKindOfRoute reports whether two dead next hops are both of routes, or both of
// groups of nexthop objects, which need another fix.
func sameKindOfRoute(a, b record.Finding) bool {
	kind := func(f record.Finding) string {
		if len(f.Settings) == 0 {
			return ""
		}
		return f.Settings[0].Kind()
	}
	return kind(a) == kind(b)
}

// improbable is a chance at which the hash is no longer believed to be at work.
const improbable = 0.01

// ecmpL3Hash finds hosts whose hash leaves out the ports, so that flows between fewer
// pairs of addresses than there are links leave links unused.
func ecmpL3Hash(f facts.Trial, k *multipath) *record.Finding {
	n, known := k.placements()
	used := len(k.used())
	if !known || n >= len(k.flows) || used >= len(k.hops) || n >= len(k.hops) || !f.HeldBack() {
		return nil
	}
	policy := fix.Set(k.host, "net."+k.family()+".fib_multipath_hash_policy", "1")
	return &record.Finding{
		Host: k.host.Name, Confidence: k.confidence(),
		Summary: fmt.Sprintf(
			"%s hashes by addresses alone, and so sends all flows between two addresses by one of %d links",
			k.host.Name, len(k.hops)),
		Evidence: []string{
			k.shares(),
			fmt.Sprintf("they have %s of addresses", unit.Plural(k.pairs(), "pair")),
			k.rule(),
		},
		Fix:       fix.Commands(k.host, policy),
		Settings:  policy,
		Reference: hashReference,
	}
}

// ecmpFewFlows finds hosts that hash too few flows for every link to be used.
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
	evidence := []string{k.shares(), fmt.Sprintf("so many flows use no more than %d of %d links with a chance of %s",
		used, len(k.hops), facts.Percent(chance)), k.rule()}
	fix := []string{
		"open the flows from ports for which the kernel names different links: source_ports: even in a study; ip route get … ipproto tcp sport … dport …"}
	if enough, ok := links.FlowsToUseAll(0.95); ok {
		fix = append([]string{fmt.Sprintf(
			"more flows at a time: with %d, every link is used with a chance of 95 %% (linerate limits ecmp --links %d --flows %d)",
			enough, len(k.hops), enough)}, fix...)
	}
	return &record.Finding{
		Host: k.host.Name, Confidence: k.confidence(),
		Summary: fmt.Sprintf("%s has too few flows to use all of %d links: where each goes is chance", k.host.Name,
			len(k.hops)),
		Evidence: evidence, Fix: fix, Reference: hashReference,
	}
}

// ecmpPolarization finds routers that hash as a host before them on the path does:
// the flows that reach them all have the same hash.
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
		return o.host != k.host && slices.Contains(k.flows[0].before, o.host.Name) && o.rule() != "" &&
			strings.TrimPrefix(o.rule(), o.host.Name) == strings.TrimPrefix(k.rule(), k.host.Name)
	})
	if before < 0 {
		return nil
	}
	first := routes[before].host.Name
	// A seed of its own for each host: its place among them.
	seed := fix.Set(k.host, "net."+k.family()+".fib_multipath_hash_policy", "3", "net."+k.family()+
		".fib_multipath_hash_fields", "55",
		"net.ipv4.fib_multipath_hash_seed", strconv.Itoa(slices.Index(f.Hosts, k.host)+1))
	return &record.Finding{
		Host: k.host.Name, Confidence: k.confidence(),
		Summary: fmt.Sprintf(
			"%s chooses among links by the same hash as %s before it, so that the flows that reach it are all alike to it", k.host.Name, first),
		Evidence: []string{
			k.shares(),
			fmt.Sprintf("by chance %s would use no more than %d of %d links once in %.0f times", unit.Plural(n, "flow"),
				used, len(k.hops), 1/max(chance, 1e-12)),
			routes[before].rule(), k.rule(),
		},
		Fix:       append(fix.Commands(k.host, seed), "each router needs another seed (Linux 6.11 or newer)"),
		Settings:  seed,
		Reference: hashReference + "; RFC 2991",
	}
}

// ecmpWeightMismatch finds next hops whose weights are not in proportion to their
// links' rates.
func ecmpWeightMismatch(f facts.Trial, k *multipath) *record.Finding {
	const off, full = 0.1, 0.85
	weights, rates := 0.0, 0.0
	for _, hop := range k.hops {
		weights += float64(hop.Weight)
		rates += rate(f, k, hop.Interface)
	}
	var over, idle []string // what each next hop is over- and underweighted by
	for _, hop := range k.hops {
		rate := rate(f, k, hop.Interface)
		if rate == 0 {
			rates = 0
			break
		}
		load := k.host.Deltas[hop.Interface].TxBps() / rate
		gets, has := float64(hop.Weight)/weights, rate/rates
		text := fmt.Sprintf("%s gets %s of the flows with %s of the rate, and is %s full", k.host.Name+"."+
			hop.Interface, facts.Percent(gets), facts.Percent(has), facts.Percent(load))
		switch {
		case gets-has > off && load >= full:
			over = append(over, text)
		case has-gets > off && load < full:
			idle = append(idle, text)
		}
	}
	if rates == 0 || len(over) == 0 || len(idle) == 0 || !f.HeldBack() {
		return nil
	}
	weighed := reweighed(f, k)
	return &record.Finding{
		Host: k.host.Name, Confidence: record.Certain,
		Summary: fmt.Sprintf(
			"%s spreads flows over links of different rates without regard to that: the slow one is full while the fast one has room", k.host.Name),
		Evidence:  append(append(over, idle...), k.rule()),
		Fix:       fix.Commands(k.host, weighed),
		Settings:  weighed,
		Reference: "Linux ip-route(8) (nexthop … weight); RFC 2992",
	}
}

// reweighed gives next hops weights by their links' rates.
func reweighed(f facts.Trial, k *multipath) []setting.Setting {
	slowest := 0.0
	for _, hop := range k.hops {
		if rate := rate(f, k, hop.Interface); slowest == 0 || rate < slowest {
			slowest = rate
		}
	}
	return routeBy(k.host, k.to, k.hops, func(hop record.RouteNexthop) int {
		// Weights are 1 to 256; four steps to the slowest link are fine enough.
		return min(256, max(1, int(4*rate(f, k, hop.Interface)/slowest+0.5)))
	})
}

// routeBy is a route of the host's by these next hops, with weights if there are several.
func routeBy(h *facts.Host, to netip.Prefix, hops []record.RouteNexthop,
	weight func(record.RouteNexthop) int) []setting.Setting {
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

// ownWeight is the weight that a next hop has.
func ownWeight(hop record.RouteNexthop) int { return max(hop.Weight, 1) }

// ecmpDeadNexthop finds next hops that do not answer and still get their share of the
// flows.
func ecmpDeadNexthop(f facts.Trial, h *facts.Host) *record.Finding {
	var evidence []string
	var dead record.RouteNexthop
	var live []record.RouteNexthop
	var to netip.Prefix
	fine, stopped := 0, 0
	for _, flow := range f.Trial.Flows {
		destination := flow.DestinationAddr()
		prefix, hops := h.Route(destination)
		if len(hops) < 2 || flow.From != h.Name && flow.Connected &&
			!slices.ContainsFunc(flow.Ends(), func(end topology.End) bool { return end.Node == h.Name }) {
			continue
		}
		at := slices.IndexFunc(hops, func(hop record.RouteNexthop) bool { return unanswered(h, hop, destination) })
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
		live = slices.DeleteFunc(slices.Clone(hops), func(hop record.RouteNexthop) bool {
			return unanswered(h, hop, destination)
		})
		if late >= 0 {
			evidence = append(evidence, said.SilenceOf(flow, flow.Outages[late]))
		} else if flow.Error != "" {
			evidence = append(evidence, fmt.Sprintf("flow %s to %s: %s", flow.ID, destination, flow.Error))
		} else {
			evidence = append(evidence, fmt.Sprintf("flow %s to %s received nothing", flow.ID, destination))
		}
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
	confidence := record.Likely
	if fine > 0 && (object == 0 || known) {
		confidence = record.Certain
	}
	state := fmt.Sprintf("%s: the next hop %s of %s by %s does not answer", h.Name, dead.Via, to, dead.Interface)
	if dead.Down {
		state = fmt.Sprintf("%s: the next hop %s of %s is behind %s, which is down", h.Name, dead.Via, to,
			dead.Interface)
	}
	evidence = append([]string{state, fmt.Sprintf("%s got through, %s did not", unit.Plural(fine, "flow"),
		unit.Plural(stopped, "flow"))}, evidence...)
	summary := fmt.Sprintf(
		"%s still sends a share of its flows to a next hop on %s that does not answer ARP or neighbour discovery",
		h.Name, dead.Interface)
	var settings, without []setting.Setting
	if len(live) > 0 {
		without = routeBy(h, to, live, ownWeight)
	}
	var how []string
	switch {
	case object != 0:
		if known {
			settings = groupWithout(f, h, group, dead.Interface)
		}
		ordinary := "an ordinary group instead of a resilient one: it looks whether its next hops answer"
		if !known {
			summary = fmt.Sprintf("if its group of nexthop objects is resilient, %s", summary)
			ordinary = fmt.Sprintf("if the group is resilient (ip nexthop show id %d), %s", object, ordinary)
		}
		how = fix.Commands(h, settings)
		if len(settings) == 0 {
			how = said.On(h.Name, h.Alone,
				fmt.Sprintf("ip nexthop replace id %d with a group without the next hop by %s",
					object, dead.Interface))
		}
		how = append(how, "or "+said.On(h.Name, h.Alone, ordinary)[0])
	case to.Addr().Is4():
		settings = fix.Set(h, "net.ipv4.fib_multipath_use_neigh", "1", "net.ipv4.conf.all.ignore_routes_with_linkdown",
			"1")
		how = fix.Commands(h, settings)
		for _, line := range fix.Commands(h, without) {
			how = append(how, "or, without the next hop: "+line)
		}
	default:
		settings, how = without, fix.Commands(h, without)
		if len(without) == 0 {
			how = said.On(h.Name, h.Alone, fmt.Sprintf("another route to %s: none of its next hops answers", to))
		}
	}
	return &record.Finding{
		Host: h.Name, Confidence: confidence,
		Summary:  summary,
		Evidence: evidence, Fix: how, Settings: settings, Reference: neighReference,
	}
}

// groupWithout is a group without its members by an interface; none: it has no other ones, or
// a member is not known.
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

// unanswered: a next hop's address could not be resolved, or its interface is down.
func unanswered(h *facts.Host, hop record.RouteNexthop, destination netip.Addr) bool {
	if hop.Down {
		return true
	}
	address := hop.Via
	if address == "" {
		address = destination.String()
	}
	// The table at the end counts: at the beginning it may have answered still.
	i := slices.IndexFunc(h.Entries(), func(n record.Neighbour) bool {
		return n.Interface == hop.Interface &&
			n.Address == address
	})
	return i >= 0 && !facts.Resolved(h.Entries()[i])
}
