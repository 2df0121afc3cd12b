package topology

import "net/netip"

// PathToNextHop is the part of a path from a host's interface through switches to the
// interface of the next host, for a packet with that next hop: a gateway, or its
// destination. nil: no link leads there.
func (t *Topology) PathToNextHop(from End, via netip.Addr) []End {
	host, ok := t.Host(from.Node)
	if !ok {
		return nil
	}
	return newIndex(t).pathToNextHop(host, nextHop{out: from.Interface, to: via})
}

// Adjacent reports whether a host has an interface on the same layer-2 segment as an
// interface of another host.
func (t *Topology) Adjacent(host string, far End) bool {
	for _, s := range newIndex(t).segmentPaths(far) {
		if s.end.Node == host {
			return true
		}
	}
	return false
}
