package bottleneck

import (
	"math"
	"slices"

	"linerate/internal/model/flow"
	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/apart"
	"linerate/internal/science/limits"
)

// missing returns by how many bytes of payload a flow's receiving interface counted less than its
// sending one, and how exact that is. It compares payload, the bytes without one header for each
// packet counted, because a packet of one may be several of the other (GSO, GRO), of which each has
// a header on the wire.
func (s scene) missing(f record.Flow) apart.Difference {
	ends := f.Ends()
	from, to := ends[0], ends[len(ends)-1]
	sent, received := s.delta(from), s.delta(to)
	header := limits.FrameOf(f).Headers()
	out, in := sent.TxBytes-header*sent.TxPackets, received.RxBytes-header*received.RxPackets
	d := apart.Difference{Bytes: out - in, Doubt: apart.EdgeBytes + apart.Link(s.WindowS)}
	// What waited or was on its way at an edge, and what passed between the two readings of an edge.
	skew := apart.Skew(s.Trial)
	d.Doubt += s.waiting(f) + s.edgeBps(f)/8*(skew[from.Node]+skew[to.Node]+
		max(sent.Counting.RefreshS, received.Counting.RefreshS))
	// Flows that pass one of the two interfaces only, and those with other headers.
	planned, arrived := 0.0, 0.0
	for _, o := range s.Flows {
		path := o.Ends()
		data, resent := payloadOf(o)
		if len(path) == 0 {
			if o.From == f.From || o.To == f.To || o.From == f.To || o.To == f.From {
				d.Doubt += data + resent
			}
			continue
		}
		first, last := path[0] == from, path[len(path)-1] == to
		back, forth := path[len(path)-1] == from, path[0] == to
		if first {
			planned += data
		}
		if last {
			arrived += data
		}
		switch {
		case first && !last:
			d.Bytes, d.Doubt = d.Bytes-data, d.Doubt+resent
		case last && !first:
			d.Bytes, d.Doubt = d.Bytes+data, d.Doubt+resent
		}
		if back != forth && flow.Of(o.Protocol).Transport == flow.TCP {
			d.Doubt += acknowledgedMost * data
		}
		if (first || last) && limits.FrameOf(o).Headers() != header {
			d.Doubt += apart.HeaderSpread * math.Abs(sent.TxPackets-received.RxPackets)
		}
	}
	for _, node := range []string{from.Node, to.Node} {
		if h, _ := s.Reading(node); h.Others != nil {
			d.Doubt += float64(h.Others.WrittenBytes + h.Others.ReceivedBytes)
		}
	}
	// Traffic of no flow may have passed one of them only.
	d.Doubt += max(0, out-planned) + max(0, in-arrived)
	return d
}

// acknowledgedMost is an upper bound of the bytes of acknowledgements for each byte of data: one of
// at most 90 bytes for each two segments.
const acknowledgedMost = 0.04

// payloadOf returns the bytes that a flow sent, each time they were sent, and how many of them were
// lost or sent again, so that not all of them reached the receiver.
func payloadOf(f record.Flow) (sent, lost float64) {
	if d := f.Datagrams; d != nil {
		return float64(d.Sent) * float64(d.Bytes), float64(d.Lost+d.Duplicates+d.Stale) * float64(d.Bytes)
	}
	lost = float64(f.ResentBytes())
	return max(float64(f.SentBytes), float64(f.ReceivedBytes)+lost), lost
}

// waiting returns the most bytes of a flow that may have been on their way at an edge of the window:
// those of a round trip and those in the queues of its path.
func (s scene) waiting(f record.Flow) (bytes float64) {
	if i := f.SenderInfo; i != nil {
		bytes = s.edgeBps(f) / 8 * float64(i.RTTUs) / 1e6
	}
	for i, end := range f.Ends() {
		h, _ := s.Reading(end.Node)
		for _, edge := range []netstate.Reading{h.Begin, h.End} {
			for _, q := range edge.Qdiscs {
				if i%2 == 0 && q.Interface == end.Interface {
					bytes += float64(q.Backlog)
				}
			}
		}
	}
	return bytes
}

// edgeBps returns the rate that a flow may have had at an edge of the window: that of its fastest
// sample, or its mean without samples.
func (s scene) edgeBps(f record.Flow) float64 {
	if len(f.Bins) == 0 {
		return f.GoodputBps
	}
	sum := lists.Sum(f.Bins, func(b int64) int64 { return b })
	mean := float64(sum) / float64(len(f.Bins))
	return f.GoodputBps * max(1, share(float64(slices.Max(f.Bins)), mean))
}

// delta returns what an interface counted in the window; zero: it was not read.
func (s scene) delta(at topology.End) netstate.InterfaceDelta {
	h, _ := s.Reading(at.Node)
	for _, d := range h.Deltas() {
		if d.Interface == at.Interface {
			return d
		}
	}
	return netstate.InterfaceDelta{}
}
