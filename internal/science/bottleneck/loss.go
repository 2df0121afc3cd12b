package bottleneck

import (
	"slices"

	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/apart"
	"linerate/internal/science/hostload"
	"linerate/internal/science/limits"
)

// lossyPath is the share of datagrams lost behind the sending host from which on the loss decides
// what a flow gets, not the sending host.
const lossyPath = 1 - fair

// loss is where the lost datagrams of a UDP flow were lost.
type loss struct {
	facts []fact.Fact // nil: almost none was lost
	// behind reports whether so many were lost behind the sending host that this decides what the flow
	// got; atReceiver whether most were lost on the receiving host, and inBuffer in its socket's
	// buffer.
	behind, atReceiver, inBuffer bool
}

func (s scene) lostDatagrams(f record.Flow) (l loss) {
	part, _ := f.Datagrams.LostShare()
	if part < lossy {
		return loss{}
	}
	lost := datagramsLost(f)
	// A queue counts a message of many datagrams as one packet.
	where := s.dropped(f, lost, max(1, share(float64(f.CallBytes), float64(f.Datagrams.Bytes))))
	if in := float64(f.Datagrams.LostInBuffer); in >= most*lost && in > 0 {
		l.inBuffer = part >= lossyPath
		where = drop{node: f.To, lost: &fact.LostAt{By: fact.LostInSocket, At: f.To, Packets: f.Datagrams.LostInBuffer}}
	}
	l.behind = part >= lossyPath && !(where.queue && where.node == f.From)
	l.atReceiver = where.node == f.To
	l.facts = facts(fact.DatagramsLost{Share: part, At: where.lost})
	return l
}

// drop is a place on a flow's path where packets were dropped: the node, whether it was in the
// queue of an interface, and the counter that shows it.
type drop struct {
	node  string
	queue bool
	lost  *fact.LostAt // nil: not known
}

// dropped returns the last place on a flow's path whose counters have at least half of its lost
// datagrams or segments. One packet counted may have been each of them (GSO). The last place,
// because both ends of a veth pair count what the second does not accept. If there is no such place
// and all interfaces of the two hosts on the path were read, it says whether the loss was between
// them or behind the last.
func (s scene) dropped(f record.Flow, lost, each float64) (last drop) {
	if lost <= 0 {
		return drop{}
	}
	add := func(node string, packets float64, at fact.LostAt) {
		if packets*each >= most*lost {
			at.Packets, at.Several = int64(packets), f.Datagrams != nil && each > 1
			last = drop{node, at.By == fact.LostInQdisc, &at}
		}
	}
	look := func(at topology.End, out bool) (found bool) {
		h, _ := s.Reading(at.Node)
		for _, d := range h.Deltas() {
			switch {
			case at.Interface != "" && d.Interface != at.Interface: // of a path that is not known any may be
				continue
			case out:
				kind, packets := queueDrops(h, d.Interface)
				add(at.Node, packets, fact.LostAt{By: fact.LostInQdisc, At: at.Node + "." + d.Interface, Kind: kind})
				add(at.Node, d.TxLost, fact.LostAt{By: fact.LostSending, At: at.Node + "." + d.Interface})
			default:
				add(at.Node, d.RxLost+d.RxMissed, fact.LostAt{By: fact.LostReceiving, At: at.Node + "." + d.Interface})
			}
			found = true
		}
		return found
	}
	ends := f.Ends()
	if len(ends) == 0 {
		look(topology.End{Node: f.From}, true)
		look(topology.End{Node: f.To}, false)
	}
	read := len(ends) > 0
	for i, end := range ends {
		read = (look(end, i%2 == 0) || end.Node != f.From && end.Node != f.To) && read
	}
	h, _ := s.Reading(f.To)
	backlog := 0.0
	for _, c := range h.End.Softnet {
		if i := slices.IndexFunc(h.Begin.Softnet, func(b netstate.SoftnetCounters) bool {
			return b.CPU == c.CPU
		}); i >= 0 {
			backlog += netstate.Grown(h.Begin.Softnet[i].Dropped, c.Dropped)
		}
	}
	foreign := hostload.ForeignAt(s.Hosts, f.To)
	if !foreign {
		add(f.To, backlog, fact.LostAt{By: fact.LostInBacklog, At: f.To})
	}
	if n := unassembled(h); n/float64(max(limits.FrameOf(f).Packets(), 1)) >= most*lost {
		last = drop{node: f.To, lost: &fact.LostAt{By: fact.LostInFragments, At: f.To, Packets: int64(n)}}
	}
	if last.lost == nil && read {
		last = s.uncounted(f, lost)
		if foreign && backlog*each >= most*lost {
			last.lost.Backlog = int64(backlog)
		}
	}
	return last
}

