package diagnose

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/device"
	"linerate/internal/model/record"
)

// Rules about subnets of one host.
var addressRules = []rule{
	{id: "same-subnet-interfaces", host: true,
		about: "Two interfaces, not of different VRFs, have addresses of one subnet, and arp_ignore and arp_filter let either answer for the other: the mechanism of arp-flux.",
		parts: []string{"interfaces", "parameters"}, find: each(everyHost, sameSubnet),
		explains: []string{"arp-flux", "arp-wrong-source", "same-subnet-one-egress", "rp-filter-drop"}},
}

// Rules about gateways.
var gatewayRules = []rule{
	{id: "gateway-unresolved", host: true, parts: []string{"routes", "neighbours"},
		about: "A gateway of a route is FAILED or INCOMPLETE in the neighbour table.", find: gateways,
		sameCause: sameSummary, explains: []string{"syn-unanswered", "connect-fails", "neighbour-failed", "no-route"},
		atPeers: []string{"syn-unanswered"}},
	{id: "gateway-off-link", host: true, parts: []string{everyRoute, "interfaces"},
		about: "A gateway of a route is in no subnet of the interface, and no other route leads to it there.",
		find:  gatewaysOffLink, sameCause: sameSummary, explains: []string{"gateway-unresolved"}},
}

// Rules about neighbours that do not answer.
var neighbourRules = []rule{
	{id: "neighbour-failed", host: true, parts: []string{"neighbours"},
		about: "Neighbour entries are FAILED or INCOMPLETE; likely where the kernel drops at least ten packets for it (NEIGH_FAILED, traced).",
		find:  each(everyHost, neighbourFailed), explains: []string{"syn-unanswered"}},
	{id: "neighbour-table-full", host: true, about: "The neighbour table has at least 90 % of gc_thresh3 entries.",
		find: neighbourTable, parts: []string{"neighbour tables", "parameters"}, sameCause: sameSummary,
		explains: []string{"neighbour-failed"}},
}

// Rules about routes that discard, and about reverse-path filters.
var filterRules = []rule{
	{id: "blackhole-route", parts: []string{"routes"}, host: true,
		about: "A route of type blackhole, unreachable, prohibit or throw, those of the kernel and default routes of last resort (a metric of 4278190080 and more, as a VRF has) left out; likely if no daemon made it.",
		find:  each(everyHost, blackhole), explains: []string{"no-route", "syn-unanswered"},
		atPeers: []string{"syn-unanswered"}},
	{id: "strict-rp-filter", host: true,
		about: "rp_filter is 1 on interfaces that share a subnet, or 1 anywhere while TcpExt.IPReversePathFilter grew (certain), or where another host's ARP requests are not answered and the route back leaves by another interface, or there is none.",
		find:  each(everyHost, strictFilter), parts: []string{"parameters"}, growth: true,
		explains: []string{"rp-filter-drop", "syn-unanswered", "connect-fails", "tcp-retransmissions"},
		atPeers:  []string{"syn-unanswered"}},
	{id: "loose-rp-filter", host: true,
		about: "rp_filter is 2 on an interface and 1 on none, and TcpExt.IPReversePathFilter grew (certain), or another host's ARP requests are not answered and there is no route back to it.",
		find:  each(everyHost, looseFilter), parts: []string{"parameters"}, growth: true,
		explains: []string{"syn-unanswered", "connect-fails", "tcp-retransmissions"},
		atPeers:  []string{"syn-unanswered"}},
}

// Rules about entries of neighbours with wrong MAC addresses.
var wrongNeighbourRules = []rule{
	{id: "wrong-neighbour", parts: []string{"neighbours"}, host: true,
		about: "A host's entry for an address of another host has a MAC address that is none of that host's interfaces; certain if it is a static entry or another read host's. Without that host's snapshot, a static entry (PERMANENT) has another one than answers ARP requests.",
		find:  wrongNeighbours, sameCause: sameSummary, explains: []string{"static-neighbour", "other-host-frames",
			"syn-unanswered", "connect-fails"}},
}

