package facts

import (
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
)

// Prefixes returns the addresses of an interface with their prefix lengths, without link-local
// ones.
func Prefixes(i netstate.InterfaceSnapshot) (list []netip.Prefix) {
	for _, text := range i.Addresses {
		if p, err := netip.ParsePrefix(text); err == nil && !p.Addr().IsLinkLocalUnicast() {
			list = append(list, p)
		}
	}
	return list
}

// ShareSubnet reports whether two interfaces in the same VRF have IPv4 addresses in the same
// subnet.
func ShareSubnet(a, b *Interface) bool {
	return slices.ContainsFunc(a.V4(), func(x netip.Prefix) bool {
		return a.VRF == b.VRF && slices.ContainsFunc(b.V4(), func(y netip.Prefix) bool {
			return x.Bits() < 32 && y.Bits() < 32 && x.Overlaps(y)
		})
	})
}

// pair is two interfaces of two hosts that are in the same subnet.
type pair struct {
	H, Other *Host
	A, B     netstate.InterfaceSnapshot
}

// Hosts returns the names of the two hosts.
func (p pair) Hosts() cause.Two { return cause.Two{First: p.H.Name, Second: p.Other.Name} }

// Ends returns the two interfaces with the names of their hosts.
func (p pair) Ends() (a, b fact.End) {
	return fact.End{Host: p.H.Name, Interface: p.A.Interface}, fact.End{Host: p.Other.Name, Interface: p.B.Interface}
}

// inside reports whether an interface reaches only what is on its own host: a dummy, or a bridge
// without a port to a network, as containers and virtual machines use. Several hosts may have the
// same addresses there. A bridge that has learned the MAC address of another host in the comparison
// is not inside, if its ports are veth, tun or tap.
func (h *Host) inside(i netstate.InterfaceSnapshot) bool {
	if i.Kind == "dummy" {
		return true
	}
	if i.Kind != "bridge" {
		return false
	}
	ports := map[string]bool{}
	for _, p := range h.Reading.Snapshot.Interfaces {
		if p.Master == i.Interface && !slices.Contains([]string{"veth", "tun", "tap"}, p.Kind) {
			return false
		}
		ports[p.Interface] = p.Master == i.Interface
	}
	return !slices.ContainsFunc(h.Reading.Snapshot.FDB, func(e netstate.FDBEntry) bool {
		return !e.Local && ports[e.Interface] && h.foreign[strings.ToLower(e.MAC)]
	})
}

// MostInterfaces bounds the interfaces of a host that are compared with others, MostNetworks the
// networks of an interface, and mostPairs the pairs that are found. A snapshot may come from
// elsewhere and be of any size.
const MostInterfaces, MostNetworks, mostPairs = 500, 64, 10_000

// attached is an interface with its networks, each of them once.
type attached struct {
	I        netstate.InterfaceSnapshot
	Vrf      string // of Interface.VRF
	Networks []netip.Prefix
}

// Meets reports whether two interfaces are in the same subnet.
func (a attached) Meets(b attached) bool {
	return slices.ContainsFunc(a.Networks, func(x netip.Prefix) bool {
		return slices.ContainsFunc(b.Networks, x.Overlaps)
	})
}

// Attachments returns the host's interfaces that are up, have an address and reach other hosts.
func (h *Host) Attachments() (list []attached) {
	for _, i := range h.Reading.Snapshot.Interfaces {
		if !i.Up || h.inside(i) || len(list) == MostInterfaces {
			continue
		}
		a := attached{I: i, Vrf: h.vrf(i)}
		seen := map[netip.Prefix]bool{}
		for _, p := range Prefixes(i) {
			if network := p.Masked(); !p.IsSingleIP() && !seen[network] && len(a.Networks) < MostNetworks {
				seen[network] = true
				a.Networks = append(a.Networks, network)
			}
		}
		if len(a.Networks) > 0 {
			list = append(list, a)
		}
	}
	return list
}

// Attachment is an interface by which a host reaches other hosts, with its addresses.
type Attachment struct {
	Interface string
	MTU       int
	SpeedBps  float64 // negotiated speed; 0: not known, or not hardware
	Addresses []netip.Prefix
}

// Attachments returns the interfaces by which a host reaches others: up, with an address, and not
// in a network inside the host.
func Attachments(s netstate.HostSnapshot) (list []Attachment) {
	h := Host{Reading: s.Reading}
	for _, a := range h.Attachments() {
		list = append(list, Attachment{a.I.Interface, a.I.MTU, a.I.SpeedBps, Prefixes(a.I)})
	}
	return list
}

// Neighbouring returns the pairs of interfaces of different hosts that are in the same subnet.
func (f Trial) Neighbouring() (pairs []pair) {
	all := make([][]attached, len(f.Hosts))
	for n, h := range f.Hosts {
		all[n] = h.Attachments()
	}
	for n, h := range f.Hosts {
		for m := n + 1; m < len(f.Hosts); m++ {
			for _, a := range all[n] {
				for _, b := range all[m] {
					if a.Meets(b) {
						pairs = append(pairs, pair{h, f.Hosts[m], a.I, b.I})
					}
					if len(pairs) == mostPairs {
						return pairs
					}
				}
			}
		}
	}
	return pairs
}
