package bottleneck

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

// refused is the share of the segments that a flow sent again which never left its host, and
// what shows it. TCP counts a segment in Tcp.RetransSegs and bytes_retrans of TCP_INFO
// before the host's own queue takes it, and in TcpExt.TCPRetransFail where that refuses it.
// These counters are of all of the host's connections: failures that other connections may
// have had are not counted, so it is the least share, and alike for all flows of the host.
func (s scene) refused(f record.Flow) (part float64, why string) {
	h, ok := s.Reading(f.From)
	failed, all := float64(h.SNMPDelta("TcpExt.TCPRetransFail")), float64(h.SNMPDelta("Tcp.RetransSegs"))
	if !ok || failed <= 0 || f.RetransSegments <= 0 {
		return 0, ""
	}
	own := 0.0
	for _, other := range s.Flows {
		if other.From == f.From {
			own += float64(other.RetransSegments)
		}
	}
	failed = min(own, failed-max(0, all-own))
	if failed <= 0 {
		return 0, ""
	}
	by := f.From + " itself"
	if queues := dropping(h); queues != "" {
		by = "its own queue, " + queues
	}
	return failed / own, fmt.Sprintf(
		"of the segments that %s retransmitted, %s (%s of %s) never left it: refused by %s",
		f.From, unit.FormatPercent(failed/own), unit.FormatCount(int64(failed)), unit.FormatCount(int64(own)), by)
}

// turnedBack is the share of what a flow's host gave to the interface on its path that was
// dropped there before it was sent, and what shows it; "": nothing was. TCP keeps a segment that
// its own host refuses, so that it is retransmitted by no counter, but its congestion window
// becomes smaller as after a loss (tcp_transmit_skb and tcp_enter_cwr in net/ipv4/).
func (s scene) turnedBack(f record.Flow) (part float64, why string) {
	h, _ := s.Reading(f.From)
	for _, d := range h.Deltas() {
		if ends := f.Ends(); len(ends) > 0 && ends[0].Interface != d.Interface {
			continue
		}
		kind, drops := queueDrops(h, d.Interface)
		at := kind + " of " + f.From + "." + d.Interface
		if d.TxLost > drops {
			drops, at = d.TxLost, f.From+"."+d.Interface
		}
		if one := share(drops, drops+d.TxPackets); one > part {
			part, why = one, fmt.Sprintf("%s dropped %s packets before they were sent, %s of what it was given", at,
				unit.FormatCount(int64(drops)), unit.FormatPercent(one))
		}
	}
	return part, why
}

// dropping names the qdiscs of a host that dropped packets in the window; "": none did.
// Those above another one repeat its drops.
func dropping(h record.HostReading) string {
	var texts, ports []string
	for _, q := range h.End.Qdiscs {
		if dropped := dropped(h, q); dropped > 0 && !slices.Contains(ports, q.Interface) {
			ports = append(ports, q.Interface)
			texts = append(texts, fmt.Sprintf("%s of %s.%s, which dropped %s packets", q.Kind, h.Host, q.Interface,
				unit.FormatCount(int64(dropped))))
		}
	}
	return strings.Join(texts, ", ")
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