// Rules about two hosts on one subnet.
var hostsRules = []rule{
	{id: "address-twice", host: true, about: "Two hosts have one address. Needs the snapshots of both.",
		find: addressTwice, sameCause: sameSummary, explains: []string{"duplicate-address", "wrong-neighbour",
			"syn-unanswered", "other-host-frames", "connect-fails"}},
	{id: "mac-twice-in-subnet", host: true,
		about: "Two hosts have one MAC address on one subnet. Needs the snapshots of both.", find: macTwiceInSubnet,
		sameCause: sameSummary},
	{id: "netmask-differs", host: true,
		about: "Two hosts have addresses of one subnet with different prefix lengths; certain where the longer prefix leaves the other host out. Needs the snapshots of both.",
		find:  netmasks, sameCause: sameSummary, explains: []string{"no-route", "syn-unanswered", "neighbour-failed",
			"gateway-unresolved"}},
	{id: "mtu-differs", host: true,
		about: "Two hosts have different MTUs on one subnet that is no tunnel. Needs the snapshots of both.",
		find:  mtus, sameCause: sameSummary, explains: []string{"frames-too-long", "rx-dropped", "fragmentation-needed",
			"tcp-retransmissions", "unacknowledged"}},
}

// prefixes are an interface's addresses with their prefix lengths, without link-local ones.
func prefixes(i record.InterfaceSnapshot) (list []netip.Prefix) {
	for _, text := range i.Addresses {
		if p, err := netip.ParsePrefix(text); err == nil && !p.Addr().IsLinkLocalUnicast() {
			list = append(list, p)
		}
	}
	return list
}

// sameSubnet finds hosts with several interfaces on one subnet that answer ARP requests for
// all of their addresses, by any interface.
func sameSubnet(_ observed, h *host) *record.Finding {
	netifs := h.netifs[:min(len(h.netifs), mostInterfaces)]
	for n, a := range netifs {
		for _, b := range netifs[n+1:] {
			if !a.up || !b.up || a.member || b.member || !shareSubnet(a, b) || h.effective("arp_ignore", a) > 0 &&
				h.effective("arp_ignore", b) > 0 ||
				h.effective("arp_filter", a) > 0 && h.effective("arp_filter", b) > 0 ||
				h.effective("arp_ignore", a) < 0 {
				continue
			}
			settings := h.set("net.ipv4.conf.all.arp_ignore", "1", "net.ipv4.conf.all.arp_announce", "2")
			return &record.Finding{
				Host: h.name, Confidence: record.Likely,
				Summary: fmt.Sprintf(
					"%s and %s are on one subnet, and either answers ARP requests for the addresses of both: peers may send all traffic to one of them", a.name, b.name),
				Evidence: slices.DeleteFunc([]string{fmt.Sprintf("%s: %s; %s: %s", a.name, texts(a.v4()), b.name,
					texts(b.v4())), h.setting("arp_ignore", a), h.setting("arp_announce", a)}, func(s string) bool {
					return s == ""
				}),
				Fix: append(h.commands(settings),
					on(h.name, h.alone,
						"and a rule and a table for each address, so that answers leave by its interface: linerate new nas, linerate run nas.yaml proves it; or one subnet for each interface, or a bond")...),
				Settings: settings, Reference: ipSysctl + "; RFC 826; RFC 3704, section 4.3",
			}
		}
	}
	return nil
}

// shareSubnet reports whether two interfaces have addresses of one subnet, in one VRF.
func shareSubnet(a, b *netif) bool {
	for _, x := range a.v4() {
		if a.vrf == b.vrf && slices.ContainsFunc(b.v4(), func(y netip.Prefix) bool {
			return x.Bits() < 32 && y.Bits() < 32 && x.Overlaps(y)
		}) {
			return true
		}
	}
	return false
}

// hopsOf are the next hops of a route, one included; without a gateway where the destination is on
// the link.
func hopsOf(r record.RouteEntry) []record.RouteNexthop {
	if len(r.Nexthops) > 0 {
		return r.Nexthops
	}
	return []record.RouteNexthop{{Interface: r.Interface, Via: r.Via}}
}

// eachGateway are the routes by a gateway, each gateway once.
func (h *host) eachGateway(yield func(r record.RouteEntry, gateway netip.Addr, name string)) {
	seen := map[netip.Addr]bool{}
	for _, r := range h.reading.Snapshot.Routes {
		for _, hop := range hopsOf(r) {
			gateway, err := netip.ParseAddr(hop.Via)
			if err == nil && !seen[gateway] {
				seen[gateway] = true
				yield(r, gateway, hop.Interface)
			}
		}
	}
}

