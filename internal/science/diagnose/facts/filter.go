package facts

import (
	"maps"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
)

// OwnOnly reports whether a value of arp_ignore keeps an interface from answering for the addresses
// of other interfaces. The value 3 depends only on the scope of the address and does not.
func OwnOnly(arpIgnore int) bool {
	return arpIgnore == 1 || arpIgnore == 2 || arpIgnore == 8
}

// FilterCounter counts the packets that the strict and loose reverse-path filters of all interfaces
// drop, but not the ARP requests that they drop. The strict filter of an interface drops a packet
// if the host would not send to its source by that interface. It is in force where the larger of
// conf.all.rp_filter and the interface's own value is 1 (ip-sysctl.rst).
const FilterCounter = "TcpExt.IPReversePathFilter"

// Strict and Loose are values of rp_filter. Both filters drop packets whose source has no route.
const Strict, Loose = 1, 2

// Filtering returns the interfaces with a reverse-path filter of a kind, Strict or Loose, that can
// receive packets.
func (h *Host) Filtering(kind int) (list []*Interface) {
	for _, p := range h.Interfaces[:min(len(h.Interfaces), MostInterfaces)] {
		if p.Up && !p.Member && p.VRF != p.Name && h.Effective("rp_filter", p) == kind {
			list = append(list, p)
		}
	}
	if len(h.Interfaces) == 0 { // a text without them: its parameters name them
		for _, key := range slices.Sorted(maps.Keys(h.Reading.Snapshot.Sysctls)) {
			name, is := strings.CutPrefix(key, "net.ipv4.conf.")
			name, of := strings.CutSuffix(name, ".rp_filter")
			p := &Interface{Name: strings.ReplaceAll(name, "/", ".")}
			if is && of && !slices.Contains([]string{"all", "default", "lo"}, name) && len(list) < MostInterfaces &&
				h.Effective("rp_filter", p) == kind {
				list = append(list, p)
			}
		}
	}
	return list
}

// AnsweredElsewhere returns at most three neighbours that send to interface p and are answered by
// another interface: entries of the host's own table, and other hosts that use the MAC address of p
// for one of the host's addresses.
func (f Trial) AnsweredElsewhere(h *Host, p *Interface) (list []fact.AnsweredElsewhere) {
	add := func(peer string, addr netip.Addr, out *Interface) {
		s := fact.AnsweredElsewhere{Peer: peer, Address: addr, Interface: p.Name}
		if out != nil {
			s.By = out.Name
		}
		if len(list) < 3 && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	for _, n := range h.Entries() {
		source := Parse(n.Address)
		if out, is := h.elsewhere(netip.Addr{}, source, p); n.Interface == p.Name && Resolved(n) && is {
			add("", source, out)
		}
	}
	for _, peer := range f.Hosts {
		if peer == h {
			continue
		}
		for _, n := range peer.Entries() {
			target := Parse(n.Address)
			if !Resolved(n) || h.Holder(target) == nil || h.Owner(n.MAC) != p {
				continue
			}
			for _, source := range peer.senders(n.Interface, target) {
				if out, is := h.elsewhere(target, source, p); is {
					add(peer.Name, source, out)
				}
			}
		}
	}
	return list
}

// droppedRequest is an unresolved neighbour entry of a peer for an address that a host does have:
// the reverse-path filter of the host's interface drops the ARP request.
type droppedRequest struct {
	At       *Interface
	Is       fact.DroppedRequest
	Routed   bool         // the host has a route to one of the possible senders
	Unrouted []netip.Addr // possible senders to which the host has no route
}

// DroppedRequests returns such entries for the addresses of a host, at most four.
func (f Trial) DroppedRequests(h *Host) (list []droppedRequest) {
	for _, peer := range f.Hosts {
		for _, n := range peer.Reading.Snapshot.Neighbours {
			if u := h.dropsRequest(peer, n); u != nil && len(list) < 4 {
				list = append(list, *u)
			}
		}
	}
	return list
}

// Filtered reports whether a neighbour entry of a host is unresolved because of another host's
// reverse-path filter.
func (f Trial) Filtered(peer *Host, n netstate.Neighbour) bool {
	return slices.ContainsFunc(f.Hosts, func(h *Host) bool { return h.dropsRequest(peer, n) != nil })
}

// dropsRequest returns why an interface of the host drops a peer's ARP requests. It is nil if it
// does not drop them, or if the link, arp_ignore or arp_filter may be the reason.
func (h *Host) dropsRequest(peer *Host, n netstate.Neighbour) *droppedRequest {
	target := Parse(n.Address)
	if peer == h || !Failed(n) || !target.Is4() {
		return nil
	}
	at := h.Holder(target)
	if at == nil || !at.Up || at.Member || h.Effective("rp_filter", at) < 1 {
		return nil
	}
	arrived := true // as far as is known
	if h.OverS > 0 && n.State == "INCOMPLETE" {
		c, known := h.Growth(at.Name)
		arrived = !known || c.RxPackets > 0
	}
	u := &droppedRequest{At: at, Is: fact.DroppedRequest{Peer: peer.Name, For: target, State: n.State, On: n.Interface,
		DropBy: at.Name}}
	for _, source := range peer.senders(n.Interface, target) {
		out, is := h.elsewhere(target, source, at)
		if !arrived || !is || out != nil && h.Effective("rp_filter", at) == Loose || !h.answers(at, at, out) ||
			len(u.Is.From) == 3 {
			continue
		}
		answer := fact.Answer{To: source}
		if out != nil {
			answer.By = out.Name
		} else {
			u.Unrouted = append(u.Unrouted, source)
		}
		u.Routed = u.Routed || out != nil
		u.Is.From = append(u.Is.From, answer)
	}
	if u.Is.From == nil {
		return nil
	}
	return u
}
