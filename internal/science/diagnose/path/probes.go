package path

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/unit"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
	"linerate/internal/science/diagnose/said"
)

// Rules about what a host found out by probing a peer (linerate doctor --probe).
var ProbeRules = []rule.Rule{
	{ID: "resolver-dead", Host: true,
		About: "A name server of resolv.conf does not answer; certain if look-ups wait for it, because it is silent and none before it answers, or if none answers. Where one cannot be asked (no route, or it refuses), the next one is at once.",
		Parts: probeParts, Find: eachProbe(resolverDead), SameCause: rule.SameSummary},
	{ID: "resolver-slow", Host: true, About: "The first name server takes more than 500 ms to answer.",
		Parts: probeParts, Find: eachProbe(resolverSlow), SameCause: rule.SameSummary},
	{ID: "probe-unanswered", Host: true,
		About: "No ICMP echo request to the peer is answered; certain if no ARP request is, either.", Parts: probeParts,
		Find: eachProbe(probeUnanswered), SameCause: rule.SameSummary},
	{ID: "probe-lost", Host: true,
		About: "At least 2 of the ICMP echo requests to the peer, and 5 %, are not answered.", Parts: probeParts,
		Find: eachProbe(probeLost), SameCause: rule.SameSummary, Explains: []string{"tcp-retransmissions"}},
	{ID: "mtu-blackhole", Host: true,
		About: "Packets of the interface's MTU do not reach the peer, smaller ones do, and no router says so.",
		Parts: probeParts, Find: eachProbe(mtuBlackhole), SameCause: rule.SameSummary,
		Explains: []string{"unacknowledged",
			"tcp-retransmissions"}},
	{ID: "path-mtu-smaller", Host: true,
		About: "A router on the path to the peer has a smaller MTU than the interface, and says so.", Parts: probeParts,
		Find: eachProbe(pathMTUSmaller), SameCause: rule.SameSummary},
	{ID: "connect-unanswered", Host: true, About: "The peer answers echo requests, and no connection to the port.",
		Parts: probeParts, Find: eachProbe(connectUnanswered), SameCause: rule.SameSummary,
		Explains: []string{"syn-unanswered"}},
}

var probeParts = []string{"probe"}

// eachProbe is a rule's find for each probe of each host.
func eachProbe(find func(*facts.Host, record.Probe) *record.Finding) func(facts.Trial) []record.Finding {
	return func(f facts.Trial) (findings []record.Finding) {
		for _, h := range f.Hosts {
			for _, p := range h.State.Probes {
				if finding := find(h, p); finding != nil {
					finding.Host = h.Name
					findings = append(findings, *finding)
				}
			}
		}
		return findings
	}
}

// resolverDead goes by what getaddrinfo(3) does: it waits for a server that is silent, and
// asks the next one at once if one cannot be reached or refuses.
func resolverDead(h *facts.Host, p record.Probe) *record.Finding {
	dead := slices.IndexFunc(p.Resolvers, func(r record.ResolverProbe) bool { return r.Error != "" })
	if dead < 0 {
		return nil
	}
	answers := slices.IndexFunc(p.Resolvers, func(r record.ResolverProbe) bool { return r.Error == "" })
	before := p.Resolvers // asked before one answers
	if answers >= 0 {
		before = before[:answers]
	}
	silent := slices.IndexFunc(before, func(r record.ResolverProbe) bool { return r.Error == record.ResolverSilent })
	finding := &record.Finding{Confidence: record.Possible, Reference: "resolv.conf(5)"}
	waits := ""
	if silent >= 0 {
		dead, finding.Confidence = silent, record.Certain
		waits = fmt.Sprintf(": each look-up waits for %s (5 s unless options timeout says less)", before[silent].Server)
	}
	switch server := p.Resolvers[dead]; {
	case answers < 0:
		finding.Confidence = record.Certain
		finding.Summary = "no name server answers, so that names are not resolved"
		if waits == "" {
			waits = ": look-ups fail at once"
		}
		finding.Summary += waits
	case silent >= 0:
		finding.Summary = fmt.Sprintf("the name server %s does not answer%s", server.Server,
			strings.Replace(waits, "for "+server.Server, "for it", 1))
	case dead < answers:
		finding.Summary = fmt.Sprintf(
			"the name server %s cannot be asked: names are resolved by the next one, %s, without a wait", server.Server,
			p.Resolvers[answers].Server)
	default:
		finding.Summary = fmt.Sprintf("the name server %s does not answer: it does not help if %s fails", server.Server,
			p.Resolvers[answers].Server)
	}
	for _, r := range p.Resolvers {
		text := fmt.Sprintf("%s answered within %s", r.Server, unit.FormatMs(r.Ms))
		if r.Error != "" {
			text = fmt.Sprintf("%s: %s in %s", r.Server, r.Error, unit.FormatMs(r.Ms))
		}
		finding.Evidence = append(finding.Evidence, text)
	}
	fix := "name a server that answers first in /etc/resolv.conf"
	if silent >= 0 {
		fix += "; until then: options timeout:1 attempts:2"
	}
	address := strings.Trim(p.Resolvers[dead].Server, "[]")
	finding.Fix = said.On(h.Name, h.Alone, fix, "to confirm: dig @"+address+" localhost")
	if p.Resolvers[dead].Error != record.ResolverSilent {
		finding.Fix = append(finding.Fix, said.On(h.Name, h.Alone, "is there a route to it? ip route get "+address)...)
	}
	return finding
}

