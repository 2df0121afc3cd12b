package limits

import (
	"iter"

	"linerate/internal/model/record"
	"linerate/internal/model/topology"
)

// full is the share of a link's rate from which it is taken as full. The
// counters of a virtual interface see one header where the link carries dozens
// (at MTU 1500 they show 95.6 % of what passes), those of real ones no
// preamble and gap (98.7 %).
const full = 0.94

// Load is what an interface carried in one direction beside its link's rate in it.
type Load struct {
	At      topology.End
	Out     bool         // of the interface; otherwise into it
	From    topology.End // the interface that sends the frames: At, or the link's other end
	Bps     float64
	Seconds float64 // between the two readings
	// RefreshS is how many seconds apart the interface's counters are refreshed.
	RefreshS float64
	Shape    topology.Impairment
}

// Loads are both directions of the interfaces that have a link in the topology; none: the
// topology is nil.
func Loads(hosts []record.HostReading, over *topology.Topology) iter.Seq[Load] {
	return func(yield func(Load) bool) {
		if over == nil {
			return
		}
		for _, h := range hosts {
			for _, d := range h.Deltas() {
				refresh := d.Counting.RefreshS
				at := topology.End{Node: h.Host, Interface: d.Interface}
				link, ok := over.LinkAt(at)
				if ok && !(yield(Load{at, true, at, d.TxBps(), d.Seconds, refresh, link.Towards(at)}) &&
					yield(Load{at, false, link.Other(at), d.RxBps(), d.Seconds, refresh, link.Towards(link.Other(at))})) {
					return
				}
			}
		}
	}
}

// String spells the direction: "out of server.eth0", "into server.eth0".
func (l Load) String() string {
	if l.Out {
		return "out of " + l.At.String()
	}
	return "into " + l.At.String()
}

// Full reports whether the interface carried all that its link can in the direction.
func (l Load) Full() bool {
	rate := float64(l.Shape.Rate)
	return rate > 0 && l.Bps >= full*rate
}
