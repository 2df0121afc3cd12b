package wording

import (
	"cmp"
	"fmt"
	"strings"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/hint"
	"linerate/internal/model/record"
)

var _ = later(func() {
	say(cause.SameSubnetOneEgress, words[cause.Egress]{read: "Linux ip-rule(8), ip-route(8); RFC 3704 section 4.3",
		found: "Flows leave by another interface of the subnet than the one with their source address; certain " +
			"when the interfaces' counters agree. Needs a measurement.",
		summary: func(f record.Finding, a cause.Egress) string {
			return fmt.Sprintf("%s sends by %s whatever the source address, because its interfaces share a subnet "+
				"and no rule routes by source",
				f.Host, a.Interface)
		}})
	say(cause.GatewayUnresolved, words[cause.Gateway]{read: "RFC 1122, section 3.3.1; ip-neighbour(8)",
		found: "A gateway of a route is FAILED or INCOMPLETE in the neighbour table.",
		summary: func(_ record.Finding, a cause.Gateway) string {
			return fmt.Sprintf("the gateway %s does not answer on %s", a.Gateway, a.Interface)
		},
		fixed: func(_ record.Finding, a cause.Gateway) []string {
			return []string{fmt.Sprintf(
				"check that the gateway has this address and is on this link (arping %s), or correct the route",
				a.Gateway)}
		}})
	say(cause.GatewayOffLink, words[cause.Gateway]{read: "RFC 1122, section 3.3.1; ip-route(8)",
		found: "A gateway of a route is in no subnet of the interface, and no other route leads to it there.",
		summary: func(_ record.Finding, a cause.Gateway) string {
			return fmt.Sprintf("the gateway %s is in no subnet of %s", a.Gateway, a.Interface)
		},
		fix: []string{"correct the gateway's address or the prefix length of the interface's"}})
	say(cause.BlackholeRoute, words[cause.None]{text: "routes discard packets on purpose", read: "ip-route(8)",
		found: "A route of type blackhole, unreachable, prohibit or throw, those of the kernel and default routes " +
			"of last resort (a metric of 4278190080 and more, as a VRF has) left out; likely if no daemon made it.",
		fix: []string{"ip route del with the line, if the destination is to be reached"}})
	say(cause.ReturnRouteMissing, words[cause.Back]{read: "RFC 1812, section 5.2; ip-route(8)",
		found: "A connection of one host waits for an answer of another one, which has no route back to its " +
			"address, or one that discards. Needs the snapshots of both.",
		summary: func(f record.Finding, a cause.Back) string {
			return fmt.Sprintf("%s has no route back to %s: what %s sends arrives, and the answers do not leave",
				f.Host,
				a.To, a.Host)
		}})
	say(cause.NexthopDead, words[cause.Group]{
		read: "ip-nexthop(8); Linux Documentation/networking/nexthop-group-resilient.rst",
		found: "A group of nexthop objects has a member that is dead, without link or discarding, or whose gateway " +
			"is FAILED or INCOMPLETE in the neighbour table; certain where the group is resilient, which sends to " +
			"it all the same.",
		summary: func(_ record.Finding, a cause.Group) string {
			return fmt.Sprintf("group %d of nexthop objects has members by which nothing gets through", a.ID)
		},
		fixed: func(f record.Finding, a cause.Group) []string {
			if len(f.Steps) > 0 {
				return []string{"see why the gateway does not answer; meanwhile the group without it:", theSteps}
			}
			return []string{fmt.Sprintf(
				"see why the gateway does not answer; meanwhile ip nexthop replace id %d group with members that do",
				a.ID)}
		}})
	say(cause.RuleWithoutRoutes, words[cause.None]{read: "ip-rule(8)",
		text:  "routing rules have no effect: their tables are empty",
		found: "A routing rule for some sources or destinations leads to a table that has no routes.",
		fix: []string{
			"ip route add … table N with the routes that are missing (they go with their interface when it is set " +
				"down), or ip rule del"}})
	say(cause.RulesMany, words[cause.None]{read: "ip-rule(8)",
		text:  "there are many routing rules, and each lookup that is not cached goes through them in order",
		found: "There are more than 100 routing rules, through which each lookup goes in order.",
		fix:   []string{"fewer rules with longer tables, or a VRF for each group"}})

	spell(func(_ string, r fact.Route) string {
		switch r.Is {
		case fact.Discarding:
			return fmt.Sprintf("table %d: %s", r.Table, r.Route)
		case fact.ByGroup:
			return "route by it: " + r.Route
		case fact.WayBack:
			return "its route: " + r.Route
		}
		return "route: " + r.Route
	})
	spell(func(_ string, a fact.Addresses) string {
		return fmt.Sprintf("%s: %s", a.Interface, cmp.Or(some(texts(a.Addresses)), "no address"))
	})
	spell(func(host string, w fact.Waiting) string {
		return fmt.Sprintf("%s waits for an answer: %s to %s, SYN-SENT, sent again %d times", host, w.Local, w.Remote,
			w.Again)
	})
	spell(func(_ string, r fact.Routeless) string { return "its routes have none for " + r.To.String() })
	spell(func(_ string, m fact.DeadMember) string {
		why := fmt.Sprintf("its gateway %s on %s is %s", m.Gateway, m.Interface, m.State)
		if m.Flag != "" {
			why = strings.TrimSpace("it has the flag " + m.Flag + " " + m.Interface)
		}
		return fmt.Sprintf("member %d of group %d (weight %d): %s", m.ID, m.Group, m.Weight, why)
	})
	spell(func(_ string, d fact.DeadShare) string {
		does := "the group leaves it out only while it is known that it does not answer"
		if d.Lost {
			does = "what is hashed to it is lost"
		}
		return fmt.Sprintf("that is %s of the weights; %s", percent(d.Share), does)
	})
	spell(func(_ string, r fact.Rule) string {
		text := fmt.Sprintf("%d: from %s %s lookup %d", r.Priority, r.From, r.To, r.Table)
		return strings.Join(strings.Fields(text), " ") + ", which has no routes"
	})
	spell(func(_ string, r fact.Rules) string { return fmt.Sprintf("%d rules", r.Count) })
	spell(func(host string, l fact.Leaving) string {
		var sources []string
		for _, s := range l.Sources {
			sources = append(sources, fmt.Sprintf("%s (%s)", s.Address, s.Interface))
		}
		return fmt.Sprintf("packets from %s to %s leave by %s.%s (route lookup on %s)", some(sources),
			some(texts(l.Destinations)), host, l.Interface, host)
	})
	spell(func(host string, s fact.Sent) string {
		var shares []string
		for i, by := range s.By {
			share := "%s.%s sent %s of the traffic, though %s came from its address"
			if i > 0 {
				share = "%s.%s %s, though %s"
			}
			shares = append(shares, fmt.Sprintf(share, host, by.Interface, percent(by.Sent), percent(by.Meant)))
		}
		return strings.Join(shares, "; ")
	})

	advise(func(a hint.AddRoute) string {
		text := fmt.Sprintf("ip route add %s via GATEWAY; to confirm: ip route get %s", a.To, a.To)
		if a.Discard != "" {
			text = "ip route del " + a.Discard + ", if all that it discards is to be reached; or " + text
		}
		return text
	})
})
