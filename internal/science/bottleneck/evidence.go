package bottleneck

import (
	"slices"
	"strings"

	"linerate/internal/model/fact"
	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/science/hostload"
	"linerate/internal/science/limits"
)

// full finds a link at one of the flow's hosts, or on its path, that is full in
// the flow's direction, and what shows it; nil: none is. One that carries its rate comes before
// one with a queue. Frames may leave and arrive by another interface than they are meant to.
// Own: the link by which its host sends counts, too.
func (s scene) full(f record.Flow, own bool) (link load, why []fact.Fact) {
	for _, l := range s.loads {
		rate := float64(l.Shape.Rate)
		if !s.crosses(f, l) || rate <= 0 || !own && l.From.Node == f.From {
			continue
		}
		carried := l.fact()
		if l.Full() {
			return l, join(facts(carried), s.acknowledging(f, l))
		}
		// Packets that come in bursts wait for a moment before any link.
		h, _ := s.Reading(l.At.Node)
		if waits := standing(h, l.At.Interface); why == nil && l.Out && (waits >= most && l.Bps >= loaded*rate ||
			waits >= always) {
			carried.Interface, carried.Out, carried.Queued = l.end, true, waits
			link, why = l, join(facts(carried), s.acknowledging(f, l))
		}
	}
	return link, why
}

// fact is what the interface carried. A shaper is at the interface that sends.
func (l load) fact() fact.LinkShare {
	carried := fact.LinkShare{Interface: l.end, Out: l.Out, RateBps: float64(l.Shape.Rate), Share: l.Share()}
	if l.Shape.Shaper != "" {
		carried.Interface, carried.Out, carried.Shaped, carried.Shaper = l.From.String(), true, true, l.Shape.Shaper
	}
	return carried
}

// allFull are the links out of a host, or into it, that are full, if nearly all that it sends or
// receives goes by these; nil: other links have room.
func (s scene) allFull(host string, out bool) (list []fact.Fact) {
	var full, all float64
	for _, l := range s.loads {
		if l.At.Node != host || l.Out != out {
			continue
		}
		if all += l.Bps; l.Full() {
			full += l.Bps
			list = append(list, facts(fact.LinkShare{Interface: l.end, Out: l.Out, RateBps: float64(l.Shape.Rate),
				Share: l.Share()})...)
		}
	}
	if full < nearlyAll*all {
		return nil
	}
	return list
}

// acknowledging is which share of a link's rate is not data of the flows that cross it,
// where TCP flows in the other direction are acknowledged over it; nil: next to none is.
// Data is what was received and what was sent again. SentBytes would be too much: TCP adds a
// segment to bytes_sent before the host's own queue takes it, and adds it again when a
// refused one is sent anew (__tcp_transmit_skb in net/ipv4/tcp_output.c).
func (s scene) acknowledging(f record.Flow, l load) []fact.Fact {
	acknowledged, data := false, 0.0
	for _, other := range s.Flows {
		acknowledged = acknowledged || other.From == f.To && other.To == f.From &&
			flow.Of(other.Protocol).Name == flow.TCP && other.ReceivedBytes > 0
		if frame := limits.FrameOf(other); s.crosses(other, l) && frame.Check() == nil {
			data += 8 * float64(other.ReceivedBytes+other.ResentBytes()) * (1 +
				frame.Headers()/float64(frame.Payload()))
		}
	}
	rest := share(l.ShaperBps*s.WindowS-data, float64(l.Shape.Rate)*s.WindowS)
	if !acknowledged || rest < acknowledgedLeast {
		return nil
	}
	return facts(fact.AcknowledgementShare{Share: rest})
}

// waitsAt is the interface that a flow's data leaves its host by, if packets waited there at most
// of the readings; "": they did not. Another interface than the one on its path counts if that
// one has not carried what the flows got whose path it is, as with ARP flux.
func (s scene) waitsAt(f record.Flow) string {
	h, _ := s.Reading(f.From)
	first, elsewhere := "", true
	if len(f.Path) > 0 {
		first, elsewhere = f.Path[0], false
	}
	planned := 0.0
	for _, other := range s.Flows {
		if first != "" && len(other.Path) > 0 && other.Path[0] == first {
			planned += other.GoodputBps
		}
	}
	deltas := h.Deltas()
	for _, d := range deltas {
		elsewhere = elsewhere || f.From+"."+d.Interface == first && d.TxBps() < leastCarried*planned
	}
	for _, d := range deltas {
		at := f.From + "." + d.Interface
		if standing(h, d.Interface) >= most && (at == first || elsewhere) {
			return at
		}
	}
	return ""
}

