package wording

import (
	"fmt"
	"strings"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/hint"
	"linerate/internal/model/record"
	lists "linerate/internal/show/words"
)

// A Linux host owns its addresses as a whole. By default any of its interfaces answers ARP requests
// for any of them (arp_ignore=0), and its own requests may have any of them as sender
// (arp_announce=0). A peer uses the latest ARP packet that it has received.

var _ = later(func() {
	say(cause.ARPFlux, words[cause.Flux]{summary: flux, instead: withoutRouting[cause.Flux],
		read: ipSysctl + " (arp_ignore, arp_announce, arp_filter); RFC 826",
		found: "A peer's neighbour table has one of a host's addresses at the MAC address of another of its " +
			"interfaces, and arp_ignore does not forbid it; certain when that interface receives more than was " +
			"addressed to it. Also of a machine that was not read, if several MAC addresses answer for the same " +
			"addresses."})
	say(cause.ARPWrongSource, words[cause.WrongSource]{read: ipSysctl + " (arp_announce); RFC 826",
		found: "A peer's neighbour table is wrong although arp_ignore keeps replies right, or a neighbour does not " +
			"answer requests from another subnet's address: arp_announce is 0.",
		summary: func(f record.Finding, a cause.WrongSource) string {
			how := "other interfaces' addresses as sender, so its peers learn the wrong MAC address"
			if a.Unanswered {
				how = "a sender address of another subnet, and gets no answer"
			}
			return fmt.Sprintf("%s sends ARP requests from %s with %s", f.Host, a.Interface, how)
		}})
	say(cause.DuplicateAddress, words[cause.Duplicate]{summary: duplicate, fixed: duplicateFix, anywhere: true,
		found: "More than one machine answers ARP requests for one address; certain if two of them are known to " +
			"hold it, possible if one machine that answers by several interfaces would answer so as well. Without " +
			"the right to send requests, neighbour tables decide. Of IPv6, duplicate address detection failed " +
			"(dadfailed).",
		readFor: func(a cause.Duplicate) string {
			if a.How == cause.Detected {
				return "RFC 4862, section 5.4; ip-address(8)"
			}
			return "RFC 5227; RFC 826"
		}})
	say(cause.NeighbourFailed, words[cause.None]{read: "ip-neighbour(8); RFC 826",
		text: "neighbours do not answer: they are off, or on another link or VLAN",
		found: "Neighbour entries are FAILED or INCOMPLETE; likely where the kernel drops at least ten packets for " +
			"it (NEIGH_FAILED, traced).",
		fix: []string{"see which of them should: arping ADDRESS"}})
	say(cause.NeighbourTableFull, words[cause.Family]{read: ipSysctl + " (gc_thresh3); arp(7)",
		found: "The neighbour table has at least 90 % of gc_thresh3 entries.",
		summary: func(_ record.Finding, a cause.Family) string {
			return "the table of " + a.Family + " neighbours is nearly full: further ones cannot be reached"
		}})
	say(cause.WrongNeighbour, words[cause.None]{read: "ip-neighbour(8); RFC 826",
		found: "A host's entry for an address of another host has a MAC address that is none of that host's " +
			"interfaces; certain if it is a static entry or another read host's. Without that host's snapshot, a " +
			"static entry (PERMANENT) has another one than answers ARP requests.",
		summary: func(f record.Finding, _ cause.None) string {
			return fmt.Sprintf("%s sends packets for %s to a MAC address that is not that host's",
				f.Host, f.About.Address)
		}})
	say(cause.StaticNeighbour, words[cause.None]{read: "ip-neighbour(8)",
		text:  "static neighbour entries: a replaced card or a moved address is not noticed",
		found: "There are static entries for IPv4 neighbours (PERMANENT).",
		fix:   []string{"ip neigh del ADDRESS dev DEV, unless it is meant"}})

	spell(func(_ string, n fact.Neighbour) string {
		is := n.MAC
		if is == "" {
			is = n.State
		}
		return fmt.Sprintf("%s on %s: %s", n.Address, n.Interface, is)
	})
	spell(func(_ string, e fact.WrongEntry) string {
		from := "ARP taught it that (" + e.State + ")"
		if e.State == "PERMANENT" {
			from = "it is a static entry"
		}
		return fmt.Sprintf("neighbour %s on %s: %s, and %s", e.Address, e.Interface, e.MAC, from)
	})
	spell(func(host string, h fact.Holder) string {
		return fmt.Sprintf("%s has it on %s, %s", host, h.Interface, h.MAC)
	})
	spell(func(_ string, a fact.AnsweredBy) string { return "ARP requests for it are answered by " + some(a.MACs) })
	spell(func(host string, m fact.Misdirected) string {
		var addresses []string
		for _, a := range m.Addresses {
			addresses = append(addresses, fmt.Sprintf("%s (%s.%s)", a.Address, m.Of, a.Interface))
		}
		return fmt.Sprintf("%s holds %s at the address of %s.%s, %s", host, some(addresses), m.Of, m.Interface, m.MAC)
	})
	spell(func(host string, t fact.Taken) string {
		return fmt.Sprintf("%s.%s took in %s of what reached %s, but %s was for its own address", host, t.Interface,
			percent(t.Took), host, percent(t.Meant))
	})
	spell(func(host string, o fact.OneSubnet) string {
		return fmt.Sprintf("%s are on one subnet, %s", some(ends(host, o.Interfaces)), o.Subnet)
	})
	spell(scoped)
	spell(func(host string, r fact.RightReplies) string {
		return scoped(host, r.Scoped) + ": its replies name the right interface"
	})
	spell(func(host string, a fact.Asked) string {
		return fmt.Sprintf("%s asked for %s from %s.%s, with sender address %s of %s", host, a.Peer, host, a.Interface,
			a.Sender.Address, a.Sender.Interface)
	})
	spell(func(host string, u fact.Unanswered) string {
		return fmt.Sprintf("%s is %s on %s.%s, asked with sender address %s of %s", u.Address, u.State, host,
			u.Interface, u.Sender.Address, u.Sender.Interface)
	})
	spell(func(host string, p fact.SwitchPort) string {
		text := fmt.Sprintf("%s has %s behind port %s", host, p.MAC, p.Port)
		switch p.Takes {
		case fact.Everything:
			text += ": that is where everything goes"
		case fact.Some:
			text += ": that is where a part of it goes"
		}
		return text
	})
	spell(func(_ string, o fact.OtherPorts) string {
		var ports []string
		for _, p := range o.Ports {
			ports = append(ports, fmt.Sprintf("%s (%s)", p.Port, p.MAC))
		}
		return "its other ports: " + some(ports)
	})
	spell(func(host string, f fact.Found) string {
		switch at, macs := some(texts(f.Addresses)), some(f.MACs); {
		case host == "":
			return fmt.Sprintf("the hosts' tables and interfaces have %s at %s", at, macs)
		case f.Each:
			return fmt.Sprintf("%s asked who holds %s, and was answered by %s, each time", host, at, macs)
		default:
			return fmt.Sprintf("%s asked who holds %s, and was answered by %s", host, at, macs)
		}
	})
	spell(func(_ string, o fact.OnlySome) string {
		answer := "answers"
		if len(o.MACs) > 1 {
			answer = "answer"
		}
		return fmt.Sprintf(
			"%s %s for %s as well, and %s not: the interfaces of one machine answer for the same addresses "+
				"(arp_ignore=0)",
			some(o.MACs), answer, o.Address, some(o.Not))
	})
	spell(func(string, fact.ForEachOther) string {
		return "machines that have an address twice would answer for that one, not for each other's addresses as well"
	})
	spell(func(string, fact.NotApart) string {
		return "nothing else is known that one of them answers for and another does not, or that several do"
	})
	spell(func(string, fact.Numbered) string {
		return "they are numbered next to each other, as the ports of one card are"
	})
	spell(func(host string, a fact.AtMAC) string {
		return fmt.Sprintf("%s holds %s at %s", host, some(texts(a.Addresses)), a.MAC)
	})
	spell(func(_ string, e fact.EntriesAt) string {
		return fmt.Sprintf("%d of %d entries for it are at %s", e.Entries, e.Of, e.MAC)
	})
	spell(func(_ string, t fact.TentativeFailed) string {
		return fmt.Sprintf("%s on %s: dadfailed", t.Address, t.Interface)
	})
	spell(func(_ string, t fact.TableEntries) string {
		return fmt.Sprintf("%d entries; %s is %d", t.Entries, t.Key, t.Most)
	})

	advise(func(hint.AddressRules) string {
		return "a rule and a table for each address, so that answers leave by its interface: linerate new nas, " +
			"linerate run nas.yaml proves it"
	})
	advise(func(h hint.FlushAddresses) string {
		return "for a in " + strings.Join(texts(h.Addresses), " ") + "; do ip neigh flush to $a; done"
	})
	advise(func(hint.DetectAgain) string {
		return "another address, or one for the other machine; then ip address del and add, which detects again"
	})
})

