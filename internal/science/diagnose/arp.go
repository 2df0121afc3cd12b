package diagnose

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/setting"
)

// How Linux answers and asks. A host owns its addresses as a whole, so by
// default any of its interfaces answers an ARP request for any of them
// (arp_ignore=0), and its own requests may carry any of them as sender
// (arp_announce=0). A peer believes the latest ARP packet that it has seen.
const (
	arpReference    = "Linux Documentation/networking/ip-sysctl.rst (arp_ignore, arp_announce, arp_filter); RFC 826"
	sourceReference = "Linux Documentation/networking/ip-sysctl.rst (arp_announce); RFC 826"
)

var arpRules = []rule{
	{id: "arp-flux", parts: []string{"neighbours"},
		about: "A peer's neighbour table has one of a host's addresses at the MAC address of another of its interfaces, and arp_ignore does not forbid it; certain when that interface receives more than was addressed to it. Also of a machine that was not read, if several MAC addresses answer for the same addresses.",
		find: func(f observed) []record.Finding {
			return slices.Concat(each(everyHost, arpFlux)(f), fluxAnswered(f), fluxElsewhere(f))
		}, sameCause: sameRemedy},
	{id: "arp-wrong-source",
		about: "A peer's neighbour table is wrong although arp_ignore keeps replies right, or a neighbour does not answer requests from another subnet's address: arp_announce is 0.",
		find:  each(everyHost, arpWrongSource), stops: true},
	{id: "duplicate-address", parts: []string{"neighbours"},
		about: "More than one machine answers ARP requests for one address; certain if two of them are known to hold it, possible if one machine that answers by several interfaces would answer so as well. Without the right to send requests, neighbour tables decide. Of IPv6, duplicate address detection failed (dadfailed).",
		find:  duplicateAddress, stops: true, sameCause: sameSummary, explains: []string{"wrong-neighbour",
			"other-host-frames", "syn-unanswered", "connect-fails"}},
}

// sameRemedy reports whether two findings of ARP flux ask for the same fix: with
// arp_filter it is another than without.
func sameRemedy(a, b record.Finding) bool {
	return len(a.Settings) == 0 || len(b.Settings) == 0 || remedy(a) == remedy(b)
}

// remedy is what a finding's settings begin with: the kind, and whether it is arp_filter.
func remedy(f record.Finding) string {
	first := f.Settings[0]
	return first.Kind() + fmt.Sprint(len(first.Sysctl) > 0 && strings.HasSuffix(first.Sysctl[0].Key, ".arp_filter"))
}

// ownOnly: these values of arp_ignore keep an interface from answering for another
// interface's address. 3 looks at the address's scope only and does not.
func ownOnly(arpIgnore int) bool {
	return arpIgnore == 1 || arpIgnore == 2 || arpIgnore == 8
}

// excess beyond which an interface took in more than was addressed to it.
const excess = 0.1

// arpFlux: peers send to one interface what is meant for another, because the host
// answered ARP requests for all its addresses from that interface.
func arpFlux(f observed, h *host) *record.Finding {
	list := slices.DeleteFunc(f.misdirections(h), func(m misdirected) bool {
		return ownOnly(h.effective("arp_ignore", m.wrong))
	})
	var wrong *netif
	confidence := record.Likely
	var evidence []string
	if len(list) > 0 {
		evidence = h.rows(list)
		wrong = list[0].wrong
		for _, m := range list {
			if line, ok := f.takesMore(h, m.wrong); ok {
				wrong = m.wrong
				evidence = append(evidence, line)
				if h.effective("arp_ignore", m.wrong) == 0 {
					confidence = record.Certain
				}
				break
			}
		}
	} else if wrong, evidence = f.fluxUnseen(h); wrong == nil {
		return nil
	}
	if len(list) > 0 {
		evidence = append(evidence, f.switchPorts([]string{wrong.mac})...)
	}
	for _, name := range []string{"arp_ignore", "arp_filter"} {
		if line := h.setting(name, wrong); line != "" {
			evidence = append(evidence, line)
		}
	}
	lines, settings := h.answerRightly()
	return &record.Finding{
		Host: h.name, Confidence: confidence,
		Summary: fmt.Sprintf(
			"%s answers ARP for all its addresses from %s, so its peers send traffic for its other interfaces to that one", h.name, wrong.name),
		Evidence:  evidence,
		Fix:       append(lines, forget(list)...),
		Settings:  settings,
		Reference: arpReference,
	}
}