func resolverSlow(h *facts.Host, p record.Probe) *record.Finding {
	const slow = 500 // ms; a cache in the same network takes less than 5, a root server 100
	if len(p.Resolvers) == 0 || p.Resolvers[0].Error != "" || p.Resolvers[0].Ms < slow {
		return nil
	}
	r := p.Resolvers[0]
	return &record.Finding{Confidence: record.Likely, Reference: "RFC 6303; resolv.conf(5)",
		Summary: fmt.Sprintf(
			"the first name server, %s, is slow: each connection by name, and each service that looks up its clients' names, waits for it", r.Server),
		Evidence: []string{fmt.Sprintf("%s took %.0f ms to answer for the name of %s", r.Server, r.Ms,
			cmp.Or(p.Address, p.Peer))},
		Fix: said.On(h.Name, h.Alone,
			"a server that caches nearby; empty reverse zones for private addresses (RFC 6303)")}
}

func probeUnanswered(h *facts.Host, p record.Probe) *record.Finding {
	if !facts.EchoUnanswered(p) {
		return nil
	}
	finding := &record.Finding{Confidence: record.Possible, Reference: "RFC 1122, section 3.2.2.6",
		Summary: fmt.Sprintf("%s answers no echo request: it is off, the path is broken, or a firewall drops them",
			p.Address),
		Evidence: []string{unit.Plural(p.Echo.Sent, "ICMP echo request") + ", no reply"},
		Fix:      said.On(h.Name, h.Alone, "ip route get "+p.Address+"; ip neigh show "+p.Address)}
	arpAsked := slices.ContainsFunc(p.Sent, func(s string) bool { return strings.Contains(s, "ARP") })
	switch {
	case arpAsked && len(p.ARP) == 0:
		finding.Confidence, finding.Summary = record.Certain,
			fmt.Sprintf(
				"%s is on the link of %s and answers nothing, not even ARP: it is off, or on another link or VLAN",
				p.Address, p.Interface)
		finding.Evidence = append(finding.Evidence, "an ARP request by "+p.Interface+", no answer")
	case len(p.ARP) > 0:
		finding.Summary = fmt.Sprintf(
			"%s answers ARP and no echo request: a firewall drops them, or its answers go elsewhere", p.Address)
		finding.Evidence = append(finding.Evidence, "ARP is answered by "+facts.Join(p.ARP))
		misdirected(h, p, p.Address, finding)
	case !arpAsked:
		misdirected(h, p, "the router", finding)
	}
	return finding
}

// misdirected adds that packets for other MAC addresses arrived, if they did, and how to see the
// neighbour entry by which the sender, the peer or a router, addresses this host.
func misdirected(h *facts.Host, p record.Probe, sender string, finding *record.Finding) {
	rows := forOtherMACs(h, p)
	if len(rows) > 0 {
		finding.Summary = fmt.Sprintf(
			"%s answers no echo request, and packets for another MAC address arrive by %s: perhaps its answers, by a wrong neighbour entry on %s",
			p.Address, p.Interface, sender)
		finding.Evidence = append(finding.Evidence, rows...)
		if 2*p.Echo.OtherMAC >= uint64(p.Echo.Sent) {
			finding.Confidence = record.Likely
		}
	}
	if len(rows) > 0 || len(p.ARP) > 0 {
		finding.Fix = append(finding.Fix, whereAnswersGo(h, p, sender)...)
	}
}

// forOtherMACs are packets for other MAC addresses that arrived in a probe, or after it, as evidence.
func forOtherMACs(h *facts.Host, p record.Probe) (rows []string) {
	if p.Echo.OtherMAC > 0 {
		rows = append(rows, fmt.Sprintf("%s received %s for other MAC addresses meanwhile (rx_otherhost_dropped)",
			p.Interface, unit.Plural(int(p.Echo.OtherMAC), "packet")))
	}
	return append(rows, said.TracedRows(h, func(d record.KernelDrop) bool {
		return d.Reason == facts.OtherHost &&
			d.Interface == p.Interface
	})...)
}

// whereAnswersGo is the command that tells on a peer to which MAC address it sends what is for this host.
func whereAnswersGo(h *facts.Host, p record.Probe, peer string) []string {
	address, mac := "ADDRESS", p.Interface
	if i := slices.IndexFunc(h.Interfaces, func(n *facts.Interface) bool { return n.Name == p.Interface }); i >= 0 {
		n := h.Interfaces[i]
		own := slices.IndexFunc(n.Prefixes, func(own netip.Prefix) bool { return own.Contains(facts.Parse(p.Address)) })
		if own < 0 { // towards a router
			own = slices.IndexFunc(n.Prefixes, func(own netip.Prefix) bool {
				return own.Addr().Is4() == facts.Parse(p.Address).Is4()
			})
		}
		if own >= 0 {
			address = n.Prefixes[own].Addr().String()
		}
		mac = cmp.Or(n.MAC, mac)
	}
	return said.On(peer, false, fmt.Sprintf(
		"ip neighbour show %s: is it %s, that of %s? If not: ip neighbour del %[1]s dev DEV; and ip route get %[1]s",
		address, mac, p.Interface))
}