// gateways finds gateways that do not answer ARP or neighbour discovery.
func gateways(f observed) (findings []record.Finding) {
	for _, h := range f.hosts {
		h.eachGateway(func(r record.RouteEntry, gateway netip.Addr, name string) {
			for _, n := range h.reading.Snapshot.Neighbours {
				if n.Address != gateway.String() || n.Interface != name || !failed(n) || f.filtered(h, n) {
					continue
				}
				findings = append(findings, record.Finding{
					Host: h.name, Places: h.byGateway(gateway, name), Confidence: record.Certain,
					Summary:  fmt.Sprintf("the gateway %s does not answer on %s", gateway, name),
					Evidence: append([]string{"route: " + r.Text, failedRow(n)}, h.unresolvedDrops(n.Interface)...),
					Fix: on(h.name, h.alone,
						"check that the gateway has this address and is on this link (arping "+gateway.String()+
							"), or correct the route"),
					Reference: "RFC 1122, section 3.3.1; ip-neighbour(8)",
				})
			}
		})
	}
	return findings
}

// gatewaysOffLink finds gateways in no subnet of the interface that they are to be reached by.
func gatewaysOffLink(f observed) (findings []record.Finding) {
	for _, h := range f.hosts {
		h.eachGateway(func(r record.RouteEntry, gateway netip.Addr, name string) {
			i := slices.IndexFunc(h.netifs, func(p *netif) bool { return p.name == name })
			if i < 0 || gateway.IsLinkLocalUnicast() || h.missing(everyRoute) != "" ||
				r.Onlink ||
				slices.ContainsFunc(h.netifs[i].prefixes, func(p netip.Prefix) bool { return p.Contains(gateway) }) ||
				h.routed(gateway, name) {
				return
			}
			findings = append(findings, record.Finding{
				Host: h.name, Places: h.byGateway(gateway, name), Confidence: record.Likely,
				Summary: fmt.Sprintf("the gateway %s is in no subnet of %s", gateway, name),
				Evidence: []string{"route: " + r.Text,
					fmt.Sprintf("%s: %s", name, cmp.Or(texts(h.netifs[i].prefixes), "no address"))},
				Fix:       on(h.name, h.alone, "correct the gateway's address or the prefix length of the interface's"),
				Reference: "RFC 1122, section 3.3.1; ip-route(8)",
			})
		})
	}
	return findings
}

// routed reports whether a route without a gateway leads to an address by an interface.
func (h *host) routed(addr netip.Addr, name string) bool {
	return slices.ContainsFunc(h.reading.Snapshot.Routes, func(r record.RouteEntry) bool {
		to, err := netip.ParsePrefix(r.To)
		return err == nil && to.Contains(addr) && r.Interface == name && r.Via == "" && len(r.Nexthops) == 0
	})
}

// discarding are the types of routes that discard, as ip-route(8) spells them.
var discarding = []string{"blackhole", "unreachable", "prohibit", "throw"}

func isDiscard(r record.RouteEntry) bool { return slices.Contains(discarding, r.Type) }

// lastResort reports whether a route is a default one that yields to any other: the kernel's own
// of IPv6, and the one that keeps lookups in the table of a VRF from going on in other tables
// (Documentation/networking/vrf.rst: metric 4278198272). The uppermost byte of such a metric is
// 255, which routing daemons take for the distance of a route that is not to be used.
func lastResort(r record.RouteEntry) bool {
	to, _ := destination(r, !strings.Contains(r.To, ":"))
	return r.Metric >= 255<<24 && to.Bits() == 0
}