// withoutRouting returns the beginning of a step that can be taken instead of source routing.
func withoutRouting[A any](A) string { return "or, instead of source routing: " }

func scoped(host string, s fact.Scoped) string {
	switch s.Unread {
	case "all":
		return fmt.Sprintf("%s: net.ipv4.conf.%s.%s=%d", host, s.Interface, s.Name, s.Own)
	case "own":
		return fmt.Sprintf("%s: net.ipv4.conf.all.%s=%d", host, s.Name, s.All)
	}
	return fmt.Sprintf("%s: net.ipv4.conf.all.%s=%d, %s.%s=%d", host, s.Name, s.All, s.Interface, s.Name, s.Own)
}

func flux(f record.Finding, a cause.Flux) string {
	m := a.Machine
	switch {
	case m == nil:
		return fmt.Sprintf("%s answers ARP for all its addresses from %s, so its peers send traffic for its other "+
			"interfaces to that one",
			f.Host, a.Interface)
	case m.Asked:
		return fmt.Sprintf("the machine that holds %s answers ARP for each by several interfaces, %s: it is by "+
			"chance which one a peer sends to",
			some(texts(m.Addresses)), some(m.MACs))
	case m.At == "":
		return fmt.Sprintf("the machine answers ARP for %d addresses by several of its %d interfaces: it is by "+
			"chance which one a peer sends to",
			len(m.Addresses), len(m.MACs))
	}
	where := m.At
	if m.Switch != "" {
		where += fmt.Sprintf(", port %s of %s", m.Port, m.Switch)
	}
	return fmt.Sprintf("the machine answers ARP for %d addresses by one interface, %s, although it has %d: its "+
		"peers send all traffic there",
		len(m.Addresses), where, len(m.MACs))
}

