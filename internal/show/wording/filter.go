package wording

import (
	"fmt"
	"strings"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/hint"
	"linerate/internal/model/record"
)

const filterReference = ipSysctl + " (rp_filter); RFC 3704"

var _ = later(func() {
	say(cause.RPFilterDrop, words[cause.Filter]{read: filterReference, instead: withoutRouting[cause.Filter],
		found: "rp_filter is 1 on an interface, and TcpExt.IPReversePathFilter grew, or, in a measurement, a peer " +
			"cannot resolve an address that the host would answer by another interface.",
		summary: func(f record.Finding, a cause.Filter) string {
			return fmt.Sprintf(
				"%s drops what arrives on %s, because its strict reverse-path filter would answer by another interface",
				f.Host, oneOf(a))
		}})
	say(cause.StrictRPFilter, words[cause.Filter]{read: filterReference,
		found: "rp_filter is 1 on interfaces that share a subnet, or 1 anywhere while TcpExt.IPReversePathFilter " +
			"grew (certain), or where another host's ARP requests are not answered and the route back leaves by " +
			"another interface, or there is none.",
		summary: func(f record.Finding, a cause.Filter) string {
			return dropsWhatComes(f, "strict") + fmt.Sprintf(
				"by %s from senders that are answered by another interface, or by none", oneOf(a))
		},
		fixed: func(f record.Finding, _ cause.Filter) []string {
			if len(f.Steps) > 0 {
				return nil
			}
			return []string{
				"see who sends: sysctl -w net.ipv4.conf.all.log_martians=1, then dmesg; and ip route get SENDER",
				"with a route to it: " + symmetric + ", or sysctl -w net.ipv4.conf.all.rp_filter=2",
				"without one: ip route add SENDER via GATEWAY; the loose filter drops it as well",
			}
		}})
	say(cause.LooseRPFilter, words[cause.None]{read: filterReference,
		found: "rp_filter is 2 on an interface and 1 on none, and TcpExt.IPReversePathFilter grew (certain), or " +
			"another host's ARP requests are not answered and there is no route back to it.",
		summary: func(f record.Finding, _ cause.None) string {
			return dropsWhatComes(f, "loose") + "from addresses to which this host has no route"
		},
		fix: []string{
			"a route back to the sources, or another address for the senders; which: sysctl -w " +
				"net.ipv4.conf.all.log_martians=1"}})

	spell(func(_ string, a fact.AnsweredElsewhere) string {
		if a.Peer == "" {
			return fmt.Sprintf("%s is a neighbour on %s, and is answered %s", a.Address, a.Interface, answered(a.By))
		}
		return fmt.Sprintf("%s sends from %s to %s, and is answered %s", a.Peer, a.Address, a.Interface, answered(a.By))
	})
	spell(func(host string, d fact.DroppedRequest) string {
		var from, answers []string
		for _, a := range d.From {
			from, answers = append(from, a.To.String()), append(answers, a.To.String()+" "+answered(a.By))
		}
		return fmt.Sprintf(
			"%s asks from %s for %s, without an answer (%s on %s); %s would answer %s, so %s drops the ARP request",
			d.Peer, strings.Join(from, " or "), d.For, d.State, d.On, host, some(answers), d.DropBy)
	})
	spell(func(_ string, r fact.Received) string {
		return fmt.Sprintf("%s received %.0f packets for this host, all other interfaces with the strict filter %.0f",
			r.Interface, r.Packets, r.Others)
	})
	spell(func(_ string, s fact.Sharing) string { return some(s.Interfaces) + " are on one subnet" })
	spell(func(host string, n fact.NoAnswer) string {
		var addresses []string
		for _, a := range n.Addresses {
			addresses = append(addresses, fmt.Sprintf("%s (%s)", a.Address, strings.Join(a.States, " and ")))
		}
		return fmt.Sprintf("%s gets no answer to its ARP requests for %s", host, some(addresses))
	})
	spell(func(_ string, u fact.Unconnected) string {
		return fmt.Sprintf("flows %s could not connect", some(u.Flows))
	})

	advise(func(h hint.RouteBack) string {
		return fmt.Sprintf(
			"of senders without a route, which the loose filter drops as well, a route back: ip route add %s via "+
				"GATEWAY dev %s",
			h.To, h.Interface)
	})
	advise(func(h hint.Symmetric) string {
		text := symmetric + ", or the loose filter:"
		if h.Others {
			text = "of the others " + text
		}
		return text
	})
})

const symmetric = "make routes symmetric (a rule and a table for each source address)"

// dropsWhatComes returns the beginning of the summary about a filter. For counts since the boot, it
// is not known which filter dropped the packets, because the mode may have changed since.
func dropsWhatComes(f record.Finding, mode string) string {
	if f.Boot {
		return "a reverse-path filter has dropped packets since the boot; it is " + mode + " now, and so drops " +
			"what comes "
	}
	return "the " + mode + " reverse-path filter drops what comes "
}

// oneOf returns the names of interfaces with a filter, or says that one of several is meant.
func oneOf(a cause.Filter) string {
	if a.OneOf {
		return "one of " + some(a.Interfaces)
	}
	return some(a.Interfaces)
}

// answered returns by which interface a sender is answered.
func answered(by string) string {
	if by == "" {
		return "by none: it has no route there"
	}
	return "by " + by
}
