package bottleneck

import (
	"slices"
	"strings"

	"linerate/internal/model/fact"
	"linerate/internal/model/flow"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/science/hostload"
	"linerate/internal/science/limits"
)

// full returns a full link at one of the flow's hosts or on its path, in the flow's direction, and
// the evidence; nil: none is full. A link that carries its full rate is preferred to one with a
// queue. Frames may use another interface than intended. With own set, the link by which the
// sending host sends counts as well.
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

// fact returns what the interface carried. A shaper is at the interface that sends.
func (l load) fact() fact.LinkShare {
	carried := fact.LinkShare{Interface: l.end, Out: l.Out, RateBps: float64(l.Shape.Rate), Share: l.Share()}
	if l.Shape.Shaper != "" {
		carried.Interface, carried.Out, carried.Shaped, carried.Shaper = l.From.String(), true, true, l.Shape.Shaper
	}
	return carried
}

// allFull returns the full links out of a host, or into it, if nearly all that it sends or receives
// uses them; nil: other links have room.
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

// acknowledging returns the share of a link's rate that is not data of the flows on it, if TCP
// flows in the other direction are acknowledged over it; nil: almost none. Data is what was
// received and what was sent again. SentBytes would be too much: TCP adds a segment to bytes_sent
// before the host's queue accepts it, and again when a refused one is sent anew (__tcp_transmit_skb
// in net/ipv4/tcp_output.c).
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

// waitsAt returns the interface by which a flow's data leaves its host if packets waited there at
// most of the readings; "": they did not. Another interface than that of its path counts if the
// latter carried less than the flows on it received, as with ARP flux.
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

// crosses reports whether the flow's data goes out of the interface or into it. An interface of its
// hosts that is not on its path counts if frames may use it instead, as with ARP flux. It does not
// if it is on the paths of other flows and the flow's own interface carried all that its flows
// received.
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

// leastCarried is the share of the flows' goodput that an interface on all of their paths must have
// carried. Both are not read at the same time.
const leastCarried = 0.9

// onPath reports whether an interface and direction are on a flow's path, which consists of an
// interface that the flow leaves and one that it enters, by turns.
func onPath(f record.Flow, l load) bool {
	at := slices.Index(f.Path, l.end)
	return at >= 0 && (at%2 == 0) == l.Out
}

