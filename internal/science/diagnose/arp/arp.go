// Package arp has the rules about address resolution on a link: which host answers for an IP
// address, and what is in neighbour tables.
package arp

import (
	"cmp"
	"slices"
	"strings"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/fix"
	"linerate/internal/science/diagnose/rule"
)

// Rules find hosts that answer or ask with the wrong address, and addresses that two machines have.
var Rules = []rule.Rule{
	{ID: cause.ARPFlux.Code, Parts: []string{"neighbours"}, Find: func(f facts.Trial) []record.Finding {
		return slices.Concat(rule.Each(rule.EveryHost, arpFlux)(f), fluxAnswered(f), fluxElsewhere(f))
	}},
	{ID: cause.ARPWrongSource.Code, Find: rule.Each(rule.EveryHost, arpWrongSource), Stops: true},
	{ID: cause.DuplicateAddress.Code, Parts: []string{"neighbours"}, Find: duplicateAddress, Stops: true,
		Explains: append(cause.Codes(cause.WrongNeighbour, cause.ConnectFails), "other-host-frames", "syn-unanswered")},
}

// arpFlux finds hosts whose peers send to the wrong one of their interfaces, because the host
// answers ARP requests for all its addresses by any interface (ARP flux).
func arpFlux(f facts.Trial, h *facts.Host) *record.Finding {
	list := slices.DeleteFunc(f.Misdirections(h), func(m facts.Misdirected) bool {
		return facts.OwnOnly(h.Effective("arp_ignore", m.Wrong))
	})
	finding := facts.Found(cause.ARPFlux, h, record.Likely, cause.Flux{})
	var wrong *facts.Interface
	if len(list) > 0 {
		misdirected(finding, h, list)
		wrong = list[0].Wrong
		for _, m := range list {
			if took, more := takesMore(f, h, m.Wrong); more {
				wrong = m.Wrong
				finding.With(h.Name, took)
				if h.Effective("arp_ignore", m.Wrong) == 0 {
					finding.Confidence = record.Certain
				}
				break
			}
		}
		finding.Facts = append(finding.Facts, f.SwitchPorts(wrong.MAC)...)
	} else {
		var evidence []any
		if wrong, evidence = fluxUnseen(f, h); wrong == nil {
			return nil
		}
		finding.With(h.Name, evidence...)
	}
	finding.With(h.Name, h.Scoped("arp_ignore", wrong)...).With(h.Name, h.Scoped("arp_filter", wrong)...)
	remedy, steps := answerRightly(h)
	finding.Args = cause.Flux{Interface: wrong.Name, Remedy: remedy}
	return finding.Fixed(steps...).Fixed(forget(list)...)
}

// misdirected adds the wrong entries of peers as evidence, one fact for each peer and interface.
func misdirected(finding *record.Finding, h *facts.Host, list []facts.Misdirected) {
	for i, m := range list {
		same := func(o facts.Misdirected) bool { return o.Peer == m.Peer && o.Wrong == m.Wrong }
		if slices.ContainsFunc(list[:i], same) {
			continue
		}
		is := fact.Misdirected{Of: h.Name, Interface: m.Wrong.Name, MAC: m.Wrong.MAC}
		for _, o := range list {
			if same(o) {
				is.Addresses = append(is.Addresses, fact.At{Address: o.Addr, Interface: o.Right.Name})
			}
		}
		finding.With(m.Peer.Name, is)
	}
}

// answerRightly returns the steps after which each interface answers only for its own address, and
// the name of that remedy. Where arp_filter is on, an interface answers only for addresses that the
// host would send from by that interface. With arp_ignore=1 in addition, no interface would answer
// for an address whose packets leave by another interface, so arp_filter is switched off or source
// routing set up first.
func answerRightly(h *facts.Host) (remedy string, steps []record.Step) {
	own := fix.Parameter(h, ignoreAndAnnounce...)
	if len(h.Scopes("arp_filter", 1)) == 0 {
		return cause.OwnAnswers, own
	}
	off := fix.FilterOff(h)
	routing := fix.RouteBySource(h, slices.DeleteFunc(h.Asymmetries(), func(a facts.Asymmetry) bool {
		return !a.Source.Is4()
	}))
	if len(routing) == 0 {
		return cause.NoFilter, append(record.Settings(off...), own...)
	}
	return cause.SourceRouting, slices.Concat(record.Settings(routing...), []record.Step{fix.Without(off)}, own)
}

// ignoreAndAnnounce are kernel parameters and values with which each interface answers only for its
// own address, and asks with it.
var ignoreAndAnnounce = []string{"net.ipv4.conf.all.arp_ignore", "1", announceKey, "2"}

const announceKey = "net.ipv4.conf.all.arp_announce"

