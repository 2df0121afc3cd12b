package wording

import (
	"cmp"
	"fmt"
	"strings"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/hint"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

var _ = later(func() {
	say(cause.PathMTU, words[cause.Narrow]{anywhere: true,
		read: "RFC 2923, section 2.1; RFC 4821; " + ipSysctl + " (tcp_mtu_probing)",
		found: "A flow carried nothing, or of UDP lost at least half, while its packets were larger than the MTU " +
			"of a link or interface that they go to (fragments of IPv4, which routers fragment further, as the " +
			"last router makes them); or nothing of full size ever arrived over a path between them that is not " +
			"known. Needs a run or a measurement.",
		summary: func(f record.Finding, a cause.Narrow) string {
			switch {
			case a.At == "":
				return fmt.Sprintf(
					"a connection of %s opened, and then nothing of full size arrived: so looks a link of the path "+
						"with a smaller MTU, whose ICMP messages do not arrive (a black hole)", f.Host)
			case a.From != "":
				return fmt.Sprintf("%s sends packets that are larger than %s takes", f.Host, a.At)
			}
			return f.Host + " sends packets that a link of the path does not take, and gets no ICMP message about it"
		},
		fixed: func(f record.Finding, a cause.Narrow) []string {
			lines := narrowed(f.Host, a)
			if len(f.Steps) > 0 {
				lines = append(lines, "or have the sender try smaller packets:", theSteps)
			}
			return lines
		}})

	say(cause.ResolverDead, words[cause.Resolver]{read: "resolv.conf(5)",
		found: "A name server of resolv.conf does not answer; certain if look-ups wait for it, because it is " +
			"silent and none before it answers, or if none answers. Where one cannot be asked (no route, or it " +
			"refuses), the next one is at once.",
		summary: func(_ record.Finding, a cause.Resolver) string {
			const waits = ": each look-up waits for %s (5 s unless options timeout says less)"
			switch {
			case a.Others == "" && a.Waits():
				return "no name server answers, so that names are not resolved" + fmt.Sprintf(waits, a.Server)
			case a.Others == "":
				return "no name server answers, so that names are not resolved: look-ups fail at once"
			case a.Waits():
				return "the name server " + a.Server + " does not answer" + fmt.Sprintf(waits, "it")
			case a.First:
				return fmt.Sprintf(
					"the name server %s cannot be asked: names are resolved by the next one, %s, without a wait",
					a.Server,
					a.Others)
			}
			return fmt.Sprintf("the name server %s does not answer: it does not help if %s fails", a.Server, a.Others)
		},
		fixed: func(_ record.Finding, a cause.Resolver) []string {
			name, address := "name a server that answers first in /etc/resolv.conf", strings.Trim(a.Server, "[]")
			if a.Waits() {
				name += "; until then: options timeout:1 attempts:2"
			}
			lines := []string{name, "to confirm: dig @" + address + " localhost"}
			if !a.Silent {
				lines = append(lines, "is there a route to it? ip route get "+address)
			}
			return lines
		}})
	say(cause.ResolverSlow, words[cause.Server]{read: "RFC 6303; resolv.conf(5)",
		found: "The first name server takes more than 500 ms to answer.",
		summary: func(_ record.Finding, a cause.Server) string {
			return fmt.Sprintf(
				"the first name server, %s, is slow: each connection by name, and each service that looks up its "+
					"clients' names, waits for it", a.Server)
		},
		fix: []string{"a server that caches nearby; empty reverse zones for private addresses (RFC 6303)"}})
	say(cause.ProbeUnanswered, words[cause.NoEcho]{read: "RFC 1122, section 3.2.2.6",
		found: "No ICMP echo request to the peer is answered; certain if no ARP request is, either.",
		summary: func(_ record.Finding, a cause.NoEcho) string {
			switch {
			case a.ARP == cause.ARPSilent:
				return fmt.Sprintf(
					"%s is on the link of %s and answers nothing, not even ARP: it is off, or on another link or VLAN",
					a.Address, a.Interface)
			case a.OtherMAC:
				sender := "the router"
				if a.ARP == cause.ARPAnswered {
					sender = a.Address
				}
				return fmt.Sprintf(
					"%s answers no echo request, and packets for another MAC address arrive by %s: perhaps its "+
						"answers, by a wrong neighbour entry on %s",
					a.Address, a.Interface, sender)
			case a.ARP == cause.ARPAnswered:
				return a.Address + " answers ARP and no echo request: a firewall drops them, or its answers go " +
					"elsewhere"
			}
			return a.Address + " answers no echo request: it is off, the path is broken, or a firewall drops them"
		},
		fixed: func(_ record.Finding, a cause.NoEcho) []string {
			return []string{"ip route get " + a.Address + "; ip neigh show " + a.Address, theSteps}
		}})
	say(cause.ProbeLost, words[cause.Probed]{read: "RFC 2680; ping(8)",
		found: "At least 2 of the ICMP echo requests to the peer, and 5 %, are not answered.",
		summary: func(_ record.Finding, a cause.Probed) string {
			return fmt.Sprintf("packets to %s, or its answers, are lost", a.Address)
		},
		fixed: func(_ record.Finding, a cause.Probed) []string {
			return []string{"see what is dropped here and on " + a.Address +
				" (ip -s link, tc -s qdisc); hop by hop: mtr -n " + a.Address,
				"routers and hosts may limit the rate of their answers: confirm by a measurement, linerate measure " +
					a.Address}
		}})
	say(cause.ProbeDuplicated, words[cause.Probed]{read: "ping(8), DUPLICATE AND DAMAGED PACKETS",
		found: "An ICMP echo request to the peer is answered more than once.",
		summary: func(_ record.Finding, a cause.Probed) string {
			return fmt.Sprintf("packets to %s, or its answers, arrive twice: TCP takes copies for signs of loss",
				a.Address)
		},
		fixed: func(_ record.Finding, a cause.Probed) []string {
			return []string{"a loop between switches, or a bond at ports that are no aggregation group: spanning " +
				"tree and ports of the switches",
				"two machines with this address: arping -c 3 " + a.Address + " on its link"}
		}})
	say(cause.MTUBlackhole, words[cause.ProbedMTU]{read: "RFC 2923, section 2.1; RFC 4821",
		found: "Packets of the interface's MTU do not reach the peer, smaller ones do, and no router says so.",
		summary: func(_ record.Finding, a cause.ProbedMTU) string {
			if a.Below > 0 {
				return fmt.Sprintf("packets to %s of %d bytes vanish without a message, and those of %d arrive: "+
					"connections hang once they send much", a.Address, a.Below, a.MTU)
			}
			return fmt.Sprintf(
				"packets to %s of more than %d bytes vanish without a message: connections hang once they send much",
				a.Address, a.MTU)
		},
		fixed: func(_ record.Finding, a cause.ProbedMTU) []string {
			message, headers := "type 3 code 4", 20+8 // of IP and ICMP
			if strings.Contains(a.Address, ":") {
				message, headers = "(ICMPv6) type 2", 40+8
			}
			if a.Below > 0 {
				return []string{fmt.Sprintf("one MTU on the link, its switches included: "+
					"find it by ping -M do -s N %s, with N from %d to %d", a.Address, a.MTU-headers, a.Below-headers)}
			}
			return []string{
				fmt.Sprintf(
					"one MTU on the link, its switches included; for this peer alone: ip route replace %s dev %s "+
						"mtu %d",
					a.Address, cmp.Or(a.Interface, "DEV"), a.MTU),
				"or let ICMP " + message + " pass; a workaround: sysctl -w net.ipv4.tcp_mtu_probing=1",
				fmt.Sprintf("to confirm: ping -M do -s %d %s passes, -s %d does not", a.MTU-headers, a.Address,
					a.MTU-headers+1)}
		}})
	say(cause.PathMTUSmaller, words[cause.ProbedMTU]{read: "RFC 1191; RFC 8201",
		found: "A router on the path to the peer has a smaller MTU than the interface, and says so.",
		summary: func(_ record.Finding, a cause.ProbedMTU) string {
			return fmt.Sprintf("the path to %s takes packets of at most %d bytes, and a router says so",
				a.Address, a.MTU)
		},
		fix: []string{"none for TCP, which learns it; datagrams of at most that size, less the headers"}})
	say(cause.ConnectUnanswered, words[cause.ProbedPort]{read: "RFC 9293, section 3.8.1", anywhere: true,
		found: "The peer answers echo requests, and no connection to the port.",
		summary: func(_ record.Finding, a cause.ProbedPort) string {
			return fmt.Sprintf(
				"%s is there and does not answer connections to port %d: a firewall drops them, or the listener's "+
					"queue is full",
				a.Address, a.Port)
		},
		fixed: func(_ record.Finding, a cause.ProbedPort) []string {
			return []string{"on " + a.Address + ": ss -ltn (is the queue of the listener full?); nft list ruleset"}
		}})

	spell(func(_ string, l fact.TooLarge) string {
		if l.At == "" {
			return fmt.Sprintf("flow %s: packets of %d bytes, and nothing as large was ever acknowledged or received",
				l.Flow, l.Bytes)
		}
		return fmt.Sprintf("flow %s: packets of %d bytes; %s takes packets of %d", l.Flow, l.Bytes, l.At, l.MTU)
	})
	spell(func(_ string, s fact.Stuck) string {
		if s.Lost != nil {
			return fmt.Sprintf("flow %s: %.0f %% of its datagrams were lost", s.Flow, 100**s.Lost)
		}
		return fmt.Sprintf(
			"flow %s: nothing arrived in the window; the sender waits for its retransmission timeout, doubled %d times",
			s.Flow, s.Doubled)
	})
	spell(func(_ string, r fact.Resolver) string {
		if r.Error != "" {
			return fmt.Sprintf("%s: %s in %s", r.Server, r.Error, unit.FormatMs(r.Ms))
		}
		return fmt.Sprintf("%s answered within %s", r.Server, unit.FormatMs(r.Ms))
	})
	spell(func(_ string, l fact.LookedUp) string {
		return fmt.Sprintf("%s took %.0f ms to answer for the name of %s", l.Server, l.Ms, l.Address)
	})
	spell(func(_ string, e fact.Echo) string {
		if e.Received == 0 {
			return unit.Plural(e.Sent, "ICMP echo request") + ", no reply"
		}
		text := fmt.Sprintf("%d of %d ICMP echo requests were answered", e.Received, e.Sent)
		if e.Duplicates > 0 {
			text += ", and " + unit.Plural(e.Duplicates, "duplicate") + " came"
		}
		if e.MaxMs > 0 {
			text += fmt.Sprintf("; round trip %s to %s", unit.FormatMs(e.MinMs), unit.FormatMs(e.MaxMs))
		}
		if e.MedianMs > 0 {
			text += ", median " + unit.FormatMs(e.MedianMs)
		}
		return text
	})
	spell(func(_ string, a fact.ARPAnswers) string {
		if len(a.MACs) == 0 {
			return "an ARP request by " + a.Interface + ", no answer"
		}
		return "ARP is answered by " + some(a.MACs)
	})
	spell(func(_ string, o fact.OtherMAC) string {
		return fmt.Sprintf("%s received %s for other MAC addresses meanwhile (rx_otherhost_dropped)", o.Interface,
			unit.Plural(int(o.Packets), "packet"))
	})
	spell(func(_ string, p fact.PathMTU) string {
		if p.Reported {
			return fmt.Sprintf("%s has MTU %d; a router named %d", cmp.Or(p.Interface, "the interface"), p.InterfaceMTU,
				p.MTU)
		}
		has := ""
		if p.InterfaceMTU > 0 {
			has = fmt.Sprintf("%s has MTU %d; ", cmp.Or(p.Interface, "the interface"), p.InterfaceMTU)
		}
		return has + fmt.Sprintf("%d bytes are answered, %d are not, and no ICMP message came", p.MTU,
			cmp.Or(p.Below, p.MTU+1))
	})
	spell(func(_ string, c fact.NoConnection) string {
		return fmt.Sprintf("%d of %d echo requests were answered; a connection to port %d was not within %.0f ms",
			c.Received, c.Sent, c.Port, c.Ms)
	})

	advise(func(o hint.OwnEntry) string {
		return fmt.Sprintf(
			"on %s: ip neighbour show %s: is it %s, that of %s? If not: ip neighbour del %[2]s dev DEV; and ip "+
				"route get %[2]s",
			cmp.Or(o.At, "the router"), cmp.Or(o.Address, "ADDRESS"), cmp.Or(o.MAC, o.Interface), o.Interface)
	})
})

// narrowed returns what to do about packets of a host that are too large for their path.
func narrowed(host string, a cause.Narrow) []string {
	lower := fmt.Sprintf("lower the MTU of one end to %d", a.MTU)
	switch {
	case a.At == "":
		return []string{fmt.Sprintf("on %s, linerate doctor --probe %s tells what the path takes", host, a.To)}
	case a.From != "":
		return []string{fmt.Sprintf(
			"have the same MTU at both ends of a link: ip link set dev DEV mtu %d at %s, or a larger one at %s", a.MTU,
			a.From, a.At)}
	case a.MSS > 0:
		lower = fmt.Sprintf("have a router on the path clamp the MSS to %d, or %s", a.MSS, lower)
	}
	return []string{fmt.Sprintf(
		"let ICMP type 3 code 4 (IPv6: type 2), “fragmentation needed”, of the router before %s reach %s", a.At, host),
		"or " + lower}
}
