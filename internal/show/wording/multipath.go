package wording

import (
	"fmt"

	"linerate/internal/model/cause"
	"linerate/internal/model/device"
	"linerate/internal/model/fact"
	"linerate/internal/model/hint"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

const hashReference = ipSysctl + " (fib_multipath_hash_policy); RFC 2992"

var _ = later(func() {
	say(cause.ECMPL3Hash, words[cause.Links]{read: hashReference,
		found: "Flows leave some next hops unused, because the hash has no ports: there are fewer distinct hashes " +
			"than next hops. Needs a run.",
		summary: func(f record.Finding, a cause.Links) string {
			return fmt.Sprintf("%s hashes by addresses alone, and so sends all flows between two addresses by one "+
				"of %d links",
				f.Host, a.Links)
		}})
	say(cause.ECMPFewFlows, words[cause.Links]{read: hashReference, anywhere: true,
		found: "There are so few flows that chance leaves a next hop without any with a probability of at least 1 " +
			"%. Needs a run.",
		summary: func(f record.Finding, a cause.Links) string {
			return fmt.Sprintf("%s has too few flows to use all of %d links: where each goes is chance",
				f.Host, a.Links)
		},
		fix: []string{theSteps,
			"open the flows from ports for which the kernel names different links: source_ports: even in a study; " +
				"ip route get … ipproto tcp sport … dport …"}})
	say(cause.ECMPPolarization, words[cause.Before]{read: hashReference + "; RFC 2991", anywhere: true,
		found: "A router behind one with the same hash policy uses so few of its links that chance would with a " +
			"probability below 1 %. Needs a run.",
		summary: func(f record.Finding, a cause.Before) string {
			return fmt.Sprintf(
				"%s chooses among links by the same hash as %s before it, so that the flows that reach it are all "+
					"alike to it",
				f.Host, a.Host)
		},
		fix: []string{theSteps, "each router needs another seed (Linux 6.11 or newer)"}})
	say(cause.ECMPWeightMismatch, words[cause.None]{read: "Linux ip-route(8) (nexthop … weight); RFC 2992",
		found: "A link's share of the weights is more than 10 percentage points above its share of the rates, and " +
			"it is at least 85 % full while another is not. Needs a run.",
		summary: func(f record.Finding, _ cause.None) string {
			return f.Host +
				" spreads flows over links of different rates without regard to that: the slow one is full while " +
				"the fast one has room"
		}})
	say(cause.ECMPDeadNexthop, words[cause.DeadNexthop]{summary: deadNexthop, fixed: deadNexthopFix,
		read: ipSysctl + " (fib_multipath_use_neigh, ignore_routes_with_linkdown)",
		found: "Flows by a next hop that does not answer or whose interface is down cannot connect or receive " +
			"nothing; certain when others by that route do. Needs a measurement.",
		instead: func(a cause.DeadNexthop) string {
			if a.Object != 0 {
				return "or "
			}
			return "or, without the next hop: "
		}})
	say(cause.ECMPSourceMismatch, words[cause.None]{anywhere: true,
		read: "Linux net/ipv4/fib_semantics.c (fib_select_multipath); ip-nexthop(8); RFC 3704",
		found: "Flows left by an interface other than the one in whose subnet their source address is. Needs a " +
			"measurement.",
		summary: func(f record.Finding, _ cause.None) string {
			return f.Host +
				" sends flows with the source address of one link over another: responses come back over the " +
				"first, and strict reverse-path filters drop packets"
		},
		fix: []string{"bind each flow to an address, and have a rule and a table for each:", theSteps},
		instead: func(cause.None) string {
			return "or a route with next hops of its own, which keeps to the flow's address (Linux 6.16): "
		}})
	say(cause.LACPApart, words[cause.None]{
		summary: about("DEV does not aggregate: LACP left members out of its active aggregator, which carry nothing"),
		fix: []string{"the switch's ports of these members: in one LACP group, active or passive, with one speed " +
			"and key",
			"a member that LACP does not reach: take it out and add it again while its link is up"},
		read: "Linux Documentation/networking/bonding.rst (802.3ad); IEEE 802.1AX",
		found: "A member of an 802.3ad bond whose link is up is in another aggregator than the active one, has no " +
			"partner, or is churned.",
	})
	say(cause.BondMemberDown, words[cause.None]{
		summary: about("DEV works without some of its members, which have no link: it carries less, and the next " +
			"failure may be its last"),
		fix: []string{"cable, transceiver and switch port of that member; ip link set dev MEMBER up; or take it out " +
			"of the bond"},
		read:  "Linux Documentation/networking/bonding.rst",
		found: "A member of a bond or team has no link, and another one has.",
	})
	spell(func(_ string, m fact.MemberDown) string {
		text := fmt.Sprintf("%s: down, one of %d members", m.Interface, m.Members)
		if m.Failures > 0 {
			text += ", " + unit.Plural(m.Failures, "link failure")
		}
		return text
	})
	spell(func(_ string, a fact.ApartMember) string {
		text := a.Interface + ": up"
		if a.Aggregator > 0 && a.Active > 0 {
			text += fmt.Sprintf(", in aggregator %d; active is %d", a.Aggregator, a.Active)
		}
		if a.Ports > 0 {
			text += fmt.Sprintf(", with %d of %d ports", a.Ports, a.Members)
		}
		if a.Silent {
			text += "; LACP partner 00:00:00:00:00:00 (none answers)"
		}
		if a.Churned {
			text += "; churned"
		}
		return text
	})
	say(cause.BondHash, words[cause.Bond]{anywhere: true,
		read: "Linux Documentation/networking/bonding.rst (xmit_hash_policy)",
		found: "Flows use fewer members of a bond than there are flows and members, because its hash has no ports. " +
			"Needs a run.",
		summary: func(f record.Finding, a cause.Bond) string {
			return fmt.Sprintf(
				"%s.%s places flows by %s (xmit_hash_policy %s), and so sends all of a pair of %s by one of %d members",
				f.Host, a.Interface, device.Hashed{Addresses: a.Addresses}, a.Policy, hashedOf(!a.Addresses), a.Members)
		},
		fixed: func(f record.Finding, _ cause.Bond) []string {
			if len(f.Steps) > 0 {
				return []string{theSteps, "it places what this host sends; what is sent to it, the other end of " +
					"the bond does"}
			}
			return []string{"on the switch " + f.Host + ": hash by IP addresses and ports (layer3+4)"}
		}})

	spell(func(host string, p fact.Placed) string {
		var list []string
		for _, by := range p.By {
			text := fmt.Sprintf("%s %d", by.Interface, by.Flows)
			if by.Share != nil {
				text += fmt.Sprintf(" (%s of what they sent)", percent(*by.Share))
			}
			list = append(list, text)
		}
		flows := unit.Plural(p.Flows, "flow")
		if p.Bond != "" {
			return fmt.Sprintf("of %s, %s.%s sent by %s", flows, host, p.Bond, some(list))
		}
		return fmt.Sprintf("of %s to %s, %s sent by %s", flows, p.To, host, some(list))
	})
	spell(func(_ string, p fact.Pairs) string {
		return fmt.Sprintf("they have %s of %s", unit.Plural(p.Pairs, "pair"), hashedOf(p.Hosts))
	})
	spell(func(host string, p fact.HashPolicy) string {
		text := fmt.Sprintf("%s: net.%s.fib_multipath_hash_policy=%d", host, p.Family, p.Policy)
		switch {
		case p.Fields != nil:
			text += fmt.Sprintf(" fib_multipath_hash_fields=0x%04x", *p.Fields)
		case p.Labels:
			text += ", which on a router has the flow labels that senders draw (net.ipv6.auto_flowlabels)"
		}
		return text
	})
	spell(func(_ string, c fact.Chance) string {
		if c.Flows > 0 {
			return fmt.Sprintf("by chance %s would use no more than %d of %d links once in %.0f times",
				unit.Plural(c.Flows, "flow"), c.Used, c.Of, 1/max(c.P, 1e-12))
		}
		return fmt.Sprintf("so many flows use no more than %d of %d links with a chance of %s",
			c.Used, c.Of, percent(c.P))
	})
	spell(func(host string, w fact.Weighted) string {
		return fmt.Sprintf("%s.%s gets %s of the flows with %s of the rate, and is %s full", host, w.Interface,
			percent(w.Flows), percent(w.Rate), percent(w.Load))
	})
	spell(func(host string, d fact.DeadHop) string {
		if d.Down {
			return fmt.Sprintf("%s: the next hop %s of %s is behind %s, which is down", host, d.Via, d.To, d.Interface)
		}
		return fmt.Sprintf("%s: the next hop %s of %s by %s does not answer", host, d.Via, d.To, d.Interface)
	})
	spell(func(_ string, t fact.Through) string {
		return fmt.Sprintf("%s got through, %s did not", unit.Plural(t.Fine, "flow"), unit.Plural(t.Stopped, "flow"))
	})
	spell(func(_ string, s fact.StoppedFlow) string {
		if s.Error == "" {
			return fmt.Sprintf("flow %s to %s received nothing", s.Flow, s.To)
		}
		return fmt.Sprintf("flow %s to %s: %s", s.Flow, s.To, s.Error)
	})
	spell(func(host string, m fact.Mismatched) string {
		var list []string
		for _, p := range m.By {
			list = append(list, fmt.Sprintf("%s from %s, which is %s's, by %s", unit.Plural(p.Flows, "flow"), p.Source,
				p.Own, p.Left))
		}
		return fmt.Sprintf("of %s to %s, %d left %s by another interface than the one that has their address: %s",
			unit.Plural(m.Flows, "flow"), m.To, m.Wrong, host, some(list))
	})
	spell(func(host string, b fact.ByObject) string {
		return fmt.Sprintf("%s's route to %s goes by a group of nexthop objects, in which the kernel does not look "+
			"for the one with the flow's address",
			host, b.To)
	})

	advise(func(h hint.MoreFlows) string {
		return fmt.Sprintf(
			"more flows at a time: with %d, every link is used with a chance of 95 %% (linerate limits ecmp "+
				"--links %d --flows %d)",
			h.Flows, h.Links, h.Flows)
	})
	advise(func(h hint.OrdinaryGroup) string {
		text := "an ordinary group instead of a resilient one: it looks whether its next hops answer"
		if h.Object != 0 {
			text = fmt.Sprintf("if the group is resilient (ip nexthop show id %d), %s", h.Object, text)
		}
		return text
	})
})

// hashedOf returns what the pairs of a hash consist of: hosts or addresses.
func hashedOf(hosts bool) string {
	if hosts {
		return "hosts"
	}
	return "addresses"
}

func deadNexthop(f record.Finding, a cause.DeadNexthop) string {
	text := fmt.Sprintf(
		"%s still sends a share of its flows to a next hop on %s that does not answer ARP or neighbour discovery",
		f.Host, a.Interface)
	if a.Unknown {
		text = "if its group of nexthop objects is resilient, " + text
	}
	return text
}

func deadNexthopFix(f record.Finding, a cause.DeadNexthop) []string {
	switch {
	case a.Remedy != "":
		return nil
	case a.Object != 0:
		return []string{fmt.Sprintf("ip nexthop replace id %d with a group without the next hop by %s", a.Object,
			a.Interface), theSteps}
	}
	return []string{fmt.Sprintf("another route to %s: none of its next hops answers", f.About.Route)}
}
