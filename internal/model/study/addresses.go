package study

import (
	"net/netip"

	"linerate/internal/model/topology"
)

// Addresses are where the flow's data comes from and where it goes to. In place
// of a source that the kernel is to choose stands the one it most likely will:
// on the interface that leads to the destination the address on the destination's
// network, else the first of the right family.
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
	exit, known := t.Exit(host, netip.Addr{}, destination)
	var best netip.Addr
	rank := 0
	for name, a := range h.Addresses() {
		here := 1
		if known && exit.Interface == name {
			here = 2
			if a.Prefix().Contains(destination) {
				here = 3
			}
		}
		if a.First.Is4() == destination.Is4() && here > rank {
			best, rank = a.First, here
		}
	}
	return best
}
