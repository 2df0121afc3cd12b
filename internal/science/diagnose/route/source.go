package route

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/fix"
	"linerate/internal/science/diagnose/rule"
	"linerate/internal/science/diagnose/said"
)

// Routing looks at the destination alone unless a rule says otherwise. Two interfaces
// on one subnet make two routes to it, and the first one wins for every packet,
// whatever its source address.
const (
	egressReference = "Linux ip-rule(8), ip-route(8); RFC 3704 section 4.3"
)

// Rules find traffic that leaves by another interface than its address is on.
var Rules = []rule.Rule{
	{ID: "same-subnet-one-egress",
		About: "Flows leave by another interface of the subnet than the one with their source address; certain when the interfaces' counters agree. Needs a measurement.",
		Find:  rule.Each(rule.EveryHost, sameSubnetOneEgress)},
	{ID: "rp-filter-drop",
		About: "rp_filter is 1 on an interface, and TcpExt.IPReversePathFilter grew, or, in a measurement, a peer cannot resolve an address that the host would answer by another interface.",
		Find:  rule.Each(rule.EveryHost, rpFilterDrop), Stops: true},
}

// sameSubnetOneEgress finds hosts whose data leaves by one of several interfaces on a
// subnet. Acknowledgements leave by it too, and are not counted: they limit
// nothing.
func sameSubnetOneEgress(f facts.Trial, h *facts.Host) *record.Finding {
	meant := f.Meant(h, false)
	var list []facts.Asymmetry
	for _, d := range h.Asymmetries() {
		subnet := h.OnSubnet(d.Destination, d.Out.VRF)
		if slices.Contains(subnet, d.Holder) && slices.Contains(subnet, d.Out) && f.Sends(h, d) {
			list = append(list, d)
		}
	}
	if len(list) == 0 {
		return nil
	}
	subnet := h.OnSubnet(list[0].Destination, list[0].Out.VRF)
	sent := func(p *facts.Interface) float64 {
		return h.Share(p, subnet, func(d record.InterfaceDelta) float64 { return d.TxBytes })
	}
	// A socket bound to its interface does not follow the route decision.
	list = slices.DeleteFunc(list, func(d facts.Asymmetry) bool { return sent(d.Holder) > meant[d.Holder]/2 })
	if len(list) == 0 {
		return nil
	}
	confidence := record.Likely
	evidence := said.EgressLines(h, list)
	out := list[0].Out
	if sent(out) >= meant[out]+facts.Excess && sent(list[0].Holder) < facts.Idle {
		confidence = record.Certain
	}
	var shares []string
	for i, p := range subnet {
		share := "%s.%s sent %s of the traffic, though %s came from its address"
		if i > 0 {
			share = "%s.%s %s, though %s"
		}
		shares = append(shares, fmt.Sprintf(share, h.Name, p.Name, facts.Percent(sent(p)), facts.Percent(meant[p])))
	}
	evidence = append(evidence, strings.Join(shares, "; "))
	return &record.Finding{
		Host: h.Name, Confidence: confidence,
		Summary: fmt.Sprintf(
			"%s sends by %s whatever the source address, because its interfaces share a subnet and no rule routes by source", h.Name, out.Name),
		Evidence:  evidence,
		Fix:       fix.Commands(h, fix.RouteBySource(h, list)),
		Settings:  fix.RouteBySource(h, list),
		Reference: egressReference,
	}
}

// rpFilterDrop finds hosts whose strict reverse-path filter drops what arrives on an
// interface by which its sender would not be answered. It drops ARP requests likewise, and
// does not count them, so a peer that cannot resolve an address is a trace too.
func rpFilterDrop(f facts.Trial, h *facts.Host) *record.Finding {
	dropped := h.Reading.SNMPDelta(facts.FilterCounter)
	filtering := h.Filtering(facts.Strict)
	if len(filtering) == 0 {
		return nil
	}
	var list []facts.Asymmetry
	for _, d := range h.Asymmetries() {
		if d.Source.Is4() && slices.Contains(filtering, d.Holder) { // IPv6 has no such filter
			list = append(list, d)
		}
	}
	confidence := ""
	var evidence []string
	if dropped > 0 {
		evidence = append(evidence, said.GrewRow(h, facts.FilterCounter, dropped))
		switch {
		case len(list) > 0:
			confidence = record.Certain
		case len(h.Reading.Snapshot.Lookups) == 0:
			confidence = record.Likely
		default: // no known route is asymmetric: spoofed or stray packets do this
			confidence = record.Possible
		}
	}
	if lines := unresolved(f, list); len(lines) > 0 {
		confidence = record.Certain
		evidence = append(evidence, lines...)
	} else if lines := unconnected(f, h, list); len(lines) > 0 && confidence == "" {
		confidence = record.Likely
		evidence = append(evidence, lines...)
	}
	if confidence == "" {
		return nil
	}
	evidence = append(evidence, said.EgressLines(h, list)...)
	var where []*facts.Interface
	names := ""
	if len(list) > 0 {
		where, names = []*facts.Interface{list[0].Holder}, list[0].Holder.Name
	} else {
		var why []string
		where, names, why = dropping(f, h, filtering, dropped)
		evidence = append(evidence, why...)
	}
	for _, p := range where[:min(len(where), 3)] {
		evidence = append(evidence, said.Setting(h, "rp_filter", p))
	}
	how := fix.RouteBySource(h, list)
	loose := fix.Set(h, "net.ipv4.conf.all.rp_filter", "2")
	lines := append(fix.Commands(h, how), fix.Instead(h, loose)...)
	if len(how) == 0 {
		how, lines = loose, fix.Commands(h, loose)
	}
	return &record.Finding{
		Host: h.Name, Confidence: confidence,
		Summary: fmt.Sprintf(
			"%s drops what arrives on %s, because its strict reverse-path filter would answer by another interface",
			h.Name, names),
		Evidence:  evidence,
		Fix:       lines,
		Settings:  how,
		Reference: said.FilterReference,
	}
}

// unresolved finds peers whose requests for such an address got no answer.
func unresolved(f facts.Trial, list []facts.Asymmetry) []string {
	var lines []string
	for _, peer := range f.Hosts {
		var addrs []string
		for _, d := range list {
			if peer.Holder(d.Destination) == nil {
				continue
			}
			var states []string
			for _, n := range peer.Neighbours(d.Source) {
				if facts.Failed(n) {
					states = facts.Union(states, n.State)
				}
			}
			if len(states) > 0 {
				slices.Sort(states)
				addrs = facts.Union(addrs, fmt.Sprintf("%s (%s)", d.Source, strings.Join(states, " and ")))
			}
		}
		if len(addrs) > 0 {
			lines = append(lines, fmt.Sprintf("%s gets no answer to its ARP requests for %s", peer.Name,
				facts.Join(addrs)))
		}
	}
	return lines
}

// unconnected finds flows of such addresses that could not connect.
func unconnected(f facts.Trial, h *facts.Host, list []facts.Asymmetry) []string {
	var ids []string
	for _, fl := range f.Trial.Flows {
		mine, theirs := fl.DestinationAddr(), fl.SourceAddr()
		if fl.From == h.Name {
			mine, theirs = theirs, mine
		}
		if !fl.Connected && slices.ContainsFunc(list, func(d facts.Asymmetry) bool {
			return d.Source == mine && (d.Destination == theirs || !theirs.IsValid())
		}) {
			ids = append(ids, fl.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("flows %s could not connect", facts.Join(ids))}
}
