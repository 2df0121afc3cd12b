package diagnose

import (
	"net/netip"

	"linerate/internal/model/record"
	"linerate/internal/model/topology"
)

// Ingress says by which interfaces hosts take in what their peers send, as the state of
// the hosts in one trial leaves it to ARP.
type Ingress struct{ observed }

// NewIngress reads a trial's hosts.
func NewIngress(trial record.Trial, over *topology.Topology) Ingress {
	return Ingress{gather(trial, over)}
}

// Interfaces are those of a host whose MAC address a peer may hold for one of the host's
// addresses, and which take the packets in. Where there are several, the order of ARP packets
// decides. None: nothing says that one would, or the address is not answered for.
func (i Ingress) Interfaces(peer, host string, address netip.Addr) (names []string) {
	from, h := i.host(peer), i.host(host)
	if from == nil || h == nil {
		return nil
	}
	holder := h.holder(address)
	if holder == nil || !address.Is4() {
		return nil // neighbour discovery answers by the interface that holds the address
	}
	for _, n := range from.neighbours(address) {
		if p := h.owner(n.MAC); p != nil && resolved(n) && !learned(n) {
			return []string{p.name}
		}
	}
	asker := from.addressOn(address)
	subnet := h.onSubnet(asker, holder.vrf)
	if sharedMAC(subnet) {
		return nil
	}
	out := h.lookup(address, asker)
	for _, p := range subnet {
		if h.effective("rp_filter", p) == 1 && out != nil && out != p {
			continue // dropped, ARP requests included
		}
		if h.answers(p, holder, out) || h.asks(p, asker, out) {
			names = append(names, p.name)
		}
	}
	return names
}

// addressOn is the host's own address on another one's subnet.
func (h *host) addressOn(subnet netip.Addr) netip.Addr {
	for _, p := range h.netifs {
		for _, prefix := range p.v4() {
			if p.up && !p.member && prefix.Contains(subnet) {
				return prefix.Addr()
			}
		}
	}
	return netip.Addr{}
}

// answers reports whether an interface answers ARP requests for the address of holder; out
// is where what is sent from the address leaves, nil where that is not known.
func (h *host) answers(p, holder, out *netif) bool {
	const never = 8
	ignore := h.effective("arp_ignore", p)
	switch {
	case h.effective("arp_filter", p) == 1 && out != nil:
		return out == p && (p == holder || !ownOnly(ignore))
	case p == holder:
		return ignore != never
	}
	return ignore >= 0 && !ownOnly(ignore) && h.effective("arp_filter", p) == 0
}

// asks reports whether an interface asks for a peer with the sender address of whatever is
// sent to it.
func (h *host) asks(p *netif, peer netip.Addr, out *netif) bool {
	announce := h.effective("arp_announce", p)
	if p != out || announce < 0 || announce >= 2 {
		return false
	}
	for _, n := range h.neighbours(peer) {
		if n.Interface == p.name && resolved(n) && !learned(n) {
			return false
		}
	}
	return true
}