// crosses: the flow's data goes out of the interface, or into it. Another interface of its
// hosts than the one on its path counts if its frames may take that one instead, as with ARP
// flux: unless both are on the paths of flows, and its own carried all that they got.
func (s scene) crosses(f record.Flow, l load) bool {
	if onPath(f, l) {
		return true
	}
	if !(l.Out && l.At.Node == f.From || !l.Out && l.At.Node == f.To) || leastCarried*f.GoodputBps > l.Bps {
		return false
	}
	if l.planned == 0 {
		return true
	}
	for _, own := range s.loads {
		if own.At.Node == l.At.Node && own.Out == l.Out && onPath(f, own) {
			return own.Bps < leastCarried*own.planned
		}
	}
	return true
}

// leastCarried is the share of what flows got that an interface on all of their paths has
// carried at least; the two are not read at the same instant.
const leastCarried = 0.9

// onPath: a path is an interface that the flow leaves by and one that it enters by, by turns.
func onPath(f record.Flow, l load) bool {
	at := slices.Index(f.Path, l.end)
	return at >= 0 && (at%2 == 0) == l.Out
}

// waiting is the share of a window's readings at which packets waited in an interface's
// queue, and the mean of what waited there, in bytes. Where netem delays packets it is not
// known: they are its backlog, and that of the qdiscs above it.
func waiting(h record.HostReading, port string) (waits, bytes float64) {
	if delayed(h, port) {
		return 0, 0
	}
	readings := 0.0
	look := func(qdiscs []record.QdiscCounters) {
		for _, q := range qdiscs {
			if q.Interface == port {
				readings++
				bytes += float64(q.Backlog)
				if q.Backlog > 0 {
					waits++
				}
				return
			}
		}
	}
	look(h.Begin.Qdiscs)
	look(h.End.Qdiscs)
	for _, sample := range h.Series {
		look(sample.Qdiscs)
	}
	return share(waits, readings), share(bytes, readings)
}

// standing is the share of a window's readings at which packets waited for an interface. Where one of
// its qdiscs is fq it is not known: packets wait there for the pacing of their own flow (tc-fq(8)),
// before a link with room as well, and are the backlog of the qdiscs above it, too.
func standing(h record.HostReading, port string) float64 {
	if has(h, port, "fq") {
		return 0
	}
	waits, _ := waiting(h, port)
	return waits
}

// delayed reports whether netem is at an interface, where it delays and drops packets as a
// network would.
func delayed(h record.HostReading, port string) bool { return has(h, port, "netem") }

// has reports whether a qdisc of an interface, at its root or inside another one, is of the kinds.
func has(h record.HostReading, port string, kinds ...string) bool {
	return slices.ContainsFunc(h.End.Qdiscs, func(q record.QdiscCounters) bool {
		return q.Interface == port && slices.Contains(kinds, q.Kind)
	})
}

// fairQueues serve each flow in turn: acknowledgements do not wait behind others' data.
var fairQueues = []string{"fq", "fq_codel", "cake", "sfq", "fq_pie"}

// acknowledged names a link on the way back of a flow, from its receiver to its sender,
// before which the flow's acknowledgements wait behind other data; nil: there is none.
// Measured says that the queue was read, and makes up most of longerUs, by which round trips
// are longer than the least one; otherwise the link is full, and its queue was not read.
func (s scene) acknowledged(f record.Flow, longerUs float64) (q *fact.AcknowledgementsQueue, measured bool) {
	back := slices.Clone(f.Path)
	slices.Reverse(back)
	for _, l := range s.loads {
		if at := slices.Index(back, l.end); at < 0 || (at%2 == 0) != l.Out || l.Bps <= 0 {
			continue
		}
		out := l.From
		h, _ := s.Reading(out.Node)
		waits, bytes := waiting(h, out.Interface)
		measured = l.Out && waits >= most && bytes*8e6/l.Bps >= most*longerUs && !has(h, out.Interface, fairQueues...)
		if !measured && (l.Out || waits >= most || !l.Full()) {
			continue
		}
		q = &fact.AcknowledgementsQueue{Interface: l.end, Out: l.Out, Bps: l.Bps}
		if l.Shape.Shaper != "" {
			q.Interface, q.Out, q.Shaper = out.String(), true, l.Shape.Shaper
		}
		if s.goodput(reverse(f)) >= most*l.Bps {
			q.From, q.To = f.To, f.From
		}
		if rate := float64(l.Shape.Rate); rate > 0 {
			q.RateBps, q.Share = rate, l.Share()
		}
		return q, measured
	}
	return nil, false
}

