package facts

import (
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/record"
)

// Prefixes are an interface's addresses with their prefix lengths, without link-local ones.
func Prefixes(i record.InterfaceSnapshot) (list []netip.Prefix) {
	for _, text := range i.Addresses {
		if p, err := netip.ParsePrefix(text); err == nil && !p.Addr().IsLinkLocalUnicast() {
			list = append(list, p)
		}
	}
	return list
}

// ShareSubnet reports whether two interfaces have addresses of one subnet, in one VRF.
func ShareSubnet(a, b *Interface) bool {
	for _, x := range a.V4() {
		if a.VRF == b.VRF && slices.ContainsFunc(b.V4(), func(y netip.Prefix) bool {
			return x.Bits() < 32 && y.Bits() < 32 && x.Overlaps(y)
		}) {
			return true
		}
	}
	return false
}

// pair is two interfaces of two hosts whose subnets overlap.
type pair struct {
	H, Other *Host
	A, B     record.InterfaceSnapshot
}

// Hosts are their names.
func (p pair) Hosts() cause.Two { return cause.Two{First: p.H.Name, Second: p.Other.Name} }

// Ends are the interfaces with their hosts.
func (p pair) Ends() (a, b fact.End) {
	return fact.End{Host: p.H.Name, Interface: p.A.Interface}, fact.End{Host: p.Other.Name, Interface: p.B.Interface}
}

// inside reports whether an interface leads to what is on its own host alone: a bridge without
// a port to a network, as containers and virtual machines have, or a dummy. Several hosts may
// have the same addresses there. A bridge that has learned the MAC address of another of the
// hosts leads to it, whatever its ports are.
func (h *Host) inside(i record.InterfaceSnapshot) bool {
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
	return !slices.ContainsFunc(h.Reading.Snapshot.FDB, func(e record.FDBEntry) bool {
		return !e.Local && ports[e.Interface] && h.foreign[strings.ToLower(e.MAC)]
	})
}

// Bounds of what is compared between two hosts: a snapshot may be from elsewhere.
const MostInterfaces, MostNetworks, mostPairs = 500, 64, 10_000

// attached is an interface with its networks, each once.
type attached struct {
	I        record.InterfaceSnapshot
	Vrf      string // as of netif
	Networks []netip.Prefix
}

// Meets reports whether two interfaces are on one subnet.
func (a attached) Meets(b attached) bool {
	return slices.ContainsFunc(a.Networks, func(x netip.Prefix) bool {
		return slices.ContainsFunc(b.Networks, x.Overlaps)
	})
}

// Attachments are a host's up interfaces that lead to a network, by which others may be reached.
func (h *Host) Attachments() (list []attached) {
	for _, i := range h.Reading.Snapshot.Interfaces {
		if !i.Up || h.inside(i) || len(list) == MostInterfaces {
			continue
		}
		a := attached{I: i, Vrf: vrf(h.Reading.Snapshot, i)}
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

// Attachment is an interface that leads to a network, with its addresses.
type Attachment struct {
	Interface string
	MTU       int
	SpeedBps  float64 // that the hardware has negotiated; 0: not known, or no hardware
	Addresses []netip.Prefix
}

// Attachments are the interfaces of a host by which other hosts may be reached: up, with an
// address, and not those of a network inside the host.
func Attachments(s record.HostSnapshot) (list []Attachment) {
	h := Host{Reading: s.Reading}
	for _, a := range h.Attachments() {
		list = append(list, Attachment{a.I.Interface, a.I.MTU, a.I.SpeedBps, Prefixes(a.I)})
	}
	return list
}

// Neighbouring are the pairs of interfaces of different hosts with addresses of one subnet.
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
