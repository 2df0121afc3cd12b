package facts

import (
	"net/netip"

	"linerate/internal/model/record"
	"linerate/internal/model/topology"
)

// Ingress predicts by which interfaces hosts receive what their peers send, from the state of ARP
// on the hosts of one trial.
type Ingress struct{ Trial }

// NewIngress returns the Ingress of a trial's hosts.
func NewIngress(trial record.Trial, over *topology.Topology) Ingress {
	return Ingress{Gather(trial, over)}
}

// Interfaces returns the interfaces of host that may receive the packets that peer sends to one of
// the host's addresses: those whose MAC address the peer may learn for it, and that do not drop the
// packets. Which of several it is depends on the order of ARP packets. None means that it is not
// known, or that no interface answers for the address.
func (i Ingress) Interfaces(peer, host string, address netip.Addr) (names []string) {
	from, h := i.Host(peer), i.Host(host)
	if from == nil || h == nil {
		return nil
	}
	holder := h.Holder(address)
	if holder == nil || !address.Is4() {
		return nil // neighbour discovery answers by the interface that holds the address
	}
	for _, n := range from.Neighbours(address) {
		if p := h.Owner(n.MAC); p != nil && Resolved(n) && !Learned(n) {
			return []string{p.Name}
		}
	}
	asker := from.addressOn(address)
	subnet := h.OnSubnet(asker, holder.VRF)
	if SharedMAC(subnet) {
		return nil
	}
	out := h.Lookup(address, asker)
	for _, p := range subnet {
		if h.Effective("rp_filter", p) == 1 && out != nil && out != p {
			continue // dropped, ARP requests included
		}
		if h.answers(p, holder, out) || h.asks(p, asker, out) {
			names = append(names, p.Name)
		}
	}
	return names
}

// addressOn returns the host's own IPv4 address in the subnet of another address; the zero Addr if
// it has none.
func (h *Host) addressOn(subnet netip.Addr) netip.Addr {
	for _, p := range h.Interfaces {
		for _, prefix := range p.V4() {
			if p.Up && !p.Member && prefix.Contains(subnet) {
				return prefix.Addr()
			}
		}
	}
	return netip.Addr{}
}

// answers reports whether interface p answers ARP requests for an address of holder. out is the
// interface by which packets from that address leave; nil: not known.
func (h *Host) answers(p, holder, out *Interface) bool {
	const never = 8
	ignore := h.Effective("arp_ignore", p)
	switch {
	case h.Effective("arp_filter", p) == 1 && out != nil:
		return out == p && (p == holder || !OwnOnly(ignore))
	case p == holder:
		return ignore != never
	}
	return ignore >= 0 && !OwnOnly(ignore) && h.Effective("arp_filter", p) == 0
}

// asks reports whether p sends ARP requests for a peer whose sender address may be that of another
// interface.
func (h *Host) asks(p *Interface, peer netip.Addr, out *Interface) bool {
	announce := h.Effective("arp_announce", p)
	if p != out || announce < 0 || announce >= 2 {
		return false
	}
	for _, n := range h.Neighbours(peer) {
		if n.Interface == p.Name && Resolved(n) && !Learned(n) {
			return false
		}
	}
	return true
}

// SharedMAC reports whether at least two of the interfaces have the same MAC address.
func SharedMAC(netifs []*Interface) bool {
	for i, p := range netifs {
		for _, o := range netifs[i+1:] {
			if p.MAC == o.MAC {
				return true
			}
		}
	}
	return false
}
