package diagnose

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/record"
)

// The strict reverse-path filter of an interface drops a packet whose source the host would
// not answer by that interface. It is in force where the larger of conf.all.rp_filter and the
// interface's own is 1 (ip-sysctl.rst). TcpExt.IPReversePathFilter counts the drops of all
// interfaces together, and none of the ARP requests that it drops.
const filterCounter = "TcpExt.IPReversePathFilter"

// Values of rp_filter. Both drop what comes from a source to which there is no route.
const strict, loose = 1, 2

// filtering are the interfaces with a reverse-path filter of a kind that take packets in.
func (h *host) filtering(kind int) (list []*netif) {
	for _, p := range h.netifs[:min(len(h.netifs), mostInterfaces)] {
		if p.up && !p.member && p.vrf != p.name && h.effective("rp_filter", p) == kind {
			list = append(list, p)
		}
	}
	return list
}

// looseFilter finds a loose reverse-path filter that drops packets or ARP requests, where no
// interface has a strict one.
func looseFilter(f observed, h *host) *record.Finding {
	where := h.filtering(loose)
	if len(where) == 0 || len(h.filtering(strict)) > 0 {
		return nil
	}
	finding := &record.Finding{Host: h.name, Confidence: record.Likely, Reference: filterReference,
		Summary: "the loose reverse-path filter drops what comes from addresses to which this host has no route",
		Fix: on(h.name, h.alone,
			"a route back to the sources, or another address for the senders; which: sysctl -w net.ipv4.conf.all.log_martians=1")}
	if dropped := h.grown(filterCounter); dropped > 0 {
		finding.Confidence, finding.Evidence = record.Certain, []string{h.grewRow(filterCounter, dropped)}
		if h.boot && h.overS > 0 {
			return nil // most likely by a strict filter, before it was made loose
		}
		if h.boot {
			finding.Summary = sinceBoot("loose") + "from addresses to which this host has no route"
		}
	}
	if !h.boot {
		for _, r := range f.droppedRequests(h) {
			finding.Evidence = append(finding.Evidence, r.row)
		}
	}
	if len(finding.Evidence) == 0 {
		return nil
	}
	finding.Evidence = append(finding.Evidence, h.setting("rp_filter", where[0]))
	return finding
}

// sinceBoot begins a summary that rests on the counter since the boot: which filter counted it is
// not known, as the mode may have been changed since.
func sinceBoot(mode string) string {
	return "a reverse-path filter has dropped packets since the boot; it is " + mode + " now, and so drops what comes "
}

