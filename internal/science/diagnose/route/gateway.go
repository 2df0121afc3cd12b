package route

import (
	"net/netip"
	"slices"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
)

// GatewayRules are about gateways that do not answer or cannot be reached.
var GatewayRules = []rule.Rule{
	{ID: cause.GatewayUnresolved.Code, Host: true, Parts: []string{"routes", "neighbours"}, Find: gateways,
		Explains: append(cause.Codes(cause.ConnectFails, cause.NeighbourFailed, cause.NoRoute), "syn-unanswered"),
		AtPeers:  []string{"syn-unanswered"}},
	{ID: cause.GatewayOffLink.Code, Host: true, Parts: []string{facts.EveryRoute, "addresses"},
		Find: gatewaysOffLink, Explains: cause.Codes(cause.GatewayUnresolved)},
}

// FilterRules are about routes that discard packets, and about reverse-path filters.
var FilterRules = []rule.Rule{
	{ID: cause.BlackholeRoute.Code, Parts: []string{"routes"}, Host: true, Find: rule.Each(rule.EveryHost, blackhole),
		Explains: append(cause.Codes(cause.NoRoute), "syn-unanswered"), AtPeers: []string{"syn-unanswered"}},
	{ID: cause.StrictRPFilter.Code, Host: true, Find: rule.Each(rule.EveryHost, strictFilter),
		Parts: filterParts, Growth: true,
		Explains: append(cause.Codes(cause.RPFilterDrop, cause.ConnectFails, cause.TCPRetransmissions),
			"syn-unanswered"),
		AtPeers: []string{"syn-unanswered"}},
	{ID: cause.LooseRPFilter.Code, Host: true, Find: rule.Each(rule.EveryHost, looseFilter),
		Parts: filterParts, Growth: true,
		Explains: append(cause.Codes(cause.ConnectFails, cause.TCPRetransmissions), "syn-unanswered"),
		AtPeers:  []string{"syn-unanswered"}},
}

// filterParts are where reverse-path filters are set, and what they dropped.
var filterParts = []string{facts.Parameters("net.ipv4.conf.all.rp_filter"), facts.SNMP(facts.FilterCounter)}

// gateways finds gateways that answer neither ARP nor neighbour discovery.
func gateways(f facts.Trial) (findings []record.Finding) {
	for _, h := range f.Hosts {
		h.EachGateway(func(r netstate.RouteEntry, gateway netip.Addr, name string) {
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

// gatewaysOffLink finds gateways that are in no subnet of the interface that leads to them.
func gatewaysOffLink(f facts.Trial) (findings []record.Finding) {
	for _, h := range f.Hosts {
		h.EachGateway(func(r netstate.RouteEntry, gateway netip.Addr, name string) {
			out := h.Interface(name)
			if out == nil || gateway.IsLinkLocalUnicast() || h.Missing(facts.EveryRoute) != nil ||
				r.Onlink || len(h.Pasted) > 0 && len(out.Prefixes) == 0 ||
				// its addresses are not in the text
				slices.ContainsFunc(out.Prefixes, func(p netip.Prefix) bool {
					return p.Contains(gateway)
				}) ||
				h.Routed(gateway, name) {
				return
			}
			findings = append(findings, *facts.Found(cause.GatewayOffLink, h, record.Likely,
				cause.Gateway{Gateway: gateway, Interface: name}).
				With(h.Name, facts.Route(r, ""), fact.Addresses{Interface: name, Addresses: out.Prefixes}).
				At(h.ByGateway(gateway, name)...))
		})
	}
	return findings
}

// blackhole finds routes that discard packets, except the kernel's own and those of last resort.
func blackhole(_ facts.Trial, h *facts.Host) *record.Finding {
	// Possible: of a routing daemon, or of a network of containers.
	finding := facts.Found(cause.BlackholeRoute, h, record.Possible, cause.None{})
	var places []record.Touch
	for _, r := range h.Reading.Snapshot.Routes {
		if facts.IsDiscard(r) && !(r.Interface == "lo" && r.Protocol == "kernel") && !facts.LastResort(r) &&
			r.Table != facts.LocalTable && len(finding.Facts) < 6 {
			finding.With(h.Name, facts.Route(r, fact.Discarding))
			places = append(append(places, facts.To(r)...), facts.BackBy(r)...)
			if slices.Contains([]string{"", "boot", "static"}, r.Protocol) {
				finding.Confidence = record.Likely // a person's
			}
		}
	}
	if finding.Facts == nil {
		return nil
	}
	return finding.At(facts.OneTouch(places...)...)
}