func duplicate(f record.Finding, a cause.Duplicate) string {
	at := some(texts(a.Addresses))
	switch a.How {
	case cause.Detected:
		return fmt.Sprintf("another machine holds %s, so %s does not use it", at, f.Host)
	case cause.Held:
		return fmt.Sprintf("%s machines hold %s: %s", lists.Numeral(len(a.Claims)), at, some(claims(a)))
	case cause.Answered:
		return fmt.Sprintf("%s machines answer for %s: %s", lists.Numeral(len(a.Claims)), at, some(claims(a)))
	}
	n := lists.Numeral(len(a.MACs()))
	text := fmt.Sprintf("neighbour tables have %s MAC addresses for %s", n, at)
	if a.Asked {
		text = fmt.Sprintf("%s MAC addresses answer for %s", n, at)
	}
	return fmt.Sprintf("%s: one machine with %s interfaces in this subnet (arp-flux), or %s machines with one address",
		text, n, n)
}

func duplicateFix(f record.Finding, a cause.Duplicate) []string {
	another := "give one of them another address: " + some(claims(a))
	const where = "find a machine by its MAC address: bridge fdb show, or the switch's forwarding table"
	const proxy = "if a router or host answers there for others (proxy ARP), turn that off: sysctl -w " +
		"net.ipv4.conf.IFACE.proxy_arp=0"
	switch a.How {
	case cause.Detected:
		return nil
	case cause.Held:
		return []string{another, where}
	case cause.Answered:
		return []string{another, where, proxy}
	}
	lines := []string{
		fmt.Sprintf("to tell which: ip address, on the machine, shows whether it has %s", some(a.MACs())),
		fmt.Sprintf("or ask from here for the addresses next to it: linerate doctor --probe %s", f.About.Address),
		"one machine: on it sysctl -w net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2, so that " +
			"each interface answers for its own address",
		"two machines: " + another, where, proxy,
	}
	if !a.Asked {
		lines = append(lines, "nothing to do if the tables are of different networks")
	}
	return lines
}

// claims returns the machines that answer for an address, with their MAC addresses.
func claims(a cause.Duplicate) (list []string) {
	for _, c := range a.Claims {
		switch macs := some(c.MACs); {
		case c.Host != "":
			list = append(list, c.Host+" ("+macs+")")
		case len(c.MACs) > 1:
			list = append(list, "a machine with the MAC addresses "+macs)
		default:
			list = append(list, "a machine with the MAC address "+macs)
		}
	}
	return list
}