// meanRTTUs is the mean of the sender's smoothed round-trip times at its readings in the
// window; false: there are none, and it is the one at the window's end.
func (s scene) meanRTTUs(f record.Flow) (us float64, mean bool) {
	h, _ := s.Reading(f.From)
	sum, n := 0.0, 0.0
	for _, sample := range h.Series {
		for _, read := range sample.Flows {
			if read.ID == f.ID && read.RTTUs > 0 {
				sum, n = sum+float64(read.RTTUs), n+1
			}
		}
	}
	if n == 0 {
		return float64(f.SenderInfo.RTTUs), false
	}
	return sum / n, true
}

// evenShare is what each of the flows that cross a full link has on average.
func (s scene) evenShare(l load) float64 {
	sum, flows := 0.0, 0.0
	for _, other := range s.Flows {
		if s.crosses(other, l) {
			sum += other.GoodputBps
			flows++
		}
	}
	return share(sum, flows)
}

// Whose the queue is that makes a flow's round trips long, where no link is known.
const (
	unknownQueue = iota
	ownQueue     // the one before its own data
	otherQueue   // that of the other direction's data, in which its acknowledgements wait
)

// whose tells whose queue makes a flow's round trips long. Where no flows go in the opposite
// direction, or those are about as fast, it is its own: links of one rate are both full. Else it is
// that of the direction that alone has an even rate, or loses by far the larger share of its bytes,
// or its own if it loses something, or if the other's was read, and is not long enough. Else
// which of the two is full is not known. Rates and losses tell of congestion controls that fill a
// queue until it loses: bbr's flows lose in bursts before a queue that is empty half of the time.
func (s scene) whose(f record.Flow) int {
	back := reverse(f)
	own, others := s.goodput(f), s.goodput(back)
	lost, theirs := s.loses(f), s.loses(back)
	bbr := slices.ContainsFunc(s.Flows, IsBBR)
	switch {
	case others == 0, own >= even*others && others >= even*own, bbr && s.waitsAt(back) != "":
		return ownQueue
	case bbr:
		return unknownQueue
	case s.evener(back):
		return otherQueue
	case s.evener(f):
		return ownQueue
	case theirs >= lossy && theirs >= overflows*lost:
		return otherQueue
	case lost >= lossy, s.waitsAt(back) != "":
		return ownQueue
	}
	return unknownQueue
}

// IsBBR reports whether bbr, of any version, is a flow's congestion control: it drains the queues
// that it makes, and losses do not slow it down.
func IsBBR(f record.Flow) bool { return strings.HasPrefix(f.CongestionControl, "bbr") }

// overflows: the queue that a full link keeps full loses so many times the share that one loses
// which bursts fill now and then.
const overflows = 4

// backpressure is what shows that the interface by which a flow leaves sends more slowly
// than the flow is handed to it, where its rate is not known; nil: nothing does.
func (s scene) backpressure(f record.Flow) []fact.Fact {
	h, _ := s.Reading(f.From)
	for _, l := range s.loads {
		if !l.Out || l.At.Node != f.From || l.Shape.Rate > 0 || !s.crosses(f, l) || delayed(h, l.At.Interface) {
			continue
		}
		kind := rootKind(h, l.At.Interface)
		if waits := standing(h, l.At.Interface); waits >= always {
			return facts(fact.Backpressure{Interface: l.end, Kind: kind, Share: waits, Bps: l.Bps})
		}
		_, drops := queueDrops(h, l.At.Interface)
		if lost := max(float64(f.RetransSegments), datagramsLost(f)); drops > 0 && drops >= most*lost && lost > 0 {
			return facts(fact.Backpressure{Interface: l.end, Kind: kind, Drops: drops})
		}
	}
	return nil
}

// shaped is what shows that a shaper of the sending host holds a UDP flow back, though it let
// less than its rate out: the socket waits for what the shaper holds, or the shaper dropped most
// of what is lost; nil: none does.
func (s scene) shaped(f record.Flow, held *fact.SocketFull) []fact.Fact {
	h, _ := s.Reading(f.From)
	for _, l := range s.loads {
		if !l.Out || l.At.Node != f.From || l.Shape.Rate <= 0 || !s.crosses(f, l) || l.Share() < most {
			continue
		}
		_, drops := queueDrops(h, l.At.Interface)
		carried := l.fact()
		carried.Shaped = true
		if held != nil {
			return facts(carried, *held)
		}
		if lost := datagramsLost(f); drops > 0 && drops >= most*lost && lost > 0 {
			return facts(carried, fact.DroppedThere{Packets: drops})
		}
	}
	return nil
}

// datagramsLost is how many datagrams a flow lost: all, where its receiver got none and so knows
// of no loss.
func datagramsLost(f record.Flow) float64 {
	d := f.Datagrams
	switch {
	case d == nil:
		return 0
	case d.Received+d.Lost == 0:
		return float64(d.Sent)
	}
	return float64(d.Lost)
}

