package wording

import (
	"cmp"
	"fmt"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/hint"
	"linerate/internal/model/record"
)

var _ = later(func() {
	say(cause.Unreachable, words[cause.Cut]{summary: cut,
		instead: func(a cause.Cut) string {
			if a.Why == cause.NoneMay {
				return withoutRouting(a)
			}
			return "or, instead: "
		},
		read: ipSysctl + " (arp_ignore, arp_filter, ip_forward); ip-neighbour(8), ip-route(8)",
		found: "A flow did not connect, for a reason that no other rule names: its packets are followed along " +
			"routes, neighbour entries and the way back. Needs a run or a measurement."})

	spell(func(host string, n fact.Unreached) string {
		text := fmt.Sprintf("flow %s: %s does not reach ", n.Flow, host)
		if n.Address.IsValid() {
			text += n.Address.String() + " of "
		}
		if text += n.Other; n.Error != "" {
			text += ": " + n.Error
		}
		return text
	})
	spell(func(host string, s fact.SendsBy) string {
		text := fmt.Sprintf("%s sends by %s", host, s.Interface)
		if s.Router != "" {
			text += " to the router " + s.Router
		}
		return text + " (route lookup)"
	})
	spell(func(host string, n fact.NoRoute) string { return fmt.Sprintf("route lookup on %s: %s", host, n.Error) })
	spell(func(host string, _ fact.NotForwarding) string { return host + ": net.ipv4.ip_forward=0" })
	spell(func(host string, n fact.NoReply) string {
		return fmt.Sprintf("%s is %s on %s.%s: no answer to ARP or neighbour discovery", n.Address, n.State, host,
			n.Interface)
	})
	spell(func(_ string, n fact.NoHolder) string {
		return fmt.Sprintf("no host that was read holds %s", n.Address)
	})
	spell(func(host string, d fact.HolderDown) string {
		return fmt.Sprintf("%s.%s holds the address, and is down", host, d.Interface)
	})
	spell(func(host string, m fact.MisledBy) string {
		whose := cmp.Or(m.Whose, "no interface that is known")
		return fmt.Sprintf("%s holds %s at %s (%s), which belongs to %s; the address is at %s", host, m.Address, m.MAC,
			m.State, whose, m.Right)
	})

	advise(func(d hint.FindDrop) string {
		return fmt.Sprintf("not known: find where on the path from %s packets to %s are dropped", d.From, d.To)
	})
	advise(func(r hint.LacksRoute) string { return "add a route to " + r.To })
	advise(func(h hint.SeeHolder) string {
		return fmt.Sprintf("see that the holder of %s is up and on the link of %s", h.Address, h.Link)
	})
	advise(func(l hint.SameLink) string {
		return fmt.Sprintf("see that %s is on the same link as %s and lets ARP or neighbour discovery pass", l.First,
			l.Second)
	})
})

// cut returns why a host does not reach another one.
func cut(f record.Finding, a cause.Cut) string {
	switch a.Why {
	case cause.NotForwarding:
		return f.Host + " is used as a router, but does not forward"
	case cause.NoWayThere:
		return fmt.Sprintf("%s has no route to %s of %s", f.Host, a.Address, a.Other)
	case cause.NoWayBack:
		return fmt.Sprintf("%s has no route back to %s of %s", f.Host, a.Address, a.Other)
	case cause.WrongMAC:
		return fmt.Sprintf("%s sends packets for %s to a wrong MAC address", f.Host, a.Address)
	case cause.IsDown:
		return fmt.Sprintf("%s.%s is down", f.Host, a.Interface)
	case cause.NoneAnswers:
		return fmt.Sprintf("%s answers no ARP request for %s", f.Host, a.Address)
	case cause.NoneMay:
		return fmt.Sprintf(
			"%s answers ARP for %s from no interface: arp_ignore allows it only to %s, and arp_filter only to %s",
			f.Host, a.Address, a.Interface, a.Out)
	}
	return fmt.Sprintf("%s does not reach %s; the records do not show why", f.Host, a.Other)
}