// strictFilter finds a strict reverse-path filter that drops packets or ARP requests, or that
// would: on interfaces which share a subnet all answers leave by one.
func strictFilter(f observed, h *host) *record.Finding {
	netifs := h.filtering(strict)
	if len(netifs) == 0 {
		return nil
	}
	finding := &record.Finding{Host: h.name, Reference: filterReference}
	var where []*netif
	names := ""
	dropped := h.grown(filterCounter)
	if dropped > 0 {
		finding.Confidence = record.Certain
		finding.Evidence = []string{h.grewRow(filterCounter, dropped)}
		var why []string
		where, names, why = f.dropping(h, netifs, dropped)
		finding.Evidence = append(finding.Evidence, why...)
	} else if h.boot {
		return nil // tables and settings are those of now
	}
	routed, unrouted := f.sources(h, where, dropped > 0)
	for _, r := range f.droppedRequests(h) {
		finding.Evidence = append(finding.Evidence, r.row)
		routed, unrouted = routed || r.routed, append(unrouted, r.unrouted...)
		if dropped == 0 && !slices.Contains(where, r.at) {
			where = append(where, r.at)
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
	if h.boot {
		finding.Summary = sinceBoot("strict") + finding.Summary
	} else {
		finding.Summary = "the strict reverse-path filter drops what comes " + finding.Summary
	}
	for _, p := range where[:min(len(where), 3)] {
		finding.Evidence = append(finding.Evidence, h.setting("rp_filter", p))
	}
	const key = "net.ipv4.conf.all.rp_filter"
	var back []string
	symmetric := "make routes symmetric (a rule and a table for each source address), or the loose filter:"
	if len(unrouted) > 0 {
		back = []string{fmt.Sprintf(
			"of senders without a route, which the loose filter drops as well, a route back: ip route add %s via GATEWAY dev %s",
			unrouted[0], where[0].name)}
		symmetric = "of the others " + symmetric
	}
	switch {
	case routed:
		finding.Fix, finding.Settings = h.fixed(append(back, symmetric), key, "2")
	case back != nil:
		finding.Fix = on(h.name, h.alone, back...)
	default:
		finding.Fix = on(h.name, h.alone,
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
func (f observed) sources(h *host, where []*netif, drops bool) (routed bool, unrouted []netip.Addr) {
	if !drops {
		return false, nil
	}
	names, known := h.egress(netip.Addr{}, netip.IPv4Unspecified())
	routed = known && len(names) > 0
	for _, p := range where {
		for _, s := range f.answeredElsewhere(h, p) {
			if routed = routed || s.routed; !s.routed {
				unrouted = append(unrouted, s.addr)
			}
		}
	}
	looked := 0
	for _, peer := range f.hosts {
		for _, p := range peer.netifs {
			if peer == h || ofContainers(p.name) {
				continue
			}
			for _, prefix := range p.v4() {
				if looked++; looked > mostNetworks {
					return routed, unrouted
				}
				if names, known := h.egress(netip.Addr{}, prefix.Addr()); known && len(names) == 0 &&
					h.holder(prefix.Addr()) == nil {
					unrouted = append(unrouted, prefix.Addr())
				}
			}
		}
	}
	return routed, unrouted
}

// sharing are two interfaces on one subnet; none: there are no such.
func sharing(netifs []*netif) []*netif {
	for n, a := range netifs {
		for _, b := range netifs[n+1:] {
			if shareSubnet(a, b) {
				return []*netif{a, b}
			}
		}
	}
	return nil
}

func interfaceNames(netifs []*netif) string {
	var names []string
	for _, p := range netifs {
		names = append(names, p.name)
	}
	return join(names)
}

// oneOf names an interface, or several of which one is meant.
func oneOf(netifs []*netif) string {
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
func (f observed) dropping(h *host, strict []*netif, dropped int64) (where []*netif, names string, why []string) {
	for _, p := range strict {
		rows := h.tracedRows(func(d record.KernelDrop) bool {
			return d.Reason == "IP_RPFILTER" && d.Interface == p.name
		})
		if len(rows) > 0 && !h.boot {
			where, why = append(where, p), append(why, rows...)
		}
	}
	if len(where) > 0 {
		return where, interfaceNames(where), why
	}
	received, all := map[*netif]float64{}, 0.0
	for _, c := range counted(h.reading) {
		own := c.RxPackets - min(c.RxOtherhost, c.RxPackets) // the filter sees no flooded frames of other hosts
		if i := slices.IndexFunc(strict, func(p *netif) bool { return p.name == c.Interface }); i >= 0 && own > 0 {
			received[strict[i]] = float64(own)
			all += float64(own)
		}
	}
	if len(received) == 0 { // not known
		return strict, oneOf(strict), nil
	}
	var some []*netif
	for _, p := range strict {
		if received[p] == 0 {
			continue
		}
		some = append(some, p)
		if rest := all - received[p]; rest < float64(dropped) && len(strict) > 1 {
			where = append(where, p)
			why = append(why, fmt.Sprintf(
				"%s received %.0f packets for this host, all other interfaces with the strict filter %.0f", p.name,
				received[p], rest))
		}
	}
	if len(where) > 0 {
		return where, interfaceNames(where), why
	}
	for _, p := range some {
		for i, s := range f.answeredElsewhere(h, p) {
			if why = append(why, s.row); i == 0 {
				where = append(where, p)
			}
		}
	}
	if len(where) == 0 {
		where = some
	}
	return where, oneOf(where), why
}

// sender is one that is answered by another interface, or, without a route, by none.
type sender struct {
	addr   netip.Addr
	row    string // of the evidence
	routed bool
}

// answeredElsewhere lists neighbours that send to an interface, and that the host answers by
// another: those of its own table, and hosts that hold the interface's MAC address for one of
// the host's. At most three.
func (f observed) answeredElsewhere(h *host, p *netif) (list []sender) {
	add := func(addr netip.Addr, out *netif, format string, words ...any) {
		if s := (sender{addr, fmt.Sprintf(format, words...), out != nil}); len(list) < 3 && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	for _, n := range h.entries() {
		source := parse(n.Address)
		if how, out := h.elsewhere(netip.Addr{}, source, p); n.Interface == p.name && resolved(n) && how != "" {
			add(source, out, "%s is a neighbour on %s, and is answered %s", source, p.name, how)
		}
	}
	for _, peer := range f.hosts {
		if peer == h {
			continue
		}
		for _, n := range peer.entries() {
			target := parse(n.Address)
			if !resolved(n) || h.holder(target) == nil || h.owner(n.MAC) != p {
				continue
			}
			for _, source := range peer.senders(n.Interface, target) {
				if how, out := h.elsewhere(target, source, p); how != "" {
					add(source, out, "%s sends from %s to %s, and is answered %s", peer.name, source, p.name, how)
				}
			}
		}
	}
	return list
}

// droppedRequest is a neighbour entry of a peer without an answer, although a host holds the
// address, because the strict filter of the host's interface drops the request.
type droppedRequest struct {
	at       *netif
	row      string       // of the evidence
	routed   bool         // the host has a route to a sender that it may be
	unrouted []netip.Addr // senders that it may be to which the host has none
}

// droppedRequests lists such entries of a host's addresses, at most four.
func (f observed) droppedRequests(h *host) (list []droppedRequest) {
	for _, peer := range f.hosts {
		for _, n := range peer.reading.Snapshot.Neighbours {
			if u := h.dropsRequest(peer, n); u != nil && len(list) < 4 {
				list = append(list, *u)
			}
		}
	}
	return list
}

// filtered reports whether a host's entry is unanswered because of a strict filter.
func (f observed) filtered(peer *host, n record.Neighbour) bool {
	return slices.ContainsFunc(f.hosts, func(h *host) bool { return h.dropsRequest(peer, n) != nil })
}

// dropsRequest is why an interface of the host drops a peer's ARP requests; nil: it does not,
// or the link or arp_ignore and arp_filter may be the reason as well.
func (h *host) dropsRequest(peer *host, n record.Neighbour) *droppedRequest {
	target := parse(n.Address)
	if peer == h || !failed(n) || !target.Is4() {
		return nil
	}
	at := h.holder(target)
	if at == nil || !at.up || at.member || h.effective("rp_filter", at) < 1 {
		return nil
	}
	arrived := true // as far as is known
	if h.overS > 0 && n.State == "INCOMPLETE" {
		i := slices.IndexFunc(h.counted, func(c record.InterfaceCounters) bool { return c.Interface == at.name })
		arrived = i < 0 || h.counted[i].RxPackets > 0
	}
	u := &droppedRequest{at: at}
	var from, answered []string
	for _, source := range peer.senders(n.Interface, target) {
		how, out := h.elsewhere(target, source, at)
		if !arrived || how == "" || out != nil && h.effective("rp_filter", at) == loose || !h.answers(at, at, out) ||
			len(from) == 3 {
			continue
		}
		from, answered = append(from, source.String()), append(answered, fmt.Sprintf("%s %s", source, how))
		if u.routed = u.routed || out != nil; out == nil {
			u.unrouted = append(u.unrouted, source)
		}
	}
	if len(from) == 0 {
		return nil
	}
	u.row = fmt.Sprintf(
		"%s asks from %s for %s, without an answer (%s on %s); %s would answer %s, so %s drops the ARP request",
		peer.name, strings.Join(from, " or "), target, n.State, n.Interface, h.name, join(answered), at.name)
	return u
}

// senders are the addresses from which a host sends by an interface to another address, and
// asks for it: the one that its kernel chooses (inet_select_addr), and if arp_announce is 0, the
// source address of whatever is sent, which may be any.
func (h *host) senders(name string, target netip.Addr) (list []netip.Addr) {
	i := slices.IndexFunc(h.netifs, func(p *netif) bool { return p.name == name })
	if i < 0 {
		return nil
	}
	q := h.netifs[i]
	add := func(p *netif, near bool) {
		for _, prefix := range p.v4() {
			if (!near || prefix.Contains(target)) && !slices.Contains(list, prefix.Addr()) && len(list) < mostNetworks {
				list = append(list, prefix.Addr())
			}
		}
	}
	if add(q, true); len(list) == 0 {
		add(q, false)
	}
	if len(list) == 0 || h.effective("arp_announce", q) == 0 {
		for _, p := range h.netifs {
			if p.vrf == q.vrf {
				add(p, false)
			}
		}
		for _, r := range h.reading.Snapshot.Routes { // addresses of the loopback are local routes only
			to, known := destination(r, true)
			if known && r.Table == localTable && r.Type == "local" && to.IsSingleIP() &&
				!to.Addr().IsLoopback() {
				add(&netif{prefixes: []netip.Prefix{to}}, false)
			}
		}
	}
	return list
}

// elsewhere says how the host sends to an address, if not by p: by another interface ("by
// eth0"), or, without a route, by none; empty: by p, or not known. A route with several next
// hops counts for each of its interfaces, as in the kernel (fib_info_nh_uses_dev).
func (h *host) elsewhere(from, to netip.Addr, p *netif) (how string, out *netif) {
	if out := h.lookup(from, to); out != nil {
		if out == p {
			return "", nil
		}
		return "by " + out.name, out
	}
	if !to.Is4() || h.holder(to) != nil || p.vrf != "" { // whose table is not known
		return "", nil
	}
	names, known := h.egress(from, to)
	switch i := slices.IndexFunc(h.netifs, func(p *netif) bool { return len(names) > 0 && p.name == names[0] }); {
	case !known || slices.Contains(names, p.name):
		return "", nil
	case len(names) == 0:
		return "by none: it has no route there", nil
	case i >= 0:
		return "by " + names[0], h.netifs[i]
	}
	return "", nil
}

// egress are the interfaces of the route to an address, as the host's rules and tables have it;
// none: there is no route, or one that discards. Not known: the routes were not read, not
// all of them, or a rule selects by what is not known here.
func (h *host) egress(from, to netip.Addr) (names []string, known bool) {
	if len(h.reading.Snapshot.Routes) == 0 || h.missing(everyRoute) != "" {
		return nil, false
	}
	rules := slices.Clone(h.reading.Snapshot.Rules)
	slices.SortStableFunc(rules, func(a, b record.RuleEntry) int { return a.Priority - b.Priority })
	if len(rules) == 0 {
		rules = []record.RuleEntry{{Table: mainTable}}
	}
	selects := func(prefix string, addr netip.Addr) bool {
		p, err := netip.ParsePrefix(prefix)
		return prefix == "" || err == nil && p.Contains(addr)
	}
	for _, rule := range rules {
		if rule.Other {
			return nil, false
		}
		if !selects(rule.From, from) || !selects(rule.To, to) {
			continue
		}
		var best record.RouteEntry
		bits := -1
		for _, r := range h.reading.Snapshot.Routes {
			prefix, err := netip.ParsePrefix(r.To)
			// Of several, the kernel lists the one with the smallest metric first.
			if err == nil && r.Table == rule.Table && prefix.Contains(to) && prefix.Bits() > bits &&
				!r.Dead {
				best, bits = r, prefix.Bits()
			}
		}
		if bits < 0 {
			continue
		}
		for _, hop := range best.Nexthops {
			names = append(names, hop.Interface)
		}
		if len(names) == 0 && best.Interface != "" && best.Type != "broadcast" && best.Type != "local" {
			names = append(names, best.Interface)
		}
		return names, true
	}
	return nil, true
}
