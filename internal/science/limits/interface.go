package limits

import (
	"cmp"
	"iter"
	"slices"

	"linerate/internal/model/netstate"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
)

// full is the share of a link's rate at which the link counts as full. The counters of a virtual
// interface count one header where the link carries dozens (at MTU 1500 they show 95.6 % of what
// passes, and less with smaller segments); those of a real one count no preamble and gap (98.7 %).
const full = 0.94

// over: an interface that carries more than this multiple of its link's rate has another link; the
// rates of real hosts' links are only what the study says. The multiple leaves room for the burst
// that a token bucket lets through at first.
const over = 1.25

// Load is what an interface carried in one direction, with its link's rate in that direction.
type Load struct {
	At   topology.End
	Out  bool         // out of the interface; otherwise into it
	From topology.End // the interface that sends the frames: At, or the other end of the link
	Bps  float64
	// ShaperBps is the same as counted by the link's shaper, with the headers of each segment; 0:
	// not read.
	ShaperBps float64
	Seconds   float64 // between the two readings
	// RefreshS is the time between two refreshes of the interface's counters, in seconds.
	RefreshS float64
	Shape    topology.Impairment
}

// Loads returns both directions of the interfaces that have a link in the topology. If over is nil,
// it returns what leaves interfaces that have a shaper.
func Loads(hosts []netstate.HostReading, over *topology.Topology) iter.Seq[Load] {
	return func(yield func(Load) bool) {
		if over == nil {
			shapedLoads(hosts, yield)
			return
		}
		for _, h := range hosts {
			for _, d := range h.Deltas() {
				refresh := d.Counting.RefreshS
				at := topology.End{Node: h.Host, Interface: d.Interface}
				link, ok := over.LinkAt(at)
				if !ok {
					continue
				}
				load := func(out bool, from topology.End, bps float64) Load {
					shape := link.Towards(from)
					return Load{at, out, from, bps, shaperBps(hosts, from, shape), d.Seconds, refresh, shape}
				}
				if !yield(load(true, at, d.TxBps())) || !yield(load(false, link.Other(at), d.RxBps())) {
					return
				}
			}
		}
	}
}

// shapedLoads yields what leaves interfaces with a shaper of known rate.
func shapedLoads(hosts []netstate.HostReading, yield func(Load) bool) {
	for _, h := range hosts {
		for _, d := range h.Deltas() {
			i := slices.IndexFunc(h.Snapshot.Interfaces, func(s netstate.InterfaceSnapshot) bool {
				return s.Interface == d.Interface
			})
			if i < 0 || !h.Snapshot.Interfaces[i].Shaper.Bounds() {
				continue
			}
			s := h.Snapshot.Interfaces[i].Shaper
			at := topology.End{Node: h.Host, Interface: d.Interface}
			shape := topology.Impairment{Rate: unit.BitRate(s.RateBps), Bucket: true, Burst: unit.Bytes(s.BurstBytes),
				Shaper: s.Kind, Overhead: s.OverheadBytes}
			if !yield(Load{at, true, at, d.TxBps(), shaperBps(hosts, at, shape), d.Seconds,
				d.Counting.RefreshS, shape}) {
				return
			}
		}
	}
}

// labShaper is the qdisc that limits the rates of a lab's links.
const labShaper = "tbf"

// shaperBps returns what the shaper of an interface's output let through, by its own counter; 0: it
// was not read. A virtual interface counts one header of a GSO packet, the shaper those of all its
// segments (qdisc_pkt_len_init in net/core/dev.c).
func shaperBps(hosts []netstate.HostReading, from topology.End, shape topology.Impairment) float64 {
	i := slices.IndexFunc(hosts, func(h netstate.HostReading) bool { return h.Host == from.Node })
	if i < 0 {
		return 0
	}
	kind := cmp.Or(shape.Shaper, labShaper)
	isShaper := func(q netstate.QdiscCounters) bool { return q.Interface == from.Interface && q.Kind == kind }
	end := slices.IndexFunc(hosts[i].End.Qdiscs, isShaper)
	if end < 0 {
		return 0
	}
	after := hosts[i].End.Qdiscs[end]
	before, ok := hosts[i].QdiscsAtBegin()[after.Key()]
	for _, d := range hosts[i].Deltas() {
		if ok && d.Interface == from.Interface && d.Seconds > 0 {
			return 8 * netstate.Grown(before.Bytes, after.Bytes) / d.Seconds
		}
	}
	return 0
}

// WireBps returns the bits per second that packets take on an Ethernet link, from the rates of an
// interface's counters: the bits that it counts, and the preamble, frame check sequence and gap
// of each packet.
func WireBps(bps, pps float64) float64 { return bps + 8*ethernetRest*pps }

// Share returns the share of the link's rate that was used: by the shaper's counter if that was
// read, otherwise by the interface's.
func (l Load) Share() float64 {
	return cmp.Or(l.ShaperBps, l.Bps) / float64(l.Shape.Rate)
}

// Full reports whether the interface carried all that its link can carry in the direction, and no
// more. It takes the larger of the interface's counter and the shaper's: either may miss bytes, but
// neither counts any twice.
func (l Load) Full() bool {
	rate, carried := float64(l.Shape.Rate), max(l.Bps, l.ShaperBps)
	return rate > 0 && carried >= full*rate && carried <= over*rate
}
