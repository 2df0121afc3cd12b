package failover

import (
	"cmp"
	"math"
	"slices"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
)

const (
	// effect is the time after an event of the study within which the event explains a loss of
	// carrier. The kernel notifies within a second (net/core/link_watch.c).
	effect = 1.5 // s
	// together is the time within which two losses are one fault, such as of a cable's two ends.
	together = 0.1 // s
	// mostFaults is the largest number of faults that are kept of a trial. A link with more of them
	// flaps.
	mostFaults = 16
)

// Faults returns the losses of carrier in a window, on interfaces of the topology, that no event of
// the study explains, in the order of time. Losses at one instant have the same AtS.
func Faults(hosts []netstate.HostReading, events []record.Event, over *topology.Topology) (faults []record.Event) {
	for _, h := range hosts {
		for _, l := range h.CarrierLosses {
			caused := slices.ContainsFunc(events, func(e record.Event) bool {
				return e.BeganS <= l.FromS && l.FromS <= e.EndedS+effect
			})
			if caused || !declared(over, h.Host, l.Interface) {
				continue
			}
			what := l.Interface + " lost its carrier"
			if l.Down {
				what = l.Interface + " was taken down"
			}
			faults = append(faults, record.Event{Host: h.Host, Interface: l.Interface, Down: l.Down, What: what,
				AtS: l.FromS, BeganS: l.FromS, EndedS: l.ToS})
		}
	}
	slices.SortStableFunc(faults, func(a, b record.Event) int { return cmp.Compare(a.BeganS, b.BeganS) })
	faults = faults[:min(len(faults), mostFaults)]
	for i := range faults {
		faults[i].AtS = math.Round(1e3*faults[i].AtS) / 1e3
		if i > 0 && faults[i].BeganS-faults[i-1].AtS < together {
			faults[i].AtS = faults[i-1].AtS
		}
	}
	return faults
}

func declared(over *topology.Topology, host, name string) bool {
	if h, is := over.Host(host); is {
		_, is = h.Interface(name)
		return is
	}
	return slices.ContainsFunc(over.Links, func(l topology.Link) bool {
		at := topology.End{Node: host, Interface: name}
		return l.From == at || l.To == at
	})
}

// DetectUnplanned is like Detect for faults. Arrivals of packets are not recorded around faults, so
// it uses what the receivers had read at the samples.
func DetectUnplanned(flows []record.Flow, hosts []netstate.HostReading, faults []record.Event,
	over *topology.Topology) [][]record.Outage {
	blind := slices.Clone(hosts)
	for i := range blind {
		blind[i].Arrivals, blind[i].Gaps = nil, nil
	}
	return Detect(flows, blind, faults, over)
}