// waiting returns the share of the readings at which packets waited in an interface's queue, and
// the mean number of bytes that waited. It returns 0 if netem delays packets there, because these
// are the backlog of netem and of the qdiscs above it.
func waiting(h netstate.HostReading, port string) (waits, bytes float64) {
	if delayed(h, port) {
		return 0, 0
	}
	readings := 0.0
	look := func(qdiscs []netstate.QdiscCounters) {
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

// standing returns the share of the readings at which packets waited for an interface. It returns 0
// if one of its qdiscs is fq, in which packets also wait for the pacing of their own flow
// (tc-fq(8)); they are part of the backlog of the qdiscs above it, too.
func standing(h netstate.HostReading, port string) float64 {
	if has(h, port, "fq") {
		return 0
	}
	waits, _ := waiting(h, port)
	return waits
}

// delayed reports whether an interface has netem, which delays and drops packets as a network does.
func delayed(h netstate.HostReading, port string) bool { return has(h, port, "netem") }

// has reports whether a qdisc of an interface, its root or one inside another, is of one of the
// kinds.
func has(h netstate.HostReading, port string, kinds ...string) bool {
	return slices.ContainsFunc(h.End.Qdiscs, func(q netstate.QdiscCounters) bool {
		return q.Interface == port && slices.Contains(kinds, q.Kind)
	})
}

// fairQueues are qdiscs that serve each flow in turn, so that acknowledgements do not wait behind
// other data.
var fairQueues = []string{"fq", "fq_codel", "cake", "sfq", "fq_pie"}

// acknowledged returns a link on the path of a flow's acknowledgements before which they wait
// behind other data; nil: there is none. measured reports whether the queue was read and explains
// most of longerUs, by which round trips exceed the least one; otherwise the link is full, and its
// queue was not read.
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

// meanRTTUs returns the mean of the sender's smoothed round-trip times in the window, in
// microseconds; false: there are no readings, and it is the one at the window's end.
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

// evenShare returns the mean goodput of the flows on a link, in bits per second.
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

// Whose queue makes a flow's round trips long, if no link is known to be full.
const (
	unknownQueue = iota
	ownQueue     // before its own data
	otherQueue   // of the other direction's data, in which its acknowledgements wait
)

// whose returns whose queue makes a flow's round trips long. It is the flow's own if there are no
// flows in the opposite direction, or if those are about as fast: both links are full. Otherwise it
// is that of the direction that alone has an even rate, or that loses by far the larger share of
// its bytes. It is also the flow's own if it loses anything, or if packets waited at the other
// direction's interface. Else it is not known. Rates and losses are evidence only for congestion
// controls that fill a queue until it drops: flows of bbr lose in bursts before a queue that is
// empty half of the time.
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

// IsBBR reports whether a flow's congestion control is bbr, of any version. bbr drains the queues
// that it makes, and losses do not slow it down.
func IsBBR(f record.Flow) bool { return strings.HasPrefix(f.CongestionControl, "bbr") }

// overflows is how many times the loss of an occasionally full queue a queue has that its link
// keeps full.
const overflows = 4

// backpressure returns the evidence that the interface by which a flow leaves sends more slowly
// than the flow is passed to it, if its rate is not known; nil: there is none.
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

// shaped returns the evidence that a shaper of the sending host holds a UDP flow back, although it
// let less than its rate through: the socket waits for the shaper, or the shaper dropped most of
// what was lost; nil: there is none.
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

// datagramsLost returns how many datagrams a flow lost: all that were sent if its receiver got
// none, because it then knows of no loss.
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

// rootKind returns the kind of an interface's first qdisc; empty: not known.
func rootKind(h netstate.HostReading, port string) string {
	i := slices.IndexFunc(h.End.Qdiscs, func(q netstate.QdiscCounters) bool { return q.Interface == port })
	if i < 0 {
		return ""
	}
	return h.End.Qdiscs[i].Kind
}

// exhausted returns how busy the CPUs of either host were, and whether that can have held the flow
// back. It need not have if the machine is busy with other work and the traffic program hardly uses
// a CPU.
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

// spentCPU returns a CPU at an end of the flow that had no time left, if the kernel or linerate's
// program used much of it for traffic; nil: there is none.
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

// reaches reports whether the flow's average rate reaches a cap.
func reaches(f record.Flow, most float64) bool { return most > 0 && f.GoodputBps >= atCap*most }

// capped reports whether a cap limits a TCP flow, and the evidence. It also does so if the flow
// lost nothing and reached the cap in most intervals, but not on average: then its machine, or the
// program that writes, paused.
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

// sentAgain returns the share of its bytes that a flow sent again. If most of these had arrived, as
// its receiver reported (D-SACK, RFC 2883), it says so, and whether no host dropped anything.
func (s scene) sentAgain(f record.Flow) fact.SentAgain {
	again := fact.SentAgain{Share: resent(f)}
	if twice := needless(f); twice >= most {
		again.Needless, again.Reordered, again.NoDrops = twice, f.SenderInfo.ReordSeen > 0, s.noDrops(f)
	}
	return again
}

// noDrops reports whether all counters of drops on the flow's hosts were read, and none grew on any
// host.
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
		begins := h.QdiscsAtBegin()
		for _, q := range h.End.Qdiscs {
			if begin, ok := begins[q.Key()]; !ok || q.Drops > begin.Drops {
				return false
			}
		}
		for _, c := range h.End.Softnet {
			if i := slices.IndexFunc(h.Begin.Softnet, func(b netstate.SoftnetCounters) bool {
				return b.CPU == c.CPU
			}); i < 0 || c.Dropped > h.Begin.Softnet[i].Dropped {
				return false
			}
		}
	}
	return true
}
