package route

import (
	"net/netip"
	"slices"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/hint"
	"linerate/internal/model/index"
	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/fix"
)

// looseFilter finds loose reverse-path filters that drop packets or ARP requests, if no interface
// has a strict one.
func looseFilter(f facts.Trial, h *facts.Host) *record.Finding {
	where := h.Filtering(facts.Loose)
	if len(where) == 0 || len(h.Filtering(facts.Strict)) > 0 {
		return nil
	}
	finding := facts.Found(cause.LooseRPFilter, h, record.Likely, cause.None{})
	if dropped := h.Grown(facts.FilterCounter); dropped > 0 {
		if h.Boot && h.OverS > 0 {
			return nil // most likely by a strict filter, before it was made loose
		}
		finding.Confidence = record.Certain
		finding.With(h.Name, h.Counter(facts.FilterCounter, dropped))
	}
	if !h.Boot {
		for _, r := range f.DroppedRequests(h) {
			finding.With(h.Name, r.Is)
		}
	}
	if finding.Facts == nil {
		return nil
	}
	return finding.With(h.Name, h.Scoped("rp_filter", where[0])...)
}

// strictFilter finds strict reverse-path filters that drop packets or ARP requests, or would do so:
// if interfaces share a subnet, all replies leave by one of them.
func strictFilter(f facts.Trial, h *facts.Host) *record.Finding {
	netifs := h.Filtering(facts.Strict)
	if len(netifs) == 0 {
		return nil
	}
	finding := facts.Found(cause.StrictRPFilter, h, record.Likely, cause.Filter{})
	var where []*facts.Interface
	oneOf := false
	dropped := h.Grown(facts.FilterCounter)
	if dropped > 0 {
		finding.Confidence = record.Certain
		finding.With(h.Name, h.Counter(facts.FilterCounter, dropped))
		var why []any
		where, oneOf, why = dropping(f, h, netifs, dropped)
		finding.With(h.Name, why...)
	} else if h.Boot {
		return nil // tables and settings are those of now
	}
	routed, unrouted := sources(f, h, where, dropped > 0)
	for _, r := range f.DroppedRequests(h) {
		finding.With(h.Name, r.Is)
		routed, unrouted = routed || r.Routed, append(unrouted, r.Unrouted...)
		if dropped == 0 && !slices.Contains(where, r.At) {
			where = append(where, r.At)
		}
	}
	if len(where) == 0 {
		if where = sharing(netifs); len(where) == 0 {
			return nil
		}
		oneOf, routed = true, true
		finding.With(h.Name, fact.Sharing{Interfaces: interfaceNames(where)})
	}
	finding.Args = cause.Filter{Interfaces: interfaceNames(where), OneOf: oneOf}
	for _, p := range where[:min(len(where), 3)] {
		finding.With(h.Name, h.Scoped("rp_filter", p)...)
	}
	if len(unrouted) > 0 {
		finding.Fixed(record.Advice(h.Name, hint.RouteBack{To: unrouted[0], Interface: where[0].Name}))
	}
	if routed {
		finding.Fixed(record.Advice(h.Name, hint.Symmetric{Others: len(unrouted) > 0})).
			Fixed(fix.Parameter(h, "net.ipv4.conf.all.rp_filter", "2")...)
	}
	return finding
}

// sources reports whether the host has a route, by another interface, to some of the senders whose
// packets a strict filter drops, and returns the senders to which it has none. A host with a
// default route has a route to all.
func sources(f facts.Trial, h *facts.Host, where []*facts.Interface, drops bool) (routed bool, unrouted []netip.Addr) {
	if !drops {
		return false, nil
	}
	names, known := h.Egress(netip.Addr{}, netip.IPv4Unspecified())
	routed = known && len(names) > 0
	for _, p := range where {
		for _, s := range f.AnsweredElsewhere(h, p) {
			if routed = routed || s.By != ""; s.By == "" {
				unrouted = append(unrouted, s.Address)
			}
		}
	}
	looked := 0
	for _, peer := range f.Hosts {
		for _, p := range peer.Interfaces {
			if peer == h || facts.OfContainers(p.Name) {
				continue
			}
			for _, prefix := range p.V4() {
				if looked++; looked > facts.MostNetworks {
					return routed, unrouted
				}
				if names, known := h.Egress(netip.Addr{}, prefix.Addr()); known && len(names) == 0 &&
					h.Holder(prefix.Addr()) == nil {
					unrouted = append(unrouted, prefix.Addr())
				}
			}
		}
	}
	return routed, unrouted
}

// sharing returns two interfaces in one subnet; none: there are no such.
func sharing(netifs []*facts.Interface) []*facts.Interface {
	for n, a := range netifs {
		for _, b := range netifs[n+1:] {
			if facts.ShareSubnet(a, b) {
				return []*facts.Interface{a, b}
			}
		}
	}
	return nil
}

func interfaceNames(netifs []*facts.Interface) (names []string) {
	return lists.Map(netifs, func(p *facts.Interface) string { return p.Name })
}

// dropping returns the interfaces whose strict filter dropped packets, and the evidence. With oneOf
// set, it is one of them, but not known which.
//
// If the kernel was traced, its reasons name the interface. Otherwise an interface must have
// dropped if all others together received fewer packets than were dropped. Otherwise it is one that
// receives from an address which the host answers by another interface. An interface that received
// nothing did not drop.
func dropping(f facts.Trial, h *facts.Host, strict []*facts.Interface, dropped int64) (where []*facts.Interface,
	oneOf bool, why []any) {
	for _, p := range strict {
		rows := h.Dropped(func(d netstate.KernelDrop) bool {
			return d.Reason == "IP_RPFILTER" && d.Interface == p.Name
		})
		if len(rows) > 0 && !h.Boot {
			where, why = append(where, p), append(why, rows...)
		}
	}
	if len(where) > 0 {
		return where, false, why
	}
	received, all := map[*facts.Interface]float64{}, 0.0
	byName := index.First(strict, func(p *facts.Interface) string { return p.Name })
	for _, c := range facts.Counted(h.Reading) {
		own := c.RxPackets - min(c.RxOtherhost, c.RxPackets) // the filter sees no flooded frames of other hosts
		if i, is := byName[c.Interface]; is && own > 0 {
			received[strict[i]] = float64(own)
			all += float64(own)
		}
	}
	if len(received) == 0 { // not known
		return strict, len(strict) > 1, nil
	}
	var some []*facts.Interface
	for _, p := range strict {
		if received[p] == 0 {
			continue
		}
		some = append(some, p)
		if rest := all - received[p]; rest < float64(dropped) && len(strict) > 1 {
			where = append(where, p)
			why = append(why, fact.Received{Interface: p.Name, Packets: received[p], Others: rest})
		}
	}
	if len(where) > 0 {
		return where, false, why
	}
	for _, p := range some {
		for i, s := range f.AnsweredElsewhere(h, p) {
			if why = append(why, s); i == 0 {
				where = append(where, p)
			}
		}
	}
	if len(where) == 0 {
		where = some
	}
	return where, len(where) > 1, why
}