// rootKind is the kind of an interface's first qdisc; empty: not known.
func rootKind(h record.HostReading, port string) string {
	i := slices.IndexFunc(h.End.Qdiscs, func(q record.QdiscCounters) bool { return q.Interface == port })
	if i < 0 {
		return ""
	}
	return h.End.Qdiscs[i].Kind
}

// exhausted shows how little the processors of either host had left, and whether
// that can have held the flow back: where the machine is busy with other things,
// and the program that makes the traffic hardly works, it need not have.
func (s scene) exhausted(f record.Flow) (why []fact.Fact, yes bool) {
	for _, name := range []string{f.From, f.To} {
		h, _ := s.Reading(name)
		if h.GeneratorCPU >= Spent {
			return []fact.Fact{{Host: name, Is: fact.ThreadCPU{Share: h.GeneratorCPU}}}, true
		}
		if load := hostload.UsableOf(h); load.Busy >= Spent {
			why = []fact.Fact{{Host: name, Is: fact.CPUsBusy{Load: *load.Fact(), Moving: h.GeneratorCPU}}}
			if h.GeneratorCPU >= working {
				return why, true
			}
		}
	}
	return why, false
}

// spentCPU is one CPU at an end of the flow that had no time left, where the kernel's part of
// it or linerate's is of the traffic; nil: none.
func (s scene) spentCPU(f record.Flow) []fact.Fact {
	for _, name := range []string{f.From, f.To} {
		h, _ := s.Reading(name)
		if c, ok := hostload.BusiestOf(h); ok && c.Busy-c.Niced >= Spent && (c.Kernel() >= working ||
			h.GeneratorCPU >= working) {
			return []fact.Fact{{Host: name, Is: fact.CPUBusy{CPU: c.CPU, Busy: c.Busy, Kernel: c.Kernel()}}}
		}
	}
	return nil
}

// reaches: the flow has what a cap allows, on average.
func reaches(f record.Flow, most float64) bool { return most > 0 && f.GoodputBps >= atCap*most }

// capped reports whether a cap of some kind limits a TCP flow, and what shows it. A flow
// that lost nothing and reached the cap in most intervals is limited by it although its average is
// lower: its machine, or the program that writes, paused.
func (s scene) capped(f record.Flow, most float64, kind string) (why []fact.Fact, reached bool) {
	is := fact.CapShare{Cap: kind, Bps: most, Share: share(f.GoodputBps, most)}
	if most <= 0 || reaches(f, most) || f.GoodputBps < pausing*most || missing(f) >= lossy ||
		len(f.Bins) < leastIntervals {
		return facts(is), reaches(f, most)
	}
	began, at := 0.0, 0
	ends, _ := s.BinEnds(f)
	for i, ended := range ends {
		if float64(8*f.Bins[i]) >= atCap*most*(ended-began) {
			at++
		}
		began = ended
	}
	if float64(at) < steadily*float64(len(ends)) {
		return nil, false
	}
	is.At, is.Of = at, len(ends)
	return facts(is), true
}

func share(part, whole float64) float64 {
	if whole <= 0 {
		return 0
	}
	return part / whole
}

// sentAgain is the share of its bytes that a flow sent again, and whether most of that had arrived
// before, as its receiver reported (D-SACK, RFC 2883), and no host dropped anything.
func (s scene) sentAgain(f record.Flow) fact.SentAgain {
	again := fact.SentAgain{Share: resent(f)}
	if twice := needless(f); twice >= most {
		again.Needless, again.Reordered, again.NoDrops = twice, f.SenderInfo.ReordSeen > 0, s.noDrops(f)
	}
	return again
}

// noDrops reports whether all that may drop packets of a flow's hosts was read, and dropped none.
func (s scene) noDrops(f record.Flow) bool {
	for _, name := range []string{f.From, f.To} {
		if h, ok := s.Reading(name); !ok || len(h.End.Interfaces) == 0 || len(h.End.Softnet) == 0 {
			return false
		}
	}
	for _, h := range s.Hosts {
		for _, d := range h.Deltas() {
			if d.RxLost+d.TxLost+d.RxMissed > 0 {
				return false
			}
		}
		for _, q := range h.End.Qdiscs {
			if begin, ok := h.AtBegin(q); !ok || q.Drops > begin.Drops {
				return false
			}
		}
		for _, c := range h.End.Softnet {
			if i := slices.IndexFunc(h.Begin.Softnet, func(b record.SoftnetCounters) bool {
				return b.CPU == c.CPU
			}); i < 0 || c.Dropped > h.Begin.Softnet[i].Dropped {
				return false
			}
		}
	}
	return true
}
