package route

import (
	"fmt"
	"net/netip"
	"slices"

	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/fix"
	"linerate/internal/science/diagnose/said"
)

// looseFilter finds a loose reverse-path filter that drops packets or ARP requests, where no
// interface has a strict one.
func looseFilter(f facts.Trial, h *facts.Host) *record.Finding {
	where := h.Filtering(facts.Loose)
	if len(where) == 0 || len(h.Filtering(facts.Strict)) > 0 {
		return nil
	}
	finding := &record.Finding{Host: h.Name, Confidence: record.Likely, Reference: said.FilterReference,
		Summary: "the loose reverse-path filter drops what comes from addresses to which this host has no route",
		Fix: said.On(h.Name, h.Alone,
			"a route back to the sources, or another address for the senders; which: sysctl -w net.ipv4.conf.all.log_martians=1")}
	if dropped := h.Grown(facts.FilterCounter); dropped > 0 {
		finding.Confidence, finding.Evidence = record.Certain, []string{said.GrewRow(h, facts.FilterCounter, dropped)}
		if h.Boot && h.OverS > 0 {
			return nil // most likely by a strict filter, before it was made loose
		}
		if h.Boot {
			finding.Summary = sinceBoot("loose") + "from addresses to which this host has no route"
		}
	}
	if !h.Boot {
		for _, r := range f.DroppedRequests(h) {
			finding.Evidence = append(finding.Evidence, r.Row)
		}
	}
	if len(finding.Evidence) == 0 {
		return nil
	}
	finding.Evidence = append(finding.Evidence, said.Setting(h, "rp_filter", where[0]))
	return finding
}

// sinceBoot begins a summary that rests on the counter since the boot: which filter counted it is
// not known, as the mode may have been changed since.
func sinceBoot(mode string) string {
	return "a reverse-path filter has dropped packets since the boot; it is " + mode + " now, and so drops what comes "
}

// strictFilter finds a strict reverse-path filter that drops packets or ARP requests, or that
// would: on interfaces which share a subnet all answers leave by one.
func strictFilter(f facts.Trial, h *facts.Host) *record.Finding {
	netifs := h.Filtering(facts.Strict)
	if len(netifs) == 0 {
		return nil
	}
	finding := &record.Finding{Host: h.Name, Reference: said.FilterReference}
	var where []*facts.Interface
	names := ""
	dropped := h.Grown(facts.FilterCounter)
	if dropped > 0 {
		finding.Confidence = record.Certain
		finding.Evidence = []string{said.GrewRow(h, facts.FilterCounter, dropped)}
		var why []string
		where, names, why = dropping(f, h, netifs, dropped)
		finding.Evidence = append(finding.Evidence, why...)
	} else if h.Boot {
		return nil // tables and settings are those of now
	}
	routed, unrouted := sources(f, h, where, dropped > 0)
	for _, r := range f.DroppedRequests(h) {
		finding.Evidence = append(finding.Evidence, r.Row)
		routed, unrouted = routed || r.Routed, append(unrouted, r.Unrouted...)
		if dropped == 0 && !slices.Contains(where, r.At) {
			where = append(where, r.At)
		}
	}
	if dropped == 0 {
		finding.Confidence, names = record.Likely, interfaceNames(where)
	}
	if len(where) == 0 {
		if where = sharing(netifs); len(where) == 0 {
			return nil
		}
		names, routed = oneOf(where), true
		finding.Evidence = append(finding.Evidence, interfaceNames(where)+" are on one subnet")
	}
	finding.Summary = fmt.Sprintf("by %s from senders that are answered by another interface, or by none", names)
	if h.Boot {
		finding.Summary = sinceBoot("strict") + finding.Summary
	} else {
		finding.Summary = "the strict reverse-path filter drops what comes " + finding.Summary
	}
	for _, p := range where[:min(len(where), 3)] {
		finding.Evidence = append(finding.Evidence, said.Setting(h, "rp_filter", p))
	}
	const key = "net.ipv4.conf.all.rp_filter"
	var back []string
	symmetric := "make routes symmetric (a rule and a table for each source address), or the loose filter:"
	if len(unrouted) > 0 {
		back = []string{fmt.Sprintf(
			"of senders without a route, which the loose filter drops as well, a route back: ip route add %s via GATEWAY dev %s",
			unrouted[0], where[0].Name)}
		symmetric = "of the others " + symmetric
	}
	switch {
	case routed:
		finding.Fix, finding.Settings = fix.Fixed(h, append(back, symmetric), key, "2")
	case back != nil:
		finding.Fix = said.On(h.Name, h.Alone, back...)
	default:
		finding.Fix = said.On(h.Name, h.Alone,
			"see who sends: sysctl -w net.ipv4.conf.all.log_martians=1, then dmesg; and ip route get SENDER",
			"with a route to it: make routes symmetric (a rule and a table for each source address), or sysctl -w "+key+
				"=2",
			"without one: ip route add SENDER via GATEWAY; the loose filter drops it as well")
	}
	return finding
}