// answerRightly makes each interface answer for its own address alone. Where
// arp_filter is on, an interface answers only for addresses that the host would send
// from by that interface; together with arp_ignore=1 no interface would answer for an
// address that is sent from by another one.
func (h *host) answerRightly() (lines []string, settings []setting.Setting) {
	own := h.set("net.ipv4.conf.all.arp_ignore", "1", "net.ipv4.conf.all.arp_announce", "2")
	if len(h.scopes("arp_filter", 1)) == 0 {
		return h.commands(own), own
	}
	fix := h.routeBySource(slices.DeleteFunc(h.asymmetries(), func(a asymmetry) bool { return !a.source.Is4() }))
	off := h.filterOff()
	if len(fix) == 0 {
		settings = append(off, own...)
		return h.commands(settings), settings
	}
	return slices.Concat(h.commands(fix), h.instead(off), h.commands(own)), append(fix, own...)
}

// filterOff switches arp_filter off wherever it is on.
func (h *host) filterOff() (off []setting.Setting) {
	for _, scope := range h.scopes("arp_filter", 1) {
		off = append(off, h.set("net.ipv4.conf."+scope+".arp_filter", "0")...)
	}
	return off
}

// fluxUnseen judges without the peers' tables: by the settings and, where flows
// ran, by one interface that takes in most of what was addressed to others.
func (f observed) fluxUnseen(h *host) (*netif, []string) {
	for _, p := range h.netifs {
		for _, prefix := range p.v4() {
			peers := h.onSubnet(prefix.Addr(), p.vrf)
			if p.member || !p.up || len(peers) < 2 || sharedMAC(peers) || f.seen(h) {
				continue
			}
			if h.effective("arp_ignore", p) != 0 || h.effective("arp_filter", p) != 0 {
				continue
			}
			var names []string
			for _, o := range peers {
				names = append(names, h.end(o))
			}
			subnet := fmt.Sprintf("%s are on one subnet, %s", join(names), prefix.Masked())
			if len(f.trial.Flows) == 0 {
				return p, []string{subnet}
			}
			if line, ok := f.takesMore(h, p); ok {
				return p, []string{subnet, line}
			}
		}
	}
	return nil, nil
}

// seen: some peer's table shows where it sends, rightly or wrongly. Then the
// tables decide, and not the settings.
func (f observed) seen(h *host) bool {
	for _, peer := range f.hosts {
		if peer == h {
			continue
		}
		for _, p := range h.netifs {
			for _, prefix := range p.v4() {
				if slices.ContainsFunc(peer.neighbours(prefix.Addr()), resolved) {
					return true
				}
			}
		}
	}
	return false
}

func sharedMAC(netifs []*netif) bool {
	for i, p := range netifs {
		for _, o := range netifs[i+1:] {
			if p.mac == o.mac {
				return true
			}
		}
	}
	return false
}

// takesMore reports whether an interface took in clearly more of its host's traffic than
// was addressed to it.
func (f observed) takesMore(h *host, p *netif) (string, bool) {
	meant := f.meant(h, true)
	var among []*netif
	for _, o := range h.netifs {
		if meant[o] > 0 || o == p {
			among = append(among, o)
		}
	}
	took := h.share(p, among, func(d record.InterfaceDelta) float64 { return d.RxBytes })
	if took < meant[p]+excess {
		return "", false
	}
	return fmt.Sprintf("%s took in %s of what reached %s, but %s was for its own address", h.end(p), percent(took),
		h.name, percent(meant[p])), true
}

