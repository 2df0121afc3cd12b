package facts

import (
	"net/netip"

	"linerate/internal/model/record"
	"linerate/internal/model/topology"
)

// Ingress says by which interfaces hosts take in what their peers send, as the state of
// the hosts in one trial leaves it to ARP.
type Ingress struct{ Trial }

// NewIngress reads a trial's hosts.
func NewIngress(trial record.Trial, over *topology.Topology) Ingress {
	return Ingress{Gather(trial, over)}
}

// Interfaces are those of a host whose MAC address a peer may hold for one of the host's
// addresses, and which take the packets in. Where there are several, the order of ARP packets
// decides. None: nothing says that one would, or the address is not answered for.
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

// addressOn is the host's own address on another one's subnet.
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

// answers reports whether an interface answers ARP requests for the address of holder; out
// is where what is sent from the address leaves, nil where that is not known.
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

// asks reports whether an interface asks for a peer with the sender address of whatever is
// sent to it.
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

// SharedMAC reports whether two of the interfaces have one MAC address.
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
