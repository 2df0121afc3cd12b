package polled

import (
	"math"

	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/apart"
)

// FCSBytes is the length of Ethernet's frame check sequence.
const FCSBytes = 4

// Side is one direction of a link, as counted by a switch's port and by the interface of the host
// at the other end in the same time.
type Side struct {
	Switch   string
	Port     record.SwitchPort
	Receives bool // whether the port receives or sends
	// SwitchBytes and Frames are the counts of the switch, and HostBytes is that of the host, from
	// the Ethernet header on and without frame check sequences.
	SwitchBytes, HostBytes, Frames float64
	Seconds                        float64
	// DoubtBytes is by how much the counts may differ because of the times at which they were read.
	DoubtBytes float64
	// Unsure: it is not known whether the host's interface counts frame check sequences.
	Unsure bool
	// Lossy: the study makes the link lose frames.
	Lossy bool
}

// Sides returns both directions of each link from a switch to a host that was read. over is the
// trial's topology; nil: it is not known.
func Sides(t record.Trial, s record.SwitchReading, over *topology.Topology) (sides []Side) {
	for _, p := range s.Ports {
		var peer topology.End
		if p.Missing != "" || s.Missing != "" || peer.UnmarshalText([]byte(p.Peer)) != nil {
			continue
		}
		h, is := t.Reading(peer.Node)
		if !is {
			continue
		}
		d, is := h.Between(peer.Interface, p.FromNs, p.ToNs)
		if !is || d.Seconds <= 0 {
			continue
		}
		doubtS := p.DoubtS + d.Counting.RefreshS + apart.ClockS(t, peer.Node)
		for _, receives := range []bool{true, false} {
			side := Side{Switch: s.Switch, Port: p, Receives: receives, Seconds: d.Seconds, Unsure: !d.Known ||
				d.Counting.RefreshS > 0}
			from, edges := peer, d.TxDoubt
			if side.SwitchBytes, side.HostBytes, side.Frames = float64(p.Counters.InOctets), d.TxBytes,
				float64(p.Counters.In()); !receives {
				side.SwitchBytes, side.HostBytes, side.Frames = float64(p.Counters.OutOctets), d.RxBytes,
					float64(p.Counters.Out())
				from, edges = s.End(p), d.RxDoubt
			}
			side.DoubtBytes = apart.EdgeBytes + edges + max(side.SwitchBytes, side.HostBytes)*doubtS/d.Seconds
			if over != nil {
				if l, linked := over.LinkAt(from); linked {
					side.Lossy = l.Towards(from).Loss > 0
				}
			}
			sides = append(sides, side)
		}
	}
	return sides
}

// FCS reports whether a switch counts frame check sequences: whichever assumption brings its counts
// closer to those of the hosts. known is false if neither does by a clear margin.
func FCS(sides []Side) (counted, known bool) {
	with, without, between, doubt := 0.0, 0.0, 0.0, 0.0
	for _, s := range sides {
		if s.Lossy || s.Unsure {
			continue
		}
		with += math.Abs(s.SwitchBytes - FCSBytes*s.Frames - s.HostBytes)
		without += math.Abs(s.SwitchBytes - s.HostBytes)
		between += FCSBytes * s.Frames
		doubt += s.DoubtBytes
	}
	return with < without, between > doubt && min(with, without) < between/2
}

// More returns how many bytes the switch counted more than the host, after subtracting frame check
// sequences if it counts them (fcs).
func (s Side) More(fcs bool) float64 {
	if fcs {
		return s.SwitchBytes - FCSBytes*s.Frames - s.HostBytes
	}
	return s.SwitchBytes - s.HostBytes
}