// fluxUnseen looks for ARP flux where no peer has an entry that shows it: by the host's settings
// and, if the trial has flows, by one interface that received clearly more than was addressed to
// it. It returns that interface, or nil, and the evidence.
func fluxUnseen(f facts.Trial, h *facts.Host) (*facts.Interface, []any) {
	for _, p := range h.Interfaces {
		for _, prefix := range p.V4() {
			peers := h.OnSubnet(prefix.Addr(), p.VRF)
			if p.Member || !p.Up || len(peers) < 2 || facts.SharedMAC(peers) || seen(f, h) {
				continue
			}
			if h.Effective("arp_ignore", p) != 0 || h.Effective("arp_filter", p) != 0 {
				continue
			}
			subnet := fact.OneSubnet{Subnet: prefix.Masked()}
			for _, o := range peers {
				subnet.Interfaces = append(subnet.Interfaces, o.Name)
			}
			if len(f.Trial.Flows) == 0 {
				return p, []any{subnet}
			}
			if took, more := takesMore(f, h, p); more {
				return p, []any{subnet, took}
			}
		}
	}
	return nil, nil
}

// seen reports whether a peer's table has an entry for the host. If so, the tables show whether
// there is ARP flux, and fluxUnseen is not needed.
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

// takesMore reports whether an interface received clearly more of its host's traffic than was
// addressed to it.
func takesMore(f facts.Trial, h *facts.Host, p *facts.Interface) (taken fact.Taken, more bool) {
	addressed := f.AddressShares(h, true)
	among := lists.Where(h.Interfaces, func(o *facts.Interface) bool { return addressed[o] > 0 || o == p })
	took := h.Share(p, among, func(d netstate.InterfaceDelta) float64 { return d.RxBytes })
	return fact.Taken{Interface: p.Name, Took: took, Meant: addressed[p]}, took >= addressed[p]+facts.Excess
}

// arpWrongSource finds hosts whose own ARP requests named the address of another interface as
// sender. Only where arp_ignore allows replies for the interface's own address alone can replies be
// excluded as the reason.
func arpWrongSource(f facts.Trial, h *facts.Host) *record.Finding {
	list := slices.DeleteFunc(f.Misdirections(h), func(m facts.Misdirected) bool {
		announce := h.Effective("arp_announce", m.Wrong)
		return !facts.OwnOnly(h.Effective("arp_ignore", m.Wrong)) || announce < 0 || announce >= 2
	})
	finding := facts.Found(cause.ARPWrongSource, h, record.Likely, cause.WrongSource{})
	if len(list) > 0 {
		m := list[0]
		misdirected(finding, h, list)
		for _, o := range list {
			if asked(h, o) {
				m, finding.Confidence = o, record.Certain
				finding.With(h.Name, fact.Asked{Peer: o.Peer.Name, Interface: o.Wrong.Name,
					Sender: fact.At{Address: o.Addr, Interface: o.Right.Name}})
				break
			}
		}
		finding.Args = cause.WrongSource{Interface: m.Wrong.Name}
		finding.With(h.Name, h.Scoped("arp_announce", m.Wrong)...)
		for _, is := range h.Scoped("arp_ignore", m.Wrong) {
			finding.With(h.Name, fact.RightReplies{Scoped: is.(fact.Scoped)})
		}
	} else if request, p := unanswered(f, h); p != nil {
		finding.Args = cause.WrongSource{Interface: p.Name, Unanswered: true}
		finding.With(h.Name, request).With(h.Name, h.Scoped("arp_announce", p)...)
	} else {
		return nil
	}
	return finding.Fixed(fix.Parameter(h, announceKey, "2")...).Fixed(forget(list)...)
}

// asked reports whether the host itself has resolved the peer by the interface whose MAC address
// the peer has, which shows that the interface sent ARP requests.
func asked(h *facts.Host, m facts.Misdirected) bool {
	return slices.ContainsFunc(h.Entries(), func(n netstate.Neighbour) bool {
		address := facts.Parse(n.Address)
		return n.Interface == m.Wrong.Name && address.Is4() && m.Peer.Holder(address) != nil
	})
}

// unanswered finds a neighbour that does not answer ARP requests whose sender address is in no
// subnet of the interface that asks. by is nil if there is none.
func unanswered(f facts.Trial, h *facts.Host) (request fact.Unanswered, by *facts.Interface) {
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
				return fact.Unanswered{Address: destination, State: n.State, Interface: out.Name,
					Sender: fact.At{Address: source, Interface: holder.Name}}, out
			}
		}
	}
	return request, nil
}

// forget returns the steps that flush the wrong entries from the peers' tables. They would
// otherwise be used until they expire.
func forget(list []facts.Misdirected) (steps []record.Step) {
	for _, m := range list {
		for _, p := range m.Peer.Interfaces {
			for _, prefix := range p.V4() {
				flush := record.Flush{To: prefix.Masked(), Interface: p.Name}
				if prefix.Contains(m.Addr) && !slices.ContainsFunc(steps, func(s record.Step) bool {
					return s.Host == m.Peer.Name && *s.Flush == flush
				}) {
					steps = append(steps, record.Step{Host: m.Peer.Name, Flush: &flush})
				}
			}
		}
	}
	slices.SortFunc(steps, func(a, b record.Step) int {
		return cmp.Or(strings.Compare(a.Host, b.Host), slices.Compare(a.Flush.Command(), b.Flush.Command()))
	})
	return steps
}
