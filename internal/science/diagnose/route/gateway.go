package route

import (
	"fmt"
	"net/netip"
	"slices"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
	"linerate/internal/science/diagnose/said"
)

// Rules about gateways.
var GatewayRules = []rule.Rule{
	{ID: cause.GatewayUnresolved.Code, Host: true, Parts: []string{"routes", "neighbours"}, Find: gateways,
		Explains: append(cause.Codes(cause.ConnectFails, cause.NeighbourFailed, cause.NoRoute), "syn-unanswered"),
		AtPeers:  []string{"syn-unanswered"}},
	{ID: cause.GatewayOffLink.Code, Host: true, Parts: []string{facts.EveryRoute, "interfaces"},
		Find: gatewaysOffLink, Explains: cause.Codes(cause.GatewayUnresolved)},
}

// Rules about routes that discard, and about reverse-path filters.
var FilterRules = []rule.Rule{
	{ID: "blackhole-route", Parts: []string{"routes"}, Host: true,
		About: "A route of type blackhole, unreachable, prohibit or throw, those of the kernel and default routes of last resort (a metric of 4278190080 and more, as a VRF has) left out; likely if no daemon made it.",
		Find:  rule.Each(rule.EveryHost, blackhole), Explains: []string{"no-route", "syn-unanswered"},
		AtPeers: []string{"syn-unanswered"}},
	{ID: "strict-rp-filter", Host: true,
		About: "rp_filter is 1 on interfaces that share a subnet, or 1 anywhere while TcpExt.IPReversePathFilter grew (certain), or where another host's ARP requests are not answered and the route back leaves by another interface, or there is none.",
		Find:  rule.Each(rule.EveryHost, strictFilter), Parts: []string{"parameters"}, Growth: true,
		Explains: []string{"rp-filter-drop", "syn-unanswered", "connect-fails", "tcp-retransmissions"},
		AtPeers:  []string{"syn-unanswered"}},
	{ID: "loose-rp-filter", Host: true,
		About: "rp_filter is 2 on an interface and 1 on none, and TcpExt.IPReversePathFilter grew (certain), or another host's ARP requests are not answered and there is no route back to it.",
		Find:  rule.Each(rule.EveryHost, looseFilter), Parts: []string{"parameters"}, Growth: true,
		Explains: []string{"syn-unanswered", "connect-fails", "tcp-retransmissions"},
		AtPeers:  []string{"syn-unanswered"}},
}

// gateways finds gateways that do not answer ARP or neighbour discovery.
func gateways(f facts.Trial) (findings []record.Finding) {
	for _, h := range f.Hosts {
		h.EachGateway(func(r record.RouteEntry, gateway netip.Addr, name string) {
			for _, n := range h.Reading.Snapshot.Neighbours {
				if n.Address != gateway.String() || n.Interface != name || !facts.Failed(n) || f.Filtered(h, n) {
					continue
				}
				findings = append(findings, *facts.Found(cause.GatewayUnresolved, h, record.Certain,
					cause.Gateway{Gateway: gateway, Interface: name}).
					With(h.Name, facts.Route(r, ""), facts.FailedEntry(n)).With(h.Name, h.Unresolved(n.Interface)...).
					At(h.ByGateway(gateway, name)...))
			}
		})
	}
	return findings
}

// gatewaysOffLink finds gateways in no subnet of the interface that they are to be reached by.
func gatewaysOffLink(f facts.Trial) (findings []record.Finding) {
	for _, h := range f.Hosts {
		h.EachGateway(func(r record.RouteEntry, gateway netip.Addr, name string) {
			i := slices.IndexFunc(h.Interfaces, func(p *facts.Interface) bool { return p.Name == name })
			if i < 0 || gateway.IsLinkLocalUnicast() || h.Missing(facts.EveryRoute) != "" ||
				r.Onlink ||
				slices.ContainsFunc(h.Interfaces[i].Prefixes, func(p netip.Prefix) bool {
					return p.Contains(gateway)
				}) ||
				h.Routed(gateway, name) {
				return
			}
			findings = append(findings, *facts.Found(cause.GatewayOffLink, h, record.Likely,
				cause.Gateway{Gateway: gateway, Interface: name}).
				With(h.Name, facts.Route(r, ""), fact.Addresses{Interface: name, Addresses: h.Interfaces[i].Prefixes}).
				At(h.ByGateway(gateway, name)...))
		})
	}
	return findings
}

// blackhole finds routes that discard, but those of the kernel's own and of last resort.
func blackhole(_ facts.Trial, h *facts.Host) *record.Finding {
	var rows, places []string
	confidence := record.Possible // of a routing daemon, or of a network of containers
	for _, r := range h.Reading.Snapshot.Routes {
		if facts.IsDiscard(r) && !(r.Interface == "lo" && r.Protocol == "kernel") && !facts.LastResort(r) &&
			r.Table != facts.LocalTable && len(rows) < 6 {
			rows = append(rows, fmt.Sprintf("table %d: %s", r.Table, r.Text))
			places = append(append(places, "route "+r.To), facts.Backs(r)...)
			if slices.Contains([]string{"", "boot", "static"}, r.Protocol) {
				confidence = record.Likely // a person's
			}
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return &record.Finding{
		Host: h.Name, Places: facts.OnePlace(places...), Confidence: confidence,
		Summary:  "routes discard packets on purpose",
		Evidence: rows, Fix: said.On(h.Name, h.Alone,
			"ip route del with the line, if the destination is to be reached"),
		Reference: "ip-route(8)",
	}
}
