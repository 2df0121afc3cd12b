package fabric

import "linerate/internal/model/topology"

// RacksOf returns the rack of each host of a topology that does not forward: the switch, or the router, that
// its first link leads to. A host without one is missing.
func RacksOf(t *topology.Topology) map[string]string {
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

// UplinksOf returns the rate of all links together that lead from each rack to other switches or routers, in
// bits per second, in the direction with less. A rack with a link of unknown rate is missing.
func UplinksOf(t *topology.Topology) map[string]float64 {
	isRack := map[string]bool{}
	for _, rack := range RacksOf(t) {
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
