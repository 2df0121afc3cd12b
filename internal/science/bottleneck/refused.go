package bottleneck

import (
	"slices"

	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// refused returns the share of the segments that a flow sent again which never left its host, and
// the evidence. TCP counts a segment in Tcp.RetransSegs and in bytes_retrans of TCP_INFO before the
// host's queue accepts it, and in TcpExt.TCPRetransFail if the queue refuses it. The first and the
// last count for all connections of the host. Failures that other connections may have had are
// subtracted, so the share is a lower bound, the same for all flows of the host.
func (s scene) refused(f record.Flow) (part float64, why []fact.Fact) {
	h, ok := s.Reading(f.From)
	failed, all := float64(h.SNMPDelta("TcpExt.TCPRetransFail")), float64(h.SNMPDelta("Tcp.RetransSegs"))
	if !ok || failed <= 0 || f.RetransSegments <= 0 {
		return 0, nil
	}
	own := 0.0
	for _, other := range s.Flows {
		if other.From == f.From {
			own += float64(other.RetransSegments)
		}
	}
	failed = min(own, failed-max(0, all-own))
	if failed <= 0 {
		return 0, nil
	}
	left := fact.NeverLeft{Share: failed / own, Segments: int64(failed), Of: int64(own), Queues: dropping(h)}
	return failed / own, []fact.Fact{{Host: f.From, Is: left}}
}

// turnedBack returns the share of the packets passed to the interface on a flow's path that was
// dropped there before sending, and the evidence; nil: nothing was dropped. TCP keeps a segment
// that its own host refuses, so no counter shows it as retransmitted, but its congestion window
// shrinks as after a loss (tcp_transmit_skb and tcp_enter_cwr in net/ipv4/).
func (s scene) turnedBack(f record.Flow) (part float64, why *fact.QueueDrops) {
	h, _ := s.Reading(f.From)
	for _, d := range h.Deltas() {
		if ends := f.Ends(); len(ends) > 0 && ends[0].Interface != d.Interface {
			continue
		}
		kind, drops := queueDrops(h, d.Interface)
		if d.TxLost > drops {
			drops, kind = d.TxLost, ""
		}
		if one := share(drops, drops+d.TxPackets); one > part {
			part, why = one, &fact.QueueDrops{Interface: f.From + "." + d.Interface, Kind: kind, Packets: int64(drops),
				Share: one}
		}
	}
	return part, why
}

// dropping returns the qdiscs of a host that dropped packets in the window, one for each interface.
// Qdiscs above another one count its drops as well.
func dropping(h netstate.HostReading) (list []fact.QueueDrops) {
	var ports []string
	begins := h.QdiscsAtBegin()
	for _, q := range h.End.Qdiscs {
		if dropped := dropped(begins, q); dropped > 0 && !slices.Contains(ports, q.Interface) {
			ports = append(ports, q.Interface)
			list = append(list, fact.QueueDrops{Interface: h.Host + "." + q.Interface, Kind: q.Kind,
				Packets: int64(dropped)})
		}
	}
	return list
}

// dropped returns how many packets a qdisc dropped in the window; 0 if it does not queue, or did
// not exist at the begin of the window. begins has the qdiscs of that time.
func dropped(begins map[netstate.QdiscCounters]netstate.QdiscCounters, q netstate.QdiscCounters) float64 {
	begin, ok := begins[q.Key()]
	if !ok || !q.Queues() {
		return 0
	}
	return netstate.Grown(begin.Drops, q.Drops)
}
