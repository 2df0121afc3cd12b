// Package stacked finds out which interfaces of a host count packets of other interfaces, and what
// their counters say about a flow. Bonds, VLANs, tunnels and bridges are created on other
// interfaces, which count each packet again, with more bytes (the kernel calls them upper and lower
// devices).
package stacked

import (
	"net/netip"
	"slices"

	"linerate/internal/model/device"
	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
)

// carriedKinds are the kinds of interface (IFLA_INFO_KIND), besides tunnels, whose packets leave by
// another interface of the host with additional bytes.
var carriedKinds = []string{"batadv", "dsa", "macsec"}

// onLowerKinds are the kinds of interface whose lower interface (IFLA_LINK) counts the same frames.
// The lower interface may be in another network namespace, as with a container's macvlan.
var onLowerKinds = []string{"vlan", "macvlan", "ipvlan"}

// level orders the interfaces of a host: the packets of one leave by another one of a lower level.
// A tap has a MAC address and may be the only interface of a container (slirp4netns); a tun has
// none and belongs to a VPN. In a lab a tun is the end of a link, which the link emulator carries.
func level(h netstate.HostReading, p netstate.InterfaceSnapshot, over *topology.Topology) int {
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

// leavesByAnother reports whether the host has another interface that is up and by which packets of
// p can leave. If there are several tuns without MAC addresses, it is not known which carries the
// others, so each may.
func leavesByAnother(h netstate.HostReading, p netstate.InterfaceSnapshot, over *topology.Topology) bool {
	upper := level(h, p, over)
	return slices.ContainsFunc(h.Snapshot.Interfaces, func(o netstate.InterfaceSnapshot) bool {
		return o.Up && !slices.Contains([]string{"lo", p.Interface, p.Master}, o.Interface) && (upper == highest ||
			level(h, o, over) < upper)
	})
}

// carried reports whether an interface's packets leave by another interface of the host with
// headers, options, padding or ciphers whose length depends on the configuration.
func carried(h netstate.HostReading, p netstate.InterfaceSnapshot, over *topology.Topology) bool {
	if p.Kind == "tun" {
		return leavesByAnother(h, p, over)
	}
	return slices.Contains(carriedKinds, p.Kind) || device.TunnelKind(p.Kind) && device.TunnelOverhead(p.Kind) == 0
}

// repeats reports whether an interface's frames are those of another interface of the host, with a
// known number of bytes more or less: VLANs, VXLAN, and what an ifb takes from another interface.
func repeats(h netstate.HostReading, p netstate.InterfaceSnapshot, over *topology.Topology) bool {
	return slices.Contains(onLowerKinds, p.Kind) && leavesByAnother(h, p, over) || p.Kind == "ifb" ||
		device.TunnelOverhead(p.Kind) > 0
}

// Interface reports whether an interface of a host counts what another one of the host also counts:
// it is lo, a bond's member, a VLAN or a tunnel. The topology distinguishes the tuns of a lab from
// those of real hosts; it may be nil.
func Interface(h netstate.HostReading, port string, over *topology.Topology) bool {
	i := slices.IndexFunc(h.Snapshot.Interfaces, func(p netstate.InterfaceSnapshot) bool { return p.Interface == port })
	if port == "lo" || i < 0 {
		return port == "lo"
	}
	p := h.Snapshot.Interfaces[i]
	return repeats(h, p, over) || carried(h, p, over) ||
		slices.ContainsFunc(h.Snapshot.Interfaces, func(o netstate.InterfaceSnapshot) bool {
			return o.Interface == p.Master
		})
}

// own returns the interfaces of a flow on one of its hosts: the one that has its address there, and
// the one that the host's route to the other end uses, if that was looked up. The zone of a
// link-local address (RFC 4007) names an interface of the host that opened the flow.
func own(s netstate.Snapshot, f record.Flow, receiving bool) (list []netstate.InterfaceSnapshot) {
	host, local, remote := f.From, f.SourceAddr(), f.DestinationAddr()
	if receiving {
		host, local, remote = f.To, remote, local
	}
	zone := local.Zone()
	if host != f.OpenedBy {
		zone = ""
	}
	for _, p := range s.Interfaces {
		holds := slices.ContainsFunc(p.Addresses, func(a string) bool {
			prefix, err := netip.ParsePrefix(a)
			return err == nil && prefix.Addr() == local.WithZone("") && (zone == "" || zone == p.Interface)
		})
		if holds || slices.ContainsFunc(s.Lookups, func(l netstate.RouteLookup) bool {
			return l.Interface == p.Interface && l.Source == local.String() && l.Destination == remote.String()
		}) {
			list = append(list, p)
		}
	}
	return list
}

// Unknown returns the interface that makes it unknown how many bytes of a flow the interfaces of
// one of its hosts count: its packets leave by another interface, which counts additional bytes. It
// is the flow's own interface, or a port of the bridge that is the flow's interface; a port counts
// also if it repeats the frames of another interface. Nil: the bytes are known.
func Unknown(h netstate.HostReading, f record.Flow, receiving bool, over *topology.Topology) *fact.CarriedAgain {
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

// longerOverIPv6 is by how much IPv6's header is longer than IPv4's (RFC 8200, RFC 791).
const longerOverIPv6 = 20

// Overhead returns how many bytes a tunnel adds to each of a flow's packets, as the interfaces
// below it count them, and how many more it may add, because without a topology it is not known
// whether it runs over IPv6.
func Overhead(h netstate.HostReading, f record.Flow, receiving bool, over *topology.Topology) (size, more float64) {
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

// Tagged reports whether a flow's packets have a VLAN tag on one of its hosts.
func Tagged(s netstate.Snapshot, f record.Flow, receiving bool) bool {
	return slices.ContainsFunc(own(s, f, receiving),
		func(p netstate.InterfaceSnapshot) bool { return p.Kind == "vlan" })
}
