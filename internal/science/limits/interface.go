package limits

import (
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
	What  string // "out of", "into"
	Bps   float64
	Shape topology.Impairment
}

// Loads are an interface's two directions.
func Loads(l topology.Link, at topology.End, d record.InterfaceDelta) [2]Load {
	return [2]Load{
		{"out of", d.TxBps(), l.Towards(at)},
		{"into", d.RxBps(), l.Towards(l.Other(at))},
	}
}

// Full reports whether the interface carried all that its link can in the direction.
func (l Load) Full() bool {
	rate := float64(l.Shape.Rate)
	return rate > 0 && l.Bps >= full*rate
}

// Full reports whether an interface carried all that its link can, in some direction.
func Full(l topology.Link, at topology.End, d record.InterfaceDelta) bool {
	for _, load := range Loads(l, at, d) {
		if load.Full() {
			return true
		}
	}
	return false
}
