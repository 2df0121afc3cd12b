package topology

import "net/netip"

// PathToNextHop is the stretch of a way from a host's interface to an interface of the next host,
// through the switches in between, for a packet with that next hop: a gateway, or
// its destination. nil: no cable leads there.
func (t *Topology) PathToNextHop(from End, via netip.Addr) []End {
	host, ok := t.Host(from.Node)
	if !ok {
		return nil
	}
	return newIndex(t).pathToNextHop(host, nextHop{out: from.Interface, to: via})
}

// Adjacent says whether a host has an interface on the same cable, or behind the same
// switches, as an interface of another one.
func (t *Topology) Adjacent(host string, far End) bool {
	for _, s := range newIndex(t).segmentPaths(far) {
		if s.end.Node == host {
			return true
		}
	}
	return false
}
