package study

import (
	"net/netip"

	"linerate/internal/model/topology"
)

// Addresses returns the source and the destination of the flow's data. If the kernel is to select
// the source, it returns the most likely one: on the interface towards the destination, the address
// in the destination's network, otherwise the first of the same family.
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
		score := 1
		if known && exit.Interface == name {
			score = 2
			if a.Prefix().Contains(destination) {
				score = 3
			}
		}
		if a.First.Is4() == destination.Is4() && score > rank {
			best, rank = a.First, score
		}
	}
	return best
}
