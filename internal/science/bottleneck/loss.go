package bottleneck

import (
	"fmt"
	"slices"

	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
	"linerate/internal/science/hostload"
	"linerate/internal/science/limits"
)

// lossyPath is the share of datagrams lost behind the sending host from which on that decides
// what a flow gets, and not what its host sends.
const lossyPath = 1 - fair

// loss is what became of a UDP flow's lost datagrams.
type loss struct {
	text string // "": next to none was lost
	// behind: so many were lost behind the sending host that this decides what the flow
	// got; atReceiver: most of them on the receiving host, inBuffer: in its socket's buffer.
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
		where = drop{node: f.To, text: fmt.Sprintf("up to %s of them in the receiving socket's buffer",
			unit.FormatCount(f.Datagrams.LostInBuffer))}
	}
	l.behind = part >= lossyPath && !(where.queue && where.node == f.From)
	l.atReceiver = where.node == f.To
	l.text = unit.FormatPercent(part) + " of the datagrams were lost"
	if where.text != "" {
		l.text += ": " + where.text
	}
	return l
}

// drop is a place on a flow's path where packets were dropped: on which node, whether in a
// queue before an interface, and the counter that says so.
type drop struct {
	node, text string
	queue      bool
}

// dropped is the last place on a flow's path whose counters have at least half of its lost
// datagrams or segments, of which one packet counted may have been so many (GSO): the two ends
// of a veth pair both count what the second one does not take. Without such a place, if all
// interfaces of the two hosts that a packet passes were read, it says whether it was between them
// or behind the last.
func (s scene) dropped(f record.Flow, lost, each float64) (last drop) {
	if lost <= 0 {
		return drop{}
	}
	add := func(node string, packets float64, queue bool, text string) {
		if packets*each >= most*lost {
			last = drop{node, fmt.Sprintf(text, unit.FormatCount(int64(packets))), queue}
			if f.Datagrams != nil && each > 1 {
				last.text += ", of one or more datagrams each"
			}
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
				add(at.Node, packets, true, kind+" of "+at.Node+"."+d.Interface+" dropped %s packets")
				add(at.Node, d.TxLost, false, at.Node+"."+d.Interface+" dropped %s packets that it was to send")
			default:
				add(at.Node, d.RxLost+d.RxMissed, false, at.Node+"."+d.Interface+" dropped %s packets that arrived")
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
		if i := slices.IndexFunc(h.Begin.Softnet, func(b record.SoftnetCounters) bool {
			return b.CPU == c.CPU
		}); i >= 0 {
			backlog += record.Grown(h.Begin.Softnet[i].Dropped, c.Dropped)
		}
	}
	foreign := hostload.ForeignAt(s.Hosts, f.To)
	if !foreign {
		add(f.To, backlog, false, "the CPUs' queues of received packets of "+f.To+" dropped %s (softnet_stat)")
	}
	if n := unassembled(h); n/float64(max(limits.FrameOf(f).Packets(), 1)) >= most*lost {
		last = drop{node: f.To, text: fmt.Sprintf(
			"%s dropped %s fragments instead of reassembling them, as its memory for fragments was full (Ip.ReasmFails; net.ipv4.ipfrag_high_thresh)",
			f.To, unit.FormatCount(int64(n)))}
	}
	if last.text == "" && read {
		last = s.uncounted(f, lost)
		if foreign && backlog*each >= most*lost {
			last.text += fmt.Sprintf(
				", or in the CPUs' queues of received packets, which dropped %s, mostly of other network namespaces (softnet_stat)",
				unit.FormatCount(int64(backlog)))
		}
	}
	return last
}

// uncounted says where packets were lost of which no counter of the two hosts has as many: behind
// the interface that receives, if it took in nearly all bytes that the other one sent, and no more
// than these; between the two, if it took in fewer; else it is not known. Bytes are alike at both, also where
// a packet of one is several of the other's (GSO, GRO).
func (s scene) uncounted(f record.Flow, lost float64) drop {
	ends := f.Ends()
	from, to := ends[0], ends[len(ends)-1]
	of := func(at topology.End) (d record.InterfaceDelta) {
		h, _ := s.Reading(at.Node)
		for _, d := range h.Deltas() {
			if d.Interface == at.Interface {
				return d
			}
		}
		return d
	}
	sent, arrived := of(from).TxBytes, of(to).RxBytes
	if loss, at := s.carrierLoss(f); at != "" && s.fits(f, loss) {
		return drop{text: fmt.Sprintf(
			"%s for %s of the window, and without it an interface drops what it is to send: no counter has them", at,
			unit.FormatSeconds(loss.ToS-loss.FromS))}
	}
	bytes := lost
	switch {
	case f.Datagrams != nil:
		bytes *= float64(f.Datagrams.Bytes)
	case f.SenderInfo != nil:
		bytes *= float64(f.SenderInfo.SndMSS)
	}
	switch missing := sent - arrived; {
	case f.Datagrams != nil && sent > 0 && s.payload(from)-sent >= most*bytes:
		return drop{node: from.Node,
			text: fmt.Sprintf(
				"on %s, before %s, which sent %s of the %s or more of its flows: no counter that was read has them (on %[1]s: nft list ruleset, tc -s filter show dev %[5]s)",
				from.Node, from, unit.FormatBytes(sent), unit.FormatBytes(s.payload(from)), from.Interface)}
	case missing >= most*bytes:
		return drop{text: fmt.Sprintf("between %s and %s: neither counts them as dropped", from, to)}
	case sent > 0 && -missing < most*bytes:
		if needless(f) >= most {
			return drop{text: fmt.Sprintf(
				"%s received %s of the %s that %s sent, so the rest may have been needless, too: an acknowledgement reports one range that arrived twice (D-SACK, RFC 2883)",
				to, unit.FormatBytes(arrived), unit.FormatBytes(sent), from)}
		}
		return drop{node: to.Node,
			text: fmt.Sprintf(
				"on %s, behind %s, which received %s of the %s that %s sent: no counter that was read has them, and a firewall may drop them (on %[1]s: nft list ruleset, or linerate doctor --over 10s while the flow runs)",
				to.Node, to, unit.FormatBytes(arrived), unit.FormatBytes(sent), from)}
	}
	return drop{text: fmt.Sprintf("between %s and %s, or on %s behind it: no counter of drops has them", from,
		to, to.Node)}
}

// payload is what the UDP flows that leave by an interface handed to the kernel, in bytes.
func (s scene) payload(at topology.End) (bytes float64) {
	for _, f := range s.Flows {
		if ends := f.Ends(); f.Datagrams != nil && len(ends) > 0 && ends[0] == at {
			bytes += float64(f.Datagrams.Sent) * float64(f.Datagrams.Bytes)
		}
	}
	return bytes
}

// fits reports whether a time without carrier was long enough for half of what a flow lost: the
// kernel puts a link into use again up to a second after it is there (net/core/link_watch.c).
func (s scene) fits(f record.Flow, loss record.CarrierLoss) bool {
	if f.Datagrams == nil {
		return true
	}
	part, _ := f.Datagrams.LostShare()
	return loss.ToS-loss.FromS+1 >= most*part*s.WindowS
}

// unassembled are the fragments that a host dropped in the window for want of memory. The kernel
// counts each of them in ReasmFails, and there once a packet whose other fragments did not
// arrive in time, too, which were lost elsewhere (ip_defrag and ip_expire in
// net/ipv4/ip_fragment.c).
func unassembled(h record.HostReading) (n float64) {
	for _, of := range []string{"Ip.", "Ip6."} {
		n += max(0, float64(h.SNMPDelta(of+"ReasmFails")-h.SNMPDelta(of+"ReasmTimeout")))
	}
	return n
}

// queueDrops is the kind of the qdisc of an interface that dropped the most packets in the
// window, and how many: those above another one repeat its drops.
func queueDrops(h record.HostReading, port string) (kind string, packets float64) {
	for _, q := range h.End.Qdiscs {
		if n := dropped(h, q); q.Interface == port && (kind == "" || n > packets) {
			kind, packets = q.Kind, n
		}
	}
	return kind, packets
}
