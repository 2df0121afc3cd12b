package bottleneck

import (
	"slices"

	"linerate/internal/model/fact"
	"linerate/internal/model/record"
)

// refused is the share of the segments that a flow sent again which never left its host, and
// what shows it. TCP counts a segment in Tcp.RetransSegs and bytes_retrans of TCP_INFO
// before the host's own queue takes it, and in TcpExt.TCPRetransFail where that refuses it.
// These counters are of all of the host's connections: failures that other connections may
// have had are not counted, so it is the least share, and alike for all flows of the host.
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

// turnedBack is the share of what a flow's host gave to the interface on its path that was
// dropped there before it was sent, and what shows it; nil: nothing was. TCP keeps a segment that
// its own host refuses, so that it is retransmitted by no counter, but its congestion window
// becomes smaller as after a loss (tcp_transmit_skb and tcp_enter_cwr in net/ipv4/).
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

// dropping are the qdiscs of a host that dropped packets in the window. Those above another one
// repeat its drops.
func dropping(h record.HostReading) (list []fact.QueueDrops) {
	var ports []string
	for _, q := range h.End.Qdiscs {
		if dropped := dropped(h, q); dropped > 0 && !slices.Contains(ports, q.Interface) {
			ports = append(ports, q.Interface)
			list = append(list, fact.QueueDrops{Interface: h.Host + "." + q.Interface, Kind: q.Kind,
				Packets: int64(dropped)})
		}
	}
	return list
}

// dropped is how many packets a qdisc dropped in the window; one that holds none back, or was not
// there at the beginning, is not counted.
func dropped(h record.HostReading, q record.QdiscCounters) float64 {
	begin, ok := h.AtBegin(q)
	if !ok || !q.Queues() {
		return 0
	}
	return record.Grown(begin.Drops, q.Drops)
}