// blackhole finds routes that discard, but those of the kernel's own and of last resort.
func blackhole(_ observed, h *host) *record.Finding {
	var rows, places []string
	confidence := record.Possible // of a routing daemon, or of a network of containers
	for _, r := range h.reading.Snapshot.Routes {
		if isDiscard(r) && !(r.Interface == "lo" && r.Protocol == "kernel") && !lastResort(r) &&
			r.Table != localTable && len(rows) < 6 {
			rows = append(rows, fmt.Sprintf("table %d: %s", r.Table, r.Text))
			places = append(append(places, "route "+r.To), backs(r)...)
			if slices.Contains([]string{"", "boot", "static"}, r.Protocol) {
				confidence = record.Likely // a person's
			}
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return &record.Finding{
		Host: h.name, Places: onePlace(places...), Confidence: confidence, Summary: "routes discard packets on purpose",
		Evidence: rows, Fix: on(h.name, h.alone, "ip route del with the line, if the destination is to be reached"),
		Reference: "ip-route(8)",
	}
}

// pair is two interfaces of two hosts whose subnets overlap.
type pair struct {
	h, other *host
	a, b     record.InterfaceSnapshot
}

// inside reports whether an interface leads to what is on its own host alone: a bridge without
// a port to a network, as containers and virtual machines have, or a dummy. Several hosts may
// have the same addresses there. A bridge that has learned the MAC address of another of the
// hosts leads to it, whatever its ports are.
func (h *host) inside(i record.InterfaceSnapshot) bool {
	if i.Kind == "dummy" {
		return true
	}
	if i.Kind != "bridge" {
		return false
	}
	ports := map[string]bool{}
	for _, p := range h.reading.Snapshot.Interfaces {
		if p.Master == i.Interface && !slices.Contains([]string{"veth", "tun", "tap"}, p.Kind) {
			return false
		}
		ports[p.Interface] = p.Master == i.Interface
	}
	return !slices.ContainsFunc(h.reading.Snapshot.FDB, func(e record.FDBEntry) bool {
		return !e.Local && ports[e.Interface] && h.foreign[strings.ToLower(e.MAC)]
	})
}

// Bounds of what is compared between two hosts: a snapshot may be from elsewhere.
const mostInterfaces, mostNetworks, mostPairs = 500, 64, 10_000

// attached is an interface with its networks, each once.
type attached struct {
	i        record.InterfaceSnapshot
	vrf      string // as of netif
	networks []netip.Prefix
}

// meets reports whether two interfaces are on one subnet.
func (a attached) meets(b attached) bool {
	return slices.ContainsFunc(a.networks, func(x netip.Prefix) bool {
		return slices.ContainsFunc(b.networks, x.Overlaps)
	})
}

// attachments are a host's up interfaces that lead to a network, by which others may be reached.
func (h *host) attachments() (list []attached) {
	for _, i := range h.reading.Snapshot.Interfaces {
		if !i.Up || h.inside(i) || len(list) == mostInterfaces {
			continue
		}
		a := attached{i: i, vrf: vrf(h.reading.Snapshot, i)}
		seen := map[netip.Prefix]bool{}
		for _, p := range prefixes(i) {
			if network := p.Masked(); !p.IsSingleIP() && !seen[network] && len(a.networks) < mostNetworks {
				seen[network] = true
				a.networks = append(a.networks, network)
			}
		}
		if len(a.networks) > 0 {
			list = append(list, a)
		}
	}
	return list
}

// Attachment is an interface that leads to a network, with its addresses.
type Attachment struct {
	Interface string
	MTU       int
	SpeedBps  float64 // that the hardware has negotiated; 0: not known, or no hardware
	Addresses []netip.Prefix
}

// Attachments are the interfaces of a host by which other hosts may be reached: up, with an
// address, and not those of a network inside the host.
func Attachments(s record.HostSnapshot) (list []Attachment) {
	h := host{reading: s.Reading}
	for _, a := range h.attachments() {
		list = append(list, Attachment{a.i.Interface, a.i.MTU, a.i.SpeedBps, prefixes(a.i)})
	}
	return list
}

// neighbouring are the pairs of interfaces of different hosts with addresses of one subnet.
func (f observed) neighbouring() (pairs []pair) {
	all := make([][]attached, len(f.hosts))
	for n, h := range f.hosts {
		all[n] = h.attachments()
	}
	for n, h := range f.hosts {
		for m := n + 1; m < len(f.hosts); m++ {
			for _, a := range all[n] {
				for _, b := range all[m] {
					if a.meets(b) {
						pairs = append(pairs, pair{h, f.hosts[m], a.i, b.i})
					}
					if len(pairs) == mostPairs {
						return pairs
					}
				}
			}
		}
	}
	return pairs
}

func addressTwice(f observed) (findings []record.Finding) {
	for _, p := range f.neighbouring() {
		for _, x := range prefixes(p.a) {
			others := prefixes(p.b)
			i := slices.IndexFunc(others, func(y netip.Prefix) bool { return y.Addr() == x.Addr() })
			if i < 0 {
				continue
			}
			findings = append(findings, record.Finding{
				Host: p.other.name, Subject: x.Addr().String(), Confidence: record.Certain,
				Summary: fmt.Sprintf("%s is the address of %s and of %s", x.Addr(), p.h.name, p.other.name),
				Evidence: []string{fmt.Sprintf("%s.%s: %s, %s", p.h.name, p.a.Interface, x, p.a.MAC),
					fmt.Sprintf("%s.%s: %s, %s", p.other.name, p.b.Interface, others[i], p.b.MAC)},
				Fix: []string{
					"another address for one of the two; none if it is an anycast or shared address on purpose"},
				Reference: "RFC 5227",
			})
		}
	}
	return findings
}

func macTwiceInSubnet(f observed) (findings []record.Finding) {
	for _, p := range f.neighbouring() {
		if p.a.MAC == "" || p.a.MAC != p.b.MAC {
			continue
		}
		findings = append(findings, record.Finding{
			Host: p.other.name, Confidence: record.Certain,
			Summary: fmt.Sprintf("%s and %s have the same MAC address on one subnet", p.h.name, p.other.name),
			Evidence: []string{fmt.Sprintf("%s.%s and %s.%s: %s", p.h.name, p.a.Interface, p.other.name,
				p.b.Interface, p.a.MAC)},
			Fix: []string{
				"another MAC address for one of the two: a cloned virtual machine keeps that of its original"},
			Reference: "IEEE 802.1D; ip-link(8)",
		})
	}
	return findings
}

func netmasks(f observed) (findings []record.Finding) {
	for _, p := range f.neighbouring() {
		for _, x := range prefixes(p.a) {
			for _, y := range prefixes(p.b) {
				if x.Bits() == y.Bits() || !x.Overlaps(y) || x.IsSingleIP() || y.IsSingleIP() ||
					x.Addr().Is4() != y.Addr().Is4() {
					continue
				}
				longer, host := x, p.h
				if y.Bits() > x.Bits() {
					longer, host = y, p.other
				}
				confidence := record.Likely
				other := x.Addr()
				if other == longer.Addr() {
					other = y.Addr()
				}
				if !longer.Contains(other) {
					confidence = record.Certain // which the longer one sends to a gateway, if to anywhere
				}
				findings = append(findings, record.Finding{
					Host: host.name, Places: onePlace(x.Masked().String(), y.Masked().String()), Confidence: confidence,
					Summary: fmt.Sprintf("%s and %s have different prefix lengths on one subnet", p.h.name,
						p.other.name),
					Evidence: []string{fmt.Sprintf("%s.%s: %s; %s.%s: %s", p.h.name, p.a.Interface, x, p.other.name,
						p.b.Interface, y)},
					Fix:       []string{"the same prefix length on all hosts of the subnet"},
					Reference: "RFC 1122, section 3.3.1; RFC 4632",
				})
			}
		}
	}
	return findings
}

func mtus(f observed) (findings []record.Finding) {
	for _, p := range f.neighbouring() {
		if p.a.MTU == p.b.MTU || p.a.MTU == 0 || p.b.MTU == 0 || device.TunnelKind(p.a.Kind) ||
			device.TunnelKind(p.b.Kind) {
			continue
		}
		small, large, low, high := p.h, p.other, p.a, p.b
		if low.MTU > high.MTU {
			small, large, low, high = large, small, high, low
		}
		changed, at, mtu := large, high.Interface, low.MTU
		if low.MTU < 1280 { // which IPv6 needs
			changed, at, mtu = small, low.Interface, high.MTU
		}
		finding := record.Finding{
			Host: small.name, Places: onePlace(small.device(low.Interface)...), Confidence: record.Certain,
			Summary: fmt.Sprintf(
				"%s and %s have different MTUs on one subnet: packets of more than %d bytes are dropped, and no router says so",
				p.h.name, p.other.name, low.MTU),
			Evidence: []string{fmt.Sprintf("%s.%s: MTU %d; %s.%s: MTU %d", p.h.name, p.a.Interface, p.a.MTU,
				p.other.name, p.b.Interface, p.b.MTU)},
			Reference: "RFC 894; RFC 2923, section 2.1",
		}
		finding.Fix, finding.Settings = changed.fixedBy(nil, changed.mtu(at, mtu))
		finding.Fix = append(finding.Fix,
			fmt.Sprintf("or, if every host and switch of the subnet takes packets of %d bytes, an MTU of %d on all of them", high.MTU, high.MTU))
		findings = append(findings, finding)
	}
	return findings
}
