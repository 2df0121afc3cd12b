// Package arp has the rules about addresses of the link: who answers for an IP address, and what neighbours
// have learned.
package arp

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

const (
	sourceReference = "Linux Documentation/networking/ip-sysctl.rst (arp_announce); RFC 826"
)

// Rules find answers to ARP requests for addresses of other interfaces.
var Rules = []rule.Rule{
	{ID: "arp-flux", Parts: []string{"neighbours"},
		About: "A peer's neighbour table has one of a host's addresses at the MAC address of another of its interfaces, and arp_ignore does not forbid it; certain when that interface receives more than was addressed to it. Also of a machine that was not read, if several MAC addresses answer for the same addresses.",
		Find: func(f facts.Trial) []record.Finding {
			return slices.Concat(rule.Each(rule.EveryHost, arpFlux)(f), fluxAnswered(f), fluxElsewhere(f))
		}, SameCause: sameRemedy},
	{ID: "arp-wrong-source",
		About: "A peer's neighbour table is wrong although arp_ignore keeps replies right, or a neighbour does not answer requests from another subnet's address: arp_announce is 0.",
		Find:  rule.Each(rule.EveryHost, arpWrongSource), Stops: true},
	{ID: "duplicate-address", Parts: []string{"neighbours"},
		About: "More than one machine answers ARP requests for one address; certain if two of them are known to hold it, possible if one machine that answers by several interfaces would answer so as well. Without the right to send requests, neighbour tables decide. Of IPv6, duplicate address detection failed (dadfailed).",
		Find:  duplicateAddress, Stops: true, SameCause: rule.SameSummary, Explains: []string{"wrong-neighbour",
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

// arpFlux: peers send to one interface what is meant for another, because the host
// answered ARP requests for all its addresses from that interface.
func arpFlux(f facts.Trial, h *facts.Host) *record.Finding {
	list := slices.DeleteFunc(f.Misdirections(h), func(m facts.Misdirected) bool {
		return facts.OwnOnly(h.Effective("arp_ignore", m.Wrong))
	})
	var wrong *facts.Interface
	confidence := record.Likely
	var evidence []string
	if len(list) > 0 {
		evidence = said.Rows(h, list)
		wrong = list[0].Wrong
		for _, m := range list {
			if line, ok := takesMore(f, h, m.Wrong); ok {
				wrong = m.Wrong
				evidence = append(evidence, line)
				if h.Effective("arp_ignore", m.Wrong) == 0 {
					confidence = record.Certain
				}
				break
			}
		}
	} else if wrong, evidence = fluxUnseen(f, h); wrong == nil {
		return nil
	}
	if len(list) > 0 {
		evidence = append(evidence, f.SwitchPorts([]string{wrong.MAC})...)
	}
	for _, name := range []string{"arp_ignore", "arp_filter"} {
		if line := said.Setting(h, name, wrong); line != "" {
			evidence = append(evidence, line)
		}
	}
	lines, settings := fix.AnswerRightly(h)
	return &record.Finding{
		Host: h.Name, Confidence: confidence,
		Summary: fmt.Sprintf(
			"%s answers ARP for all its addresses from %s, so its peers send traffic for its other interfaces to that one", h.Name, wrong.Name),
		Evidence:  evidence,
		Fix:       append(lines, forget(list)...),
		Settings:  settings,
		Reference: said.ArpReference,
	}
}

// fluxUnseen judges without the peers' tables: by the settings and, where flows
// ran, by one interface that takes in most of what was addressed to others.
func fluxUnseen(f facts.Trial, h *facts.Host) (*facts.Interface, []string) {
	for _, p := range h.Interfaces {
		for _, prefix := range p.V4() {
			peers := h.OnSubnet(prefix.Addr(), p.VRF)
			if p.Member || !p.Up || len(peers) < 2 || facts.SharedMAC(peers) || seen(f, h) {
				continue
			}
			if h.Effective("arp_ignore", p) != 0 || h.Effective("arp_filter", p) != 0 {
				continue
			}
			var names []string
			for _, o := range peers {
				names = append(names, h.End(o))
			}
			subnet := fmt.Sprintf("%s are on one subnet, %s", facts.Join(names), prefix.Masked())
			if len(f.Trial.Flows) == 0 {
				return p, []string{subnet}
			}
			if line, ok := takesMore(f, h, p); ok {
				return p, []string{subnet, line}
			}
		}
	}
	return nil, nil
}

// seen: some peer's table shows where it sends, rightly or wrongly. Then the
// tables decide, and not the settings.
func seen(f facts.Trial, h *facts.Host) bool {
	for _, peer := range f.Hosts {
		if peer == h {
			continue
		}
		for _, p := range h.Interfaces {
			for _, prefix := range p.V4() {
				if slices.ContainsFunc(peer.Neighbours(prefix.Addr()), facts.Resolved) {
					return true
				}
			}
		}
	}
	return false
}

// takesMore reports whether an interface took in clearly more of its host's traffic than
// was addressed to it.
func takesMore(f facts.Trial, h *facts.Host, p *facts.Interface) (string, bool) {
	meant := f.Meant(h, true)
	var among []*facts.Interface
	for _, o := range h.Interfaces {
		if meant[o] > 0 || o == p {
			among = append(among, o)
		}
	}
	took := h.Share(p, among, func(d record.InterfaceDelta) float64 { return d.RxBytes })
	if took < meant[p]+facts.Excess {
		return "", false
	}
	return fmt.Sprintf("%s took in %s of what reached %s, but %s was for its own address", h.End(p),
		facts.Percent(took),
		h.Name, facts.Percent(meant[p])), true
}

// arpWrongSource: peers were misled by the host's own ARP requests. Its replies
// cannot have done it where arp_ignore holds them to each interface's own address.
func arpWrongSource(f facts.Trial, h *facts.Host) *record.Finding {
	list := slices.DeleteFunc(f.Misdirections(h), func(m facts.Misdirected) bool {
		announce := h.Effective("arp_announce", m.Wrong)
		return !facts.OwnOnly(h.Effective("arp_ignore", m.Wrong)) || announce < 0 || announce >= 2
	})
	finding := record.Finding{Host: h.Name, Confidence: record.Likely, Reference: sourceReference}
	if len(list) > 0 {
		m := list[0]
		finding.Evidence = said.Rows(h, list)
		for _, o := range list {
			if asked(h, o) {
				m, finding.Confidence = o, record.Certain
				finding.Evidence = append(finding.Evidence,
					fmt.Sprintf("%s asked for %s from %s, with sender address %s of %s", h.Name, o.Peer.Name,
						h.End(o.Wrong), o.Addr, o.Right.Name))
				break
			}
		}
		finding.Summary = fmt.Sprintf(
			"%s sends ARP requests from %s with other interfaces' addresses as sender, so its peers learn the wrong MAC address", h.Name, m.Wrong.Name)
		finding.Evidence = append(finding.Evidence, said.Setting(h, "arp_announce", m.Wrong),
			said.Setting(h, "arp_ignore", m.Wrong)+": its replies name the right interface")
	} else if line, p := unanswered(f, h); p != nil {
		finding.Summary = fmt.Sprintf(
			"%s sends ARP requests from %s with a sender address of another subnet, and gets no answer", h.Name, p.Name)
		finding.Evidence = []string{line, said.Setting(h, "arp_announce", p)}
	} else {
		return nil
	}
	finding.Settings = fix.Set(h, "net.ipv4.conf.all.arp_announce", "2")
	finding.Fix = append(fix.Commands(h, finding.Settings), forget(list)...)
	return &finding
}

// asked: the host has resolved the peer by the interface whose MAC address the peer
// now holds, so that interface did send requests.
func asked(h *facts.Host, m facts.Misdirected) bool {
	return slices.ContainsFunc(h.Entries(), func(n record.Neighbour) bool {
		address := facts.Parse(n.Address)
		return n.Interface == m.Wrong.Name && address.Is4() && m.Peer.Holder(address) != nil
	})
}

// unanswered finds a neighbour that did not answer requests with a sender
// address that is on no prefix of the asking interface.
func unanswered(f facts.Trial, h *facts.Host) (string, *facts.Interface) {
	for _, l := range h.Reading.Snapshot.Lookups {
		source, destination := facts.Parse(l.Source), facts.Parse(l.Destination)
		holder, out := h.Holder(source), h.Lookup(source, destination)
		if !source.Is4() || holder == nil || out == nil || out == holder || l.Gateway != "" {
			continue
		}
		announce := h.Effective("arp_announce", out)
		if announce < 0 || announce >= 2 || slices.Contains(h.OnSubnet(source, out.VRF), out) ||
			!slices.Contains(h.OnSubnet(destination, out.VRF), out) {
			continue
		}
		for _, n := range h.Neighbours(destination) {
			if n.Interface == out.Name && facts.Failed(n) {
				return fmt.Sprintf("%s is %s on %s, asked with sender address %s of %s", destination, n.State,
					h.End(out), source, holder.Name), out
			}
		}
	}
	return "", nil
}

// forget makes peers drop what they have wrongly learned: they would otherwise
// believe it until it ages.
func forget(list []facts.Misdirected) []string {
	var lines []string
	for _, m := range list {
		for _, p := range m.Peer.Interfaces {
			for _, prefix := range p.V4() {
				if prefix.Contains(m.Addr) {
					lines = append(lines, fmt.Sprintf("on %s: ip neigh flush to %s dev %s", m.Peer.Name,
						prefix.Masked(), p.Name))
				}
			}
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}
