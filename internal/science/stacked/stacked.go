// Package stacked says which interfaces of a host count the packets of others, and what their
// counters have of a flow: bonds, VLANs, tunnels and bridges are made on other interfaces, which
// count each packet again, with more bytes (upper and lower devices in the kernel's words).
package stacked

import (
	"net/netip"
	"slices"

	"linerate/internal/model/device"
	"linerate/internal/model/fact"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
)

// carriedKinds are the kinds of interface (IFLA_INFO_KIND) besides tunnels whose packets leave by
// another interface of the host with more than their own bytes.
var carriedKinds = []string{"batadv", "dsa", "macsec"}

// onLowerKinds are the kinds of interface whose lower interface (IFLA_LINK) counts the same frames,
// and may be in another network namespace, as that of a container's macvlan.
var onLowerKinds = []string{"vlan", "macvlan", "ipvlan"}

// level orders the interfaces of a host: the packets of one leave by another one of a lower level.
// A tap, which has a MAC address, may be all that a container has (slirp4netns); a tun without one
// belongs to a VPN. In a lab a tun is the end of a link, which the link emulator carries.
func level(h record.HostReading, p record.InterfaceSnapshot, over *topology.Topology) int {
	if p.Kind == "tun" && over != nil {
		if drawn, ok := over.Host(h.Host); ok && len(drawn.Via) == 0 {
			return 0
		}
	}
	switch {
	case slices.Contains(onLowerKinds, p.Kind):
		return 1
	case p.Kind == "tun" && p.MAC != "":
		return 2
	case p.Kind == "ifb" || slices.Contains(carriedKinds, p.Kind) || device.TunnelKind(p.Kind):
		return highest
	}
	return 0
}

// highest is the level of tunnels.
const highest = 3

// leavesByAnother reports whether the host has an interface that is up for the packets of p to
// leave by. Which of several tuns without MAC addresses carries the others is not known: each may.
func leavesByAnother(h record.HostReading, p record.InterfaceSnapshot, over *topology.Topology) bool {
	upper := level(h, p, over)
	return slices.ContainsFunc(h.Snapshot.Interfaces, func(o record.InterfaceSnapshot) bool {
		return o.Up && !slices.Contains([]string{"lo", p.Interface, p.Master}, o.Interface) && (upper == highest ||
			level(h, o, over) < upper)
	})
}

// carried reports whether an interface's packets leave by another one of the host with headers,
// options, padding or ciphers that depend on how each is set up.
func carried(h record.HostReading, p record.InterfaceSnapshot, over *topology.Topology) bool {
	if p.Kind == "tun" {
		return leavesByAnother(h, p, over)
	}
	return slices.Contains(carriedKinds, p.Kind) || device.TunnelKind(p.Kind) && device.TunnelOverhead(p.Kind) == 0
}

// repeats reports whether an interface's frames are those of another one of the host, with
// a known number of bytes more or less: VLANs, VXLAN, and what ifb takes from another.
func repeats(h record.HostReading, p record.InterfaceSnapshot, over *topology.Topology) bool {
	return slices.Contains(onLowerKinds, p.Kind) && leavesByAnother(h, p, over) || p.Kind == "ifb" ||
		device.TunnelOverhead(p.Kind) > 0
}

// Interface reports whether an interface of a host counts what another one of the host counts,
// too: it is a bond's member, a VLAN or a tunnel. The topology, which may be nil, distinguishes the
// tuns of a lab from those of real hosts.
func Interface(h record.HostReading, port string, over *topology.Topology) bool {
	i := slices.IndexFunc(h.Snapshot.Interfaces, func(p record.InterfaceSnapshot) bool { return p.Interface == port })
	if port == "lo" || i < 0 {
		return port == "lo"
	}
	p := h.Snapshot.Interfaces[i]
	return repeats(h, p, over) || carried(h, p, over) ||
		slices.ContainsFunc(h.Snapshot.Interfaces, func(o record.InterfaceSnapshot) bool {
			return o.Interface == p.Master
		})
}

// own are the interfaces of a flow at one of its hosts: that with its address there, and that
// of the host's route to the other end, where it was asked for. The zone of a link-local address
// (RFC 4007) names an interface of the host that opened the flow.
func own(s record.Snapshot, f record.Flow, receiving bool) (list []record.InterfaceSnapshot) {
	host, here, there := f.From, f.SourceAddr(), f.DestinationAddr()
	if receiving {
		host, here, there = f.To, there, here
	}
	zone := here.Zone()
	if host != f.OpenedBy {
		zone = ""
	}
	for _, p := range s.Interfaces {
		holds := slices.ContainsFunc(p.Addresses, func(a string) bool {
			prefix, err := netip.ParsePrefix(a)
			return err == nil && prefix.Addr() == here.WithZone("") && (zone == "" || zone == p.Interface)
		})
		if holds || slices.ContainsFunc(s.Lookups, func(l record.RouteLookup) bool {
			return l.Interface == p.Interface && l.Source == here.String() && l.Destination == there.String()
		}) {
			list = append(list, p)
		}
	}
	return list
}

// Unknown is the interface by which the bytes of a flow on its host's interfaces are not known: the
// flow's own is carried by another one, which adds bytes, or it is a bridge over such an interface or
// over one that repeats. nil: they are known.
func Unknown(h record.HostReading, f record.Flow, receiving bool, over *topology.Topology) *fact.CarriedAgain {
	for _, p := range own(h.Snapshot, f, receiving) {
		for _, q := range h.Snapshot.Interfaces {
			// A bridge's tun belongs to a virtual machine.
			beneath := q.Master == p.Interface && q.Kind != "tun" && (carried(h, q, over) || repeats(h, q, over))
			if q.Interface == p.Interface && carried(h, q, over) || beneath {
				return &fact.CarriedAgain{Interface: q.Interface, Kind: q.Kind}
			}
		}
	}
	return nil
}

// longerOverIPv6 is how much longer IPv6's header is than IPv4's (RFC 8200, RFC 791).
const longerOverIPv6 = 20

// Overhead is how many bytes a tunnel adds to each of a flow's packets, as the interfaces beneath
// it count them, and how many more it may add: without a topology, what it runs over is not known.
func Overhead(h record.HostReading, f record.Flow, receiving bool, over *topology.Topology) (size, more float64) {
	for _, p := range own(h.Snapshot, f, receiving) {
		least := device.TunnelOverhead(p.Kind)
		if least == 0 {
			continue
		}
		if over != nil {
			if host, ok := over.Host(h.Host); ok {
				if drawn, ok := host.Interface(p.Interface); ok {
					if shape, _ := drawn.Shape(p.Interface); shape.Overhead > 0 {
						return float64(shape.Overhead), 0
					}
				}
			}
		}
		return float64(least), longerOverIPv6
	}
	return 0, 0
}

// Tagged reports whether a flow's packets have a VLAN's tag at one of its hosts.
func Tagged(s record.Snapshot, f record.Flow, receiving bool) bool {
	return slices.ContainsFunc(own(s, f, receiving), func(p record.InterfaceSnapshot) bool { return p.Kind == "vlan" })
}