func probeLost(h *facts.Host, p record.Probe) *record.Finding {
	e := p.Echo
	if e == nil || e.Received == 0 || e.Sent-e.Received < 2 || 20*(e.Sent-e.Received) < e.Sent {
		return nil
	}
	return &record.Finding{Confidence: record.Likely, Reference: "RFC 2680; ping(8)",
		Summary: fmt.Sprintf("packets to %s, or its answers, are lost", p.Address),
		Evidence: []string{fmt.Sprintf("%d of %d ICMP echo requests were answered; round trip %s to %s, median %s",
			e.Received, e.Sent, unit.FormatMs(e.MinMs), unit.FormatMs(e.MaxMs), unit.FormatMs(e.MedianMs))},
		Fix: said.On(h.Name, h.Alone, "see what is dropped here and on "+p.Address+
			" (ip -s link, tc -s qdisc); hop by hop: mtr -n "+p.Address,
			"routers and hosts may limit the rate of their answers: confirm by a measurement, linerate measure "+
				p.Address)}
}

// largestPacket is the largest that a probe's interface can send: of IPv4 the length has 16 bits,
// and the MTU of lo is 65536.
func largestPacket(p record.Probe) int {
	if facts.Parse(p.Address).Is6() {
		return p.InterfaceMTU
	}
	return min(p.InterfaceMTU, 1<<16-1)
}

func mtuBlackhole(h *facts.Host, p record.Probe) *record.Finding {
	m := p.PathMTU
	if m == nil || m.Reported || m.MTU == 0 || m.MTU >= largestPacket(p) {
		return nil
	}
	return &record.Finding{Confidence: record.Certain, Reference: "RFC 2923, section 2.1; RFC 4821",
		Places: facts.OnePlace(p.Address),
		Summary: fmt.Sprintf(
			"packets to %s of more than %d bytes vanish without a message: connections hang once they send much",
			p.Address, m.MTU),
		Evidence: []string{fmt.Sprintf("%s has MTU %d; %d bytes are answered, %d are not, and no ICMP message came",
			p.Interface, p.InterfaceMTU, m.MTU, m.MTU+1)},
		Fix: said.On(h.Name, h.Alone,
			fmt.Sprintf(
				"one MTU on the link, its switches included; for this peer alone: ip route replace %s dev %s mtu %d",
				p.Address, p.Interface, m.MTU),
			"or let ICMP type 3 code 4 pass; a workaround: sysctl -w net.ipv4.tcp_mtu_probing=1",
			fmt.Sprintf("to confirm: ping -M do -s %d %s passes, -s %d does not", m.MTU-28, p.Address, m.MTU-27))}
}

func pathMTUSmaller(h *facts.Host, p record.Probe) *record.Finding {
	m := p.PathMTU
	if m == nil || !m.Reported || m.MTU >= largestPacket(p) {
		return nil
	}
	return &record.Finding{Confidence: record.Possible, Reference: "RFC 1191; RFC 8201",
		Summary: fmt.Sprintf("the path to %s takes packets of at most %d bytes, and a router says so",
			p.Address, m.MTU),
		Evidence: []string{fmt.Sprintf("%s has MTU %d; a router named %d", p.Interface, p.InterfaceMTU, m.MTU)},
		Fix: said.On(h.Name, h.Alone,
			"none for TCP, which learns it; datagrams of at most that size, less the headers")}
}

func connectUnanswered(h *facts.Host, p record.Probe) *record.Finding {
	if p.Echo == nil || p.Echo.Received == 0 || len(p.Connects) == 0 ||
		slices.ContainsFunc(p.Connects, func(c record.ConnectProbe) bool {
			return c.Outcome != record.ConnectUnanswered
		}) {
		return nil
	}
	return &record.Finding{Confidence: record.Likely, Reference: "RFC 9293, section 3.8.1",
		Places: facts.OnePlace(fmt.Sprint(netip.AddrPortFrom(facts.Parse(p.Address), uint16(p.Connects[0].Port)))),
		Summary: fmt.Sprintf(
			"%s is there and does not answer connections to port %d: a firewall drops them, or the listener's queue is full",
			p.Address, p.Connects[0].Port),
		Evidence: []string{fmt.Sprintf(
			"%d of %d echo requests were answered; a connection to port %d was not within %.0f ms", p.Echo.Received,
			p.Echo.Sent, p.Connects[0].Port, p.Connects[0].Ms)},
		Fix: said.On(p.Address, false, "ss -ltn (is the queue of the listener full?); nft list ruleset")}
}
