package route

import (
	"slices"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/fix"
	"linerate/internal/science/diagnose/rule"
)

// Rules find traffic that leaves by another interface than the one with its source address.
var Rules = []rule.Rule{
	{ID: cause.SameSubnetOneEgress.Code, Find: rule.Each(rule.EveryHost, sameSubnetOneEgress)},
	{ID: cause.RPFilterDrop.Code, Find: rule.Each(rule.EveryHost, rpFilterDrop), Stops: true},
}

// A route lookup depends only on the destination unless a rule says otherwise. Two interfaces in
// one subnet make two routes to it, and the first one is used for every packet, whatever its source
// address.

// sameSubnetOneEgress finds hosts that send data by only one of several interfaces in a subnet.
// Acknowledgements also leave by that one but are not counted, because they limit nothing.
func sameSubnetOneEgress(f facts.Trial, h *facts.Host) *record.Finding {
	addressed := f.AddressShares(h, false)
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
		return h.Share(p, subnet, func(d netstate.InterfaceDelta) float64 { return d.TxBytes })
	}
	// A socket bound to its interface does not follow the route decision.
	list = slices.DeleteFunc(list, func(d facts.Asymmetry) bool { return sent(d.Holder) > addressed[d.Holder]/2 })
	if len(list) == 0 {
		return nil
	}
	out := list[0].Out
	finding := facts.Found(cause.SameSubnetOneEgress, h, record.Likely, cause.Egress{Interface: out.Name})
	if sent(out) >= addressed[out]+facts.Excess && sent(list[0].Holder) < facts.Idle {
		finding.Confidence = record.Certain
	}
	var shares fact.Sent
	for _, p := range subnet {
		shares.By = append(shares.By, fact.SentBy{Interface: p.Name, Sent: sent(p), Meant: addressed[p]})
	}
	return finding.With(h.Name, facts.Leaving(list)...).With(h.Name, shares).
		Fixed(record.Settings(fix.RouteBySource(h, list)...)...)
}

// rpFilterDrop finds hosts whose strict reverse-path filter drops packets that arrive on an
// interface by which the host would not answer the sender. The filter also drops ARP requests
// without counting them, so a peer that cannot resolve an address is evidence, too.
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
	finding := facts.Found(cause.RPFilterDrop, h, "", cause.Filter{})
	if dropped > 0 {
		finding.With(h.Name, h.Counter(facts.FilterCounter, dropped))
		switch {
		case len(list) > 0:
			finding.Confidence = record.Certain
		case len(h.Reading.Snapshot.Lookups) == 0:
			finding.Confidence = record.Likely
		default: // no known route is asymmetric: spoofed or stray packets do this
			finding.Confidence = record.Possible
		}
	}
	if unresolved(finding, f, list) {
		finding.Confidence = record.Certain
	} else if flows := unconnected(f, h, list); flows != nil && finding.Confidence == "" {
		finding.Confidence = record.Likely
		finding.With("", fact.Unconnected{Flows: flows})
	}
	if finding.Confidence == "" {
		return nil
	}
	finding.With(h.Name, facts.Leaving(list)...)
	where, oneOf := []*facts.Interface{}, false
	if len(list) > 0 {
		where = append(where, list[0].Holder)
	} else {
		var why []any
		where, oneOf, why = dropping(f, h, filtering, dropped)
		finding.With(h.Name, why...)
	}
	for _, p := range where[:min(len(where), 3)] {
		finding.With(h.Name, h.Scoped("rp_filter", p)...)
	}
	finding.Args = cause.Filter{Interfaces: interfaceNames(where), OneOf: oneOf}
	loose := fix.Set(h, "net.ipv4.conf.all.rp_filter", "2")
	if how := fix.RouteBySource(h, list); len(how) > 0 {
		return finding.Fixed(record.Settings(how...)...).Fixed(fix.Without(loose))
	}
	return finding.Fixed(record.Settings(loose...)...)
}

// unresolved adds peers whose ARP requests for the source addresses got no answer as evidence;
// false: there are none.
func unresolved(finding *record.Finding, f facts.Trial, list []facts.Asymmetry) (found bool) {
	for _, peer := range f.Hosts {
		var is fact.NoAnswer
		for _, d := range list {
			if peer.Holder(d.Destination) == nil {
				continue
			}
			one := fact.Entry{Address: d.Source}
			for _, n := range peer.Neighbours(d.Source) {
				if facts.Failed(n) {
					one.States = facts.Union(one.States, n.State)
				}
			}
			slices.Sort(one.States)
			same := func(o fact.Entry) bool { return o.Address == one.Address }
			if one.States != nil && !slices.ContainsFunc(is.Addresses, same) {
				is.Addresses = append(is.Addresses, one)
			}
		}
		if is.Addresses != nil {
			finding.With(peer.Name, is)
			found = true
		}
	}
	return found
}

// unconnected returns the flows with such addresses that could not connect.
func unconnected(f facts.Trial, h *facts.Host, list []facts.Asymmetry) (ids []string) {
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
	return ids
}
