package diagnose

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/setting"
)

// Routing looks at the destination alone unless a rule says otherwise. Two interfaces
// on one subnet make two routes to it, and the first one wins for every packet,
// whatever its source address.
const (
	egressReference = "Linux ip-rule(8), ip-route(8); RFC 3704 section 4.3"
	filterReference = "Linux Documentation/networking/ip-sysctl.rst (rp_filter); RFC 3704"
)

var routeRules = []rule{
	{id: "same-subnet-one-egress",
		about: "Flows leave by another interface of the subnet than the one with their source address; certain when the interfaces' counters agree. Needs a measurement.",
		find:  each(everyHost, sameSubnetOneEgress)},
	{id: "rp-filter-drop",
		about: "rp_filter is 1 on an interface, and TcpExt.IPReversePathFilter grew, or, in a measurement, a peer cannot resolve an address that the host would answer by another interface.",
		find:  each(everyHost, rpFilterDrop), stops: true},
}

// asymmetry is a route decision by another interface than the one that holds the source
// address: what is answered comes back by that one (asymmetric routing).
type asymmetry struct {
	source, destination netip.Addr
	holder, out         *netif
}

// asymmetries lists the host's recorded route decisions of that kind.
func (h *host) asymmetries() []asymmetry {
	var list []asymmetry
	for _, l := range h.reading.Snapshot.Lookups {
		d := asymmetry{source: parse(l.Source), destination: parse(l.Destination)}
		d.holder, d.out = h.holder(d.source), h.lookup(d.source, d.destination)
		if d.holder != nil && d.out != nil && d.holder != d.out && d.holder.mac != d.out.mac {
			list = append(list, d)
		}
	}
	return list
}

func parse(text string) netip.Addr {
	addr, _ := netip.ParseAddr(text)
	return addr
}

// idle is the share of traffic below which an interface counts as unused.
const idle = 0.05

// sameSubnetOneEgress finds hosts whose data leaves by one of several interfaces on a
// subnet. Acknowledgements leave by it too, and are not counted: they limit
// nothing.
func sameSubnetOneEgress(f observed, h *host) *record.Finding {
	meant := f.meant(h, false)
	var list []asymmetry
	for _, d := range h.asymmetries() {
		subnet := h.onSubnet(d.destination, d.out.vrf)
		if slices.Contains(subnet, d.holder) && slices.Contains(subnet, d.out) && f.sends(h, d) {
			list = append(list, d)
		}
	}
	if len(list) == 0 {
		return nil
	}
	subnet := h.onSubnet(list[0].destination, list[0].out.vrf)
	sent := func(p *netif) float64 {
		return h.share(p, subnet, func(d record.InterfaceDelta) float64 { return d.TxBytes })
	}
	// A socket bound to its interface does not follow the route decision.
	list = slices.DeleteFunc(list, func(d asymmetry) bool { return sent(d.holder) > meant[d.holder]/2 })
	if len(list) == 0 {
		return nil
	}
	confidence := record.Likely
	evidence := h.egressLines(list)
	out := list[0].out
	if sent(out) >= meant[out]+excess && sent(list[0].holder) < idle {
		confidence = record.Certain
	}
	var shares []string
	for i, p := range subnet {
		share := "%s.%s sent %s of the traffic, though %s came from its address"
		if i > 0 {
			share = "%s.%s %s, though %s"
		}
		shares = append(shares, fmt.Sprintf(share, h.name, p.name, percent(sent(p)), percent(meant[p])))
	}
	evidence = append(evidence, strings.Join(shares, "; "))
	return &record.Finding{
		Host: h.name, Confidence: confidence,
		Summary: fmt.Sprintf(
			"%s sends by %s whatever the source address, because its interfaces share a subnet and no rule routes by source", h.name, out.name),
		Evidence:  evidence,
		Fix:       h.commands(h.routeBySource(list)),
		Settings:  h.routeBySource(list),
		Reference: egressReference,
	}
}

// sends reports whether some flow's data took this route decision.
func (f observed) sends(h *host, d asymmetry) bool {
	return slices.ContainsFunc(f.trial.Flows, func(fl record.Flow) bool {
		return fl.Connected && fl.From == h.name && fl.ReceivedBytes > 0 &&
			fl.SourceAddr() == d.source && fl.DestinationAddr() == d.destination
	})
}

// egressLines lists which sources leave by which interface, a line per interface.
func (h *host) egressLines(list []asymmetry) []string {
	var lines []string
	var done []*netif
	for _, d := range list {
		if slices.Contains(done, d.out) {
			continue
		}
		done = append(done, d.out)
		var sources, destinations []string
		for _, o := range list {
			if o.out != d.out {
				continue
			}
			sources = union(sources, fmt.Sprintf("%s (%s)", o.source, o.holder.name))
			destinations = union(destinations, o.destination.String())
		}
		lines = append(lines, fmt.Sprintf("packets from %s to %s leave by %s (route lookup on %s)",
			join(sources), join(destinations), h.end(d.out), h.name))
	}
	return lines
}