// uncounted returns where packets were lost that no counter of the two hosts shows: behind the
// receiving interface if that received nearly all bytes that the sending one sent, and no more;
// between the two if it received fewer. If the bytes in question are within what such counts differ
// by without a loss, it is not known.
func (s scene) uncounted(f record.Flow, lost float64) drop {
	ends := f.Ends()
	from, to := ends[0], ends[len(ends)-1]
	sent, arrived := s.delta(from).TxBytes, s.delta(to).RxBytes
	if loss, at := s.carrierLoss(f); at != "" && s.fits(f, loss) {
		return drop{lost: &fact.LostAt{By: fact.LostCarrier, Carrier: &fact.NoCarrierFor{Interface: at, Down: loss.Down,
			Seconds: loss.ToS - loss.FromS}}}
	}
	is := fact.LostAt{From: from.String(), To: to.String()}
	bytes := lost
	switch {
	case f.Datagrams != nil:
		bytes *= float64(f.Datagrams.Bytes)
	case f.SenderInfo != nil:
		bytes *= float64(f.SenderInfo.SndMSS)
	}
	missing, handed := s.missing(f), s.payload(from)
	withheld := apart.Difference{Bytes: handed - sent, Doubt: apart.EdgeBytes + s.waiting(f) +
		s.edgeBps(f)/8*apart.Skew(s.Trial)[from.Node]}
	switch {
	case f.Datagrams != nil && sent > 0 && withheld.AtLeast(most*bytes):
		is.By, is.At, is.Device, is.Sent, is.Handed = fact.LostBefore, from.Node, from.Interface, sent, handed
	case missing.AtLeast(most * bytes):
		is.By = fact.LostBetween
	case sent > 0 && missing.Below(most*bytes) && needless(f) >= most:
		is.By, is.Sent, is.Received = fact.LostNeedless, sent, arrived
	case sent > 0 && missing.Below(most*bytes):
		is.By, is.At, is.Sent, is.Received = fact.LostBehind, to.Node, sent, arrived
	default:
		is.By, is.At = fact.LostSomewhere, to.Node
	}
	where := drop{lost: &is}
	if is.By == fact.LostBefore || is.By == fact.LostBehind {
		where.node = is.At
	}
	return where
}

// payload returns how many bytes the UDP flows that leave by an interface passed to the kernel.
func (s scene) payload(at topology.End) (bytes float64) {
	for _, f := range s.Flows {
		if ends := f.Ends(); f.Datagrams != nil && len(ends) > 0 && ends[0] == at {
			bytes += float64(f.Datagrams.Sent) * float64(f.Datagrams.Bytes)
		}
	}
	return bytes
}

// fits reports whether a time without carrier was long enough to cost half of what a flow lost. The
// kernel uses a link again up to a second after it is back (net/core/link_watch.c).
func (s scene) fits(f record.Flow, loss netstate.CarrierLoss) bool {
	if f.Datagrams == nil {
		return true
	}
	part, _ := f.Datagrams.LostShare()
	return loss.ToS-loss.FromS+1 >= most*part*s.WindowS
}

// unassembled returns the number of fragments that a host dropped in the window because of a lack
// of memory. The kernel counts each of them in ReasmFails. There it also counts, once for each
// packet, those whose other fragments did not arrive in time, which were lost elsewhere (ip_defrag
// and ip_expire in net/ipv4/ip_fragment.c).
func unassembled(h netstate.HostReading) (n float64) {
	for _, of := range []string{"Ip.", "Ip6."} {
		n += max(0, float64(h.SNMPDelta(of+"ReasmFails")-h.SNMPDelta(of+"ReasmTimeout")))
	}
	return n
}

// queueDrops returns the kind of an interface's qdisc that dropped the most packets in the window,
// and their number. Qdiscs above another one count its drops as well.
func queueDrops(h netstate.HostReading, port string) (kind string, packets float64) {
	begins := h.QdiscsAtBegin()
	for _, q := range h.End.Qdiscs {
		if n := dropped(begins, q); q.Interface == port && (kind == "" || n > packets) {
			kind, packets = q.Kind, n
		}
	}
	return kind, packets
}
