package fabric

import (
	"cmp"
	"maps"
	"slices"

	"linerate/internal/model/mesh"
	"linerate/internal/model/topology"
)

// Place gives hosts of a mesh the racks that they have in a topology, and the rates of their links where none are
// known. It returns the uplinks of these racks, as a plan has them: none if the rate of no host is known.
func Place(t *topology.Topology, hosts []mesh.Host) map[string]float64 {
	racks, uplinks, known := racksOf(t), uplinksOf(t), false
	for i := range hosts {
		h := &hosts[i]
		h.Rack = cmp.Or(racks[h.Name], h.Rack)
		for _, l := range t.Links {
			for _, e := range []topology.End{l.From, l.To} {
				if rate := min(l.Towards(e).Rate, l.Towards(l.Other(e)).Rate); e.Node == h.Name {
					h.RateBps = cmp.Or(h.RateBps, float64(rate))
				}
			}
		}
		known = known || h.RateBps > 0
	}
	maps.DeleteFunc(uplinks, func(rack string, _ float64) bool {
		return !known || !slices.ContainsFunc(hosts, func(h mesh.Host) bool { return h.Rack == rack })
	})
	return uplinks
}

// racksOf returns the rack of each host of a topology that does not forward: the switch, or the router, that
// its first link leads to. A host without one is missing.
func racksOf(t *topology.Topology) map[string]string {
	racks := map[string]string{}
	for _, l := range t.Links {
		for _, e := range []topology.End{l.From, l.To} {
			h, is := t.Host(e.Node)
			if !is || h.Forward || racks[e.Node] != "" {
				continue
			}
			far := l.Other(e).Node
			if other, is := t.Host(far); !is || other.Forward {
				racks[e.Node] = far
			}
		}
	}
	return racks
}

// uplinksOf returns the rate of all links together that lead from each rack to other switches or routers, in
// bits per second, in the direction with less. A rack with a link of unknown rate is missing.
func uplinksOf(t *topology.Topology) map[string]float64 {
	isRack := map[string]bool{}
	for _, rack := range racksOf(t) {
		isRack[rack] = true
	}
	up, down, unknown := map[string]float64{}, map[string]float64{}, map[string]bool{}
	for _, l := range t.Links {
		for _, e := range []topology.End{l.From, l.To} {
			far := l.Other(e)
			if h, is := t.Host(far.Node); !isRack[e.Node] || is && !h.Forward {
				continue
			}
			out, in := float64(l.Towards(e).Rate), float64(l.Towards(far).Rate)
			up[e.Node] += out
			down[e.Node] += in
			unknown[e.Node] = unknown[e.Node] || out == 0 || in == 0
		}
	}
	rates := map[string]float64{}
	for rack := range up {
		if !unknown[rack] {
			rates[rack] = min(up[rack], down[rack])
		}
	}
	return rates
}
