package study

import (
	"net/netip"

	"linerate/internal/model/topology"
)

// Addresses are where the flow's data comes from and where it goes to. In place
// of a source that the kernel is to choose stands the one it most likely will:
// the first address, of the right family, on the port that leads to the
// destination.
func (f PlannedFlow) Addresses(t *topology.Topology) (source, destination netip.Addr) {
	opener := f.Source
	if !opener.IsValid() {
		opener = likelySource(t, f.Opener, f.Destination)
	}
	if f.OpenerSends {
		return opener, f.Destination
	}
	return f.Destination, opener
}

func likelySource(t *topology.Topology, host string, destination netip.Addr) netip.Addr {
	h, _ := t.Host(host)
	paths, err := t.Paths(host, netip.Addr{}, destination)
	var first netip.Addr
	for _, p := range h.Ports {
		for _, a := range p.Addresses {
			switch {
			case a.First.Is4() != destination.Is4():
			case err == nil && paths[0][0].Port == p.Name:
				return a.First
			case !first.IsValid():
				first = a.First
			}
		}
	}
	return first
}
