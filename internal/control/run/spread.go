package run

import (
	"net"

	"linerate/internal/model/device"
	"linerate/internal/model/lists"
	"linerate/internal/model/topology"
)

// Which member of a bond a packet leaves by is computed, not asked for: the kernel documents
// the hashes of bonds (Documentation/networking/bonding.rst, xmit_hash_policy), and has no
// lookup for them.

// reports are what hosts have reported: the MAC address of an interface, and the release of a
// node's kernel; empty: not known.
type reports interface {
	mac(topology.End) (string, error)
	kernel(node string) string
}

// spread is which of several segments of a path a flow takes: at each bond the member that the
// bond's hash chooses. why is not empty if that is not known.
func (t *trace) spread(over *topology.Topology, from, to topology.End, segments [][]topology.End, hosts reports) (
	segment []topology.End, why string) {
	for len(segments) > 1 {
		end, at := parting(segments)
		bond, shape, is := over.Device(end)
		if !is || shape.Spread == nil {
			return nil, "where the paths part at " + end.String() + " is no bond"
		}
		if over.Tunnelled(from) {
			return nil, bond.String() + " hashes the headers of a tunnel, whose port is not known"
		}
		packet := device.Packet{Source: t.flow.Source, Destination: t.flow.Destination, VLAN: over.Tag(from),
			Kernel: hosts.kernel(bond.Node)}
		for _, address := range []struct {
			of   topology.End
			into *[6]byte
		}{{from, &packet.SourceMAC}, {to, &packet.DestinationMAC}} {
			text, err := hosts.mac(address.of)
			if err != nil {
				return nil, err.Error()
			}
			parsed, err := net.ParseMAC(text)
			if err != nil || len(parsed) != len(address.into) {
				return nil, address.of.String() + " has no MAC address"
			}
			copy(address.into[:], parsed)
		}
		i, why := shape.Spread.Choose(packet, len(shape.Beneath))
		if why != "" {
			return nil, bond.String() + ": " + why
		}
		left := lists.Where(segments, func(s []topology.End) bool { return s[at].Interface == shape.Beneath[i] })
		if len(left) == 0 {
			return nil, shape.Beneath[i] + " of " + bond.String() + " leads elsewhere"
		}
		segments = left
	}
	return segments[0], ""
}

// parting is the first end, and its place, at which segments differ.
func parting(segments [][]topology.End) (topology.End, int) {
	for at, end := range segments[0] {
		for _, s := range segments[1:] {
			if at >= len(s) || s[at] != end {
				return end, at
			}
		}
	}
	return topology.End{}, 0
}