// sources says of the senders that a strict filter drops whether the host has a route to some of
// them, by another interface, and lists those of other hosts to which it has none. With a default
// route it has one to all.
func sources(f facts.Trial, h *facts.Host, where []*facts.Interface, drops bool) (routed bool, unrouted []netip.Addr) {
	if !drops {
		return false, nil
	}
	names, known := h.Egress(netip.Addr{}, netip.IPv4Unspecified())
	routed = known && len(names) > 0
	for _, p := range where {
		for _, s := range f.AnsweredElsewhere(h, p) {
			if routed = routed || s.Routed; !s.Routed {
				unrouted = append(unrouted, s.Addr)
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

// sharing are two interfaces on one subnet; none: there are no such.
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

func interfaceNames(netifs []*facts.Interface) string {
	var names []string
	for _, p := range netifs {
		names = append(names, p.Name)
	}
	return facts.Join(names)
}

// oneOf names an interface, or several of which one is meant.
func oneOf(netifs []*facts.Interface) string {
	if len(netifs) > 1 {
		return "one of " + interfaceNames(netifs)
	}
	return interfaceNames(netifs)
}

// dropping are the interfaces whose strict filter dropped packets, their names ("one of" where
// that is not known of each), and the evidence.
//
// The kernel's reasons name the interface, if they were traced. Otherwise it is one without which
// the others received fewer packets than were dropped; otherwise one that receives from an
// address that is answered by another interface. One that received nothing
// did not.
func dropping(f facts.Trial, h *facts.Host, strict []*facts.Interface, dropped int64) (where []*facts.Interface,
	names string, why []string) {
	for _, p := range strict {
		rows := said.TracedRows(h, func(d record.KernelDrop) bool {
			return d.Reason == "IP_RPFILTER" && d.Interface == p.Name
		})
		if len(rows) > 0 && !h.Boot {
			where, why = append(where, p), append(why, rows...)
		}
	}
	if len(where) > 0 {
		return where, interfaceNames(where), why
	}
	received, all := map[*facts.Interface]float64{}, 0.0
	for _, c := range facts.Counted(h.Reading) {
		own := c.RxPackets - min(c.RxOtherhost, c.RxPackets) // the filter sees no flooded frames of other hosts
		if i := slices.IndexFunc(strict, func(p *facts.Interface) bool { return p.Name == c.Interface }); i >= 0 &&
			own > 0 {
			received[strict[i]] = float64(own)
			all += float64(own)
		}
	}
	if len(received) == 0 { // not known
		return strict, oneOf(strict), nil
	}
	var some []*facts.Interface
	for _, p := range strict {
		if received[p] == 0 {
			continue
		}
		some = append(some, p)
		if rest := all - received[p]; rest < float64(dropped) && len(strict) > 1 {
			where = append(where, p)
			why = append(why, fmt.Sprintf(
				"%s received %.0f packets for this host, all other interfaces with the strict filter %.0f", p.Name,
				received[p], rest))
		}
	}
	if len(where) > 0 {
		return where, interfaceNames(where), why
	}
	for _, p := range some {
		for i, s := range f.AnsweredElsewhere(h, p) {
			if why = append(why, s.Row); i == 0 {
				where = append(where, p)
			}
		}
	}
	if len(where) == 0 {
		where = some
	}
	return where, oneOf(where), why
}