// rpFilterDrop finds hosts whose strict reverse-path filter drops what arrives on an
// interface by which its sender would not be answered. It drops ARP requests likewise, and
// does not count them, so a peer that cannot resolve an address is a trace too.
func rpFilterDrop(f observed, h *host) *record.Finding {
	dropped := h.reading.SNMPDelta(filterCounter)
	filtering := h.filtering(strict)
	if len(filtering) == 0 {
		return nil
	}
	var list []asymmetry
	for _, d := range h.asymmetries() {
		if d.source.Is4() && slices.Contains(filtering, d.holder) { // IPv6 has no such filter
			list = append(list, d)
		}
	}
	confidence := ""
	var evidence []string
	if dropped > 0 {
		evidence = append(evidence, h.grewRow(filterCounter, dropped))
		switch {
		case len(list) > 0:
			confidence = record.Certain
		case len(h.reading.Snapshot.Lookups) == 0:
			confidence = record.Likely
		default: // no known route is asymmetric: spoofed or stray packets do this
			confidence = record.Possible
		}
	}
	if lines := f.unresolved(list); len(lines) > 0 {
		confidence = record.Certain
		evidence = append(evidence, lines...)
	} else if lines := f.unconnected(h, list); len(lines) > 0 && confidence == "" {
		confidence = record.Likely
		evidence = append(evidence, lines...)
	}
	if confidence == "" {
		return nil
	}
	evidence = append(evidence, h.egressLines(list)...)
	var where []*netif
	names := ""
	if len(list) > 0 {
		where, names = []*netif{list[0].holder}, list[0].holder.name
	} else {
		var why []string
		where, names, why = f.dropping(h, filtering, dropped)
		evidence = append(evidence, why...)
	}
	for _, p := range where[:min(len(where), 3)] {
		evidence = append(evidence, h.setting("rp_filter", p))
	}
	fix := h.routeBySource(list)
	loose := h.set("net.ipv4.conf.all.rp_filter", "2")
	lines := append(h.commands(fix), h.instead(loose)...)
	if len(fix) == 0 {
		fix, lines = loose, h.commands(loose)
	}
	return &record.Finding{
		Host: h.name, Confidence: confidence,
		Summary: fmt.Sprintf(
			"%s drops what arrives on %s, because its strict reverse-path filter would answer by another interface",
			h.name, names),
		Evidence:  evidence,
		Fix:       lines,
		Settings:  fix,
		Reference: filterReference,
	}
}

// unresolved finds peers whose requests for such an address got no answer.
func (f observed) unresolved(list []asymmetry) []string {
	var lines []string
	for _, peer := range f.hosts {
		var addrs []string
		for _, d := range list {
			if peer.holder(d.destination) == nil {
				continue
			}
			var states []string
			for _, n := range peer.neighbours(d.source) {
				if failed(n) {
					states = union(states, n.State)
				}
			}
			if len(states) > 0 {
				slices.Sort(states)
				addrs = union(addrs, fmt.Sprintf("%s (%s)", d.source, strings.Join(states, " and ")))
			}
		}
		if len(addrs) > 0 {
			lines = append(lines, fmt.Sprintf("%s gets no answer to its ARP requests for %s", peer.name, join(addrs)))
		}
	}
	return lines
}

// unconnected finds flows of such addresses that could not connect.
func (f observed) unconnected(h *host, list []asymmetry) []string {
	var ids []string
	for _, fl := range f.trial.Flows {
		mine, theirs := fl.DestinationAddr(), fl.SourceAddr()
		if fl.From == h.name {
			mine, theirs = theirs, mine
		}
		if !fl.Connected && slices.ContainsFunc(list, func(d asymmetry) bool {
			return d.source == mine && (d.destination == theirs || !theirs.IsValid())
		}) {
			ids = append(ids, fl.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("flows %s could not connect", join(ids))}
}

// routeBySource are the settings that make packets leave by the interface that
// holds their source address, with tables that the host does not use yet.
func (h *host) routeBySource(list []asymmetry) (settings []setting.Setting) {
	table := 100
	var done []netip.Addr
	for _, d := range list {
		if slices.Contains(done, d.source) {
			continue
		}
		done = append(done, d.source)
		for table++; h.usesTable(table); table++ {
		}
		route := func(r setting.Route) { settings = append(settings, setting.Setting{Host: h.name, Route: &r}) }
		for _, prefix := range d.holder.prefixes {
			if prefix.Addr() != d.source {
				continue
			}
			route(setting.Route{To: prefix.Masked().String(), Interface: d.holder.name, Source: d.source, Table: table})
			if gateway := h.gateway(d.source.Is6()); prefix.Contains(gateway) || gateway.IsLinkLocalUnicast() &&
				len(h.onSubnet(d.destination, d.holder.vrf)) > 1 {
				route(setting.Route{To: "default", Via: gateway.String(), Interface: d.holder.name, Table: table})
			}
		}
		settings = append(settings, setting.Setting{Host: h.name, Rule: &setting.Rule{From: d.source.String(),
			Table: table}})
	}
	return settings
}

func (h *host) usesTable(table int) bool {
	s := h.reading.Snapshot
	return slices.ContainsFunc(s.Rules, func(r record.RuleEntry) bool { return r.Table == table }) ||
		slices.ContainsFunc(s.Routes, func(r record.RouteEntry) bool { return r.Table == table })
}

// gateway is the next hop of the main table's default route of a family.
func (h *host) gateway(six bool) netip.Addr {
	for _, r := range h.reading.Snapshot.Routes {
		to, is := destination(r, !six)
		via := parse(r.Via)
		if is && to.Bits() == 0 && (r.Table == mainTable || r.Table == 0) && via.IsValid() && via.Is6() == six {
			return via
		}
	}
	return netip.Addr{}
}