// meant is each interface's fair part of a host's incoming or outgoing traffic, by
// the addresses of the flows. Where no data flows in that direction, acknowledgements do,
// in proportion to the data they answer.
func (f observed) meant(h *host, incoming bool) map[*netif]float64 {
	data, answers := map[*netif]float64{}, map[*netif]float64{}
	for _, fl := range f.trial.Flows {
		if !fl.Connected {
			continue
		}
		for _, end := range []struct {
			host     string
			address  netip.Addr
			receives bool
		}{{fl.To, fl.DestinationAddr(), true}, {fl.From, fl.SourceAddr(), false}} {
			p, to := h.holder(end.address), data
			if end.receives != incoming {
				to = answers
			}
			if end.host == h.name && p != nil {
				to[p] += float64(fl.ReceivedBytes)
			}
		}
	}
	if len(data) == 0 {
		data = answers
	}
	total := 0.0
	for _, bytes := range data {
		total += bytes
	}
	for p := range data {
		if total > 0 {
			data[p] /= total
		}
	}
	return data
}

// arpWrongSource: peers were misled by the host's own ARP requests. Its replies
// cannot have done it where arp_ignore holds them to each interface's own address.
func arpWrongSource(f observed, h *host) *record.Finding {
	list := slices.DeleteFunc(f.misdirections(h), func(m misdirected) bool {
		announce := h.effective("arp_announce", m.wrong)
		return !ownOnly(h.effective("arp_ignore", m.wrong)) || announce < 0 || announce >= 2
	})
	finding := record.Finding{Host: h.name, Confidence: record.Likely, Reference: sourceReference}
	if len(list) > 0 {
		m := list[0]
		finding.Evidence = h.rows(list)
		for _, o := range list {
			if asked(h, o) {
				m, finding.Confidence = o, record.Certain
				finding.Evidence = append(finding.Evidence,
					fmt.Sprintf("%s asked for %s from %s, with sender address %s of %s", h.name, o.peer.name,
						h.end(o.wrong), o.addr, o.right.name))
				break
			}
		}
		finding.Summary = fmt.Sprintf(
			"%s sends ARP requests from %s with other interfaces' addresses as sender, so its peers learn the wrong MAC address", h.name, m.wrong.name)
		finding.Evidence = append(finding.Evidence, h.setting("arp_announce", m.wrong),
			h.setting("arp_ignore", m.wrong)+": its replies name the right interface")
	} else if line, p := f.unanswered(h); p != nil {
		finding.Summary = fmt.Sprintf(
			"%s sends ARP requests from %s with a sender address of another subnet, and gets no answer", h.name, p.name)
		finding.Evidence = []string{line, h.setting("arp_announce", p)}
	} else {
		return nil
	}
	finding.Settings = h.set("net.ipv4.conf.all.arp_announce", "2")
	finding.Fix = append(h.commands(finding.Settings), forget(list)...)
	return &finding
}

// asked: the host has resolved the peer by the interface whose MAC address the peer
// now holds, so that interface did send requests.
func asked(h *host, m misdirected) bool {
	return slices.ContainsFunc(h.entries(), func(n record.Neighbour) bool {
		address := parse(n.Address)
		return n.Interface == m.wrong.name && address.Is4() && m.peer.holder(address) != nil
	})
}

// unanswered finds a neighbour that did not answer requests with a sender
// address that is on no prefix of the asking interface.
func (f observed) unanswered(h *host) (string, *netif) {
	for _, l := range h.reading.Snapshot.Lookups {
		source, destination := parse(l.Source), parse(l.Destination)
		holder, out := h.holder(source), h.lookup(source, destination)
		if !source.Is4() || holder == nil || out == nil || out == holder || l.Gateway != "" {
			continue
		}
		announce := h.effective("arp_announce", out)
		if announce < 0 || announce >= 2 || slices.Contains(h.onSubnet(source, out.vrf), out) ||
			!slices.Contains(h.onSubnet(destination, out.vrf), out) {
			continue
		}
		for _, n := range h.neighbours(destination) {
			if n.Interface == out.name && failed(n) {
				return fmt.Sprintf("%s is %s on %s, asked with sender address %s of %s", destination, n.State,
					h.end(out), source, holder.name), out
			}
		}
	}
	return "", nil
}

// forget makes peers drop what they have wrongly learned: they would otherwise
// believe it until it ages.
func forget(list []misdirected) []string {
	var lines []string
	for _, m := range list {
		for _, p := range m.peer.netifs {
			for _, prefix := range p.v4() {
				if prefix.Contains(m.addr) {
					lines = append(lines, fmt.Sprintf("on %s: ip neigh flush to %s dev %s", m.peer.name,
						prefix.Masked(), p.name))
				}
			}
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}
