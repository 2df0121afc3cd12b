// Package bottleneck names what held each flow of a trial back, with the figures that show it: what
// the sender's kernel counted in the window (TCP_INFO, linux/tcp.h: the time with data to send, and
// the parts of it spent waiting for the receiver's window and for room in the send buffer), how
// full the buffers at both ends were, what the interfaces carried, and how busy the CPUs were. It
// names a cause only if that held the flow for most of the window, and otherwise none. Package
// diagnose explains why a network holds flows back.
//
// docs/limits.md describes the names and the evidence for each.
package bottleneck

import (
	"cmp"
	"slices"

	"linerate/internal/model/fact"
	"linerate/internal/model/flow"
	"linerate/internal/model/lists"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/limits"
)

// What a flow is limited by: values of record.Flow.LimitedBy.
const (
	Application      = "application"       // the sending program had nothing to send
	RateCap          = "rate cap"          // the flow's own pacing
	SlowReader       = "slow reader"       // the receiving program does not read what has arrived
	ReceiverWindow   = "receiver window"   // what the receiver allows in flight
	SendBuffer       = "send buffer"       // room for bytes that are not acknowledged
	FullLink         = "full link"         // a link on the path carries all that it can
	CongestionWindow = "congestion window" // what congestion control allows in flight
	// the queue in which the flow's acknowledgements wait, before a link that is full in their
	// direction
	Acknowledgements = "acknowledgements"
	// the queue of the sending interface, which was never empty, on a link whose rate is not known
	InterfaceQueue = "interface queue"
	Generator      = "generator"  // a program that makes the traffic, or its machine
	NoAnswer       = "no answer"  // nothing is acknowledged
	Loss           = "loss"       // datagrams are lost behind the sending host
	NoCarrier      = "no carrier" // an interface on the path had none, or was down, for a part of the window
)

const (
	// The times of TCP_INFO need a window that is long compared with the kernel's clock, which ticks
	// every 4 or 10 ms, and with the flow's round trips.
	leastWindowS = 0.5
	leastTrips   = 50
	// idle is the least share of the window in which a sender must have had data. Below it, the
	// sender had too little to send.
	idle = 0.9
	// most is the share of the time from which on something counts as the cause.
	most = 0.5
	// atCap is the share of a cap that counts as reaching it. It is below 1 because fq counts headers,
	// too.
	atCap = 0.9
	// A flow that pauses is still limited by its cap if it reaches the cap in the share steadily of its
	// intervals, of which there must be leastIntervals, and the share pausing of it on average.
	steadily, pausing, leastIntervals = 0.75, 0.5, 10
	// fair is the share of its even part of a link from which on a flow is limited by the link, not by
	// a window of its own.
	fair = 0.9
	// closes is the share of the readings at which the receiver's window was closing from which on the
	// receiving program filled it, not a queue on the path.
	closes = 0.25
	// slow is how many milliseconds data stays unread if the program that reads it is slow. Waking a
	// program takes less.
	slow = 1
	// prompt is how long data may stay unread although the reader is fast, and ample the time of a
	// flow, in milliseconds, that fits into a buffer which fills only if its reader gets no CPU.
	prompt, ample = 0.1, 0.5
	// A queue at most readings is before a full link if that carries at least the share loaded of its
	// rate, or if there was a queue at the share always of the readings.
	loaded, always = 0.6, 0.9
	// stalled is the number of consecutive unanswered timeouts from which on there is no answer.
	stalled = 2
	// Spent is the busy share of a CPU that has no time left. working is the least share of a CPU that
	// a program uses if it needs more of it.
	Spent   = 0.95
	working = 0.2
	// lossy is the share of bytes sent again from which on congestion control reacts to losses,
	// whatever else is busy.
	lossy = 1e-3
	// shortQueue is the share of bytes lost in the queue of the sending host's interface from which on
	// that queue is too short for the flow. Below it, cubic and reno slow down first, as they probe the
	// queue.
	shortQueue = 0.05
	// shortBuffer is the same for segments that TCP keeps because they never left the host. With so
	// many, congestion control keeps a dozen of them in flight.
	shortBuffer = 0.01
	// acknowledgedLeast is the least share of a link taken by acknowledgements that is mentioned.
	acknowledgedLeast = 0.02
	// nearlyAll is the share of what a host sends or receives that goes by full links if these hold it
	// back.
	nearlyAll = 0.9
	// even is the ratio of the rates of two directions from which on they count as equal.
	even = 0.9
	// With at most fewSegments in flight, a round trip that varies by more than the share varies of
	// itself contains delayed acknowledgements and retransmissions, and shows no queue.
	fewSegments, varies = 10, 0.5
	// There is a queue somewhere on the path if round trips take queued times the least one, and
	// queuedUs microseconds longer.
	queued, queuedUs = 2, 2000
)

// Verdict is what held a flow back, and the facts that show it. By is empty if it cannot be
// attributed; Facts may then say why. Refused is at least the share of the retransmitted segments
// that never left the host.
type Verdict struct {
	By      string
	Facts   []fact.Fact
	Refused float64
}

// facts returns facts that belong to no host.
func facts(list ...any) (facts []fact.Fact) {
	return lists.Map(list, func(one any) fact.Fact { return fact.Fact{Is: one} })
}

// join returns the facts of several lists.
func join(lists ...[]fact.Fact) []fact.Fact { return slices.Concat(lists...) }

// Attribute returns a verdict for each flow of a trial, in their order. Of the trial it needs the
// flows, the hosts, the window and the clocks. The flows have their Path as far as it is known.
// complete reports whether the topology has every link of the paths; otherwise a slower link may be
// between the two ends.
func Attribute(t record.Trial, over *topology.Topology, complete bool) []Verdict {
	s := newScene(t, over, complete)
	verdicts := make([]Verdict, len(t.Flows))
	for i, f := range t.Flows {
		v := &verdicts[i]
		lost := s.carrier(f)
		switch {
		case !f.Connected:
		case lost != nil:
			v.By, v.Facts = NoCarrier, lost
		case f.Protocol == flow.UDP:
			v.By, v.Facts = s.datagrams(f)
		case flow.Of(f.Protocol).Name == flow.TCP:
			v.By, v.Facts = s.stream(f)
			if part, why := s.refused(f); part > 0 {
				v.Refused, v.Facts = part, append(v.Facts, why...)
			}
		}
	}
	return verdicts
}

// LeastWindowS returns how many seconds a window must last for the times of TCP_INFO to mean
// something, for a flow with the given round-trip time in seconds.
func LeastWindowS(rttS float64) float64 { return max(leastWindowS, leastTrips*rttS) }

// scene is a trial and what is known of its links.
type scene struct {
	record.Trial // only flows, hosts, window and clocks
	loads        []load
	known        bool // every link of the paths
}

// load is what an interface carried in one direction.
type load struct {
	limits.Load
	end     string  // name of Load.At in paths
	planned float64 // goodput of the flows on whose path it is, in bits per second
}

func newScene(t record.Trial, over *topology.Topology, known bool) scene {
	s := scene{Trial: t, known: known}
	for one := range limits.Loads(t.Hosts, over) {
		l := load{Load: one, end: one.At.String()}
		for _, f := range t.Flows {
			if onPath(f, l) {
				l.planned += f.GoodputBps
			}
		}
		s.loads = append(s.loads, l)
	}
	return s
}

// stream returns what held a TCP flow back; empty: it cannot be attributed.
func (s scene) stream(f record.Flow) (by string, why []fact.Fact) {
	info := f.SenderInfo
	if info == nil {
		return s.together(f)
	}
	least := LeastWindowS(float64(info.RTTUs) / 1e6)
	rwnd, sndbuf := max(share(f.RwndLimitedS, f.BusyS), f.RwndFullShare), share(f.SndbufLimitedS, f.BusyS)
	link, carried := s.full(f, true)
	full := carried != nil
	own := full && f.GoodputBps >= fair*s.evenShare(link) // and its part of the link
	full = full && (own || rwnd < most && sndbuf < most && f.SndbufFullShare < most)
	// Bursts queue before a link that is not full, too. What it did not carry is the flow's own
	// doing if that waited for its window or buffer for as long.
	waited := max(rwnd, sndbuf, f.SndbufFullShare)
	bursts := full && !link.Full() && waited > 0 && waited >= 1-link.Share()
	busy, exhausted := s.exhausted(f)
	written, writes := s.capped(f, f.WriteCapBps, fact.CapWrite)
	paced, paces := s.capped(f, f.RateCapBps, fact.CapPace)
	switch {
	case f.AckedBytes <= 0 && info.Backoff >= stalled && !(rwnd >= most && info.SndWnd < info.SndMSS):
		return NoAnswer, facts(fact.NoAcknowledgement{Timeouts: info.Backoff})
	case writes:
		return Application, written
	case paces && !(full && !reaches(f, f.RateCapBps)):
		return RateCap, paced
	case bursts && rwnd > max(sndbuf, f.SndbufFullShare):
		return s.receiver(f, rwnd, busy, exhausted)
	case bursts:
		return s.buffer(f, sndbuf)
	case full:
		return FullLink, join(carried, s.while(f, link))
	case s.WindowS < least && missing(f) < shortQueue: // lost segments are late, too
		return "", facts(fact.ShortWindow{WindowS: s.WindowS, RTTS: float64(info.RTTUs) / 1e6})
	case (info.Lacking("busy_us") != "" || f.BusyS == 0 && f.AckedBytes > 0) && f.DryShare < most:
		return "", facts(fact.NotReported{Field: "busy_us", For: fact.ForWaits})
	case rwnd >= most:
		return s.receiver(f, rwnd, busy, exhausted)
	case sndbuf >= most || f.SndbufFullShare >= most:
		return s.buffer(f, sndbuf)
	case rwnd+sndbuf >= most && rwnd >= 2*sndbuf:
		return s.receiver(f, rwnd, busy, exhausted)
	case rwnd+sndbuf >= most && sndbuf >= 2*rwnd:
		return s.buffer(f, sndbuf)
	case rwnd+sndbuf >= most:
		return "", facts(fact.WaitedFor{Window: rwnd, Buffer: sndbuf})
	case exhausted:
		if behind, sure := s.behindLink(f); sure {
			return FullLink, facts(*behind)
		}
		return Generator, busy
	case f.BusyS < idle*s.WindowS:
		return starved(f, fact.BusyFor{Share: f.BusyS / s.WindowS})
	case f.DryShare >= most:
		return starved(f, fact.NothingToSend{Share: f.DryShare})
	}
	if why := s.backpressure(f); why != nil {
		return InterfaceQueue, why
	}
	return s.congestion(f, busy)
}

// while returns the evidence that a flow's acknowledgements waited while the link was not full;
// nil: the link was full throughout, or they did not wait.
func (s scene) while(f record.Flow, link load) []fact.Fact {
	trip := s.roundTrip(f)
	if acks, measured := s.acknowledged(f, trip.longerUs); !link.Full() && trip.grown && measured {
		acks.While = true
		return facts(*acks, trip.fact())
	}
	return nil
}

// together is stream for all connections of a program that are counted as one flow, so that it is
// not known which links they use.
func (s scene) together(f record.Flow) (by string, why []fact.Fact) {
	if f.Process == "" {
		return "", nil
	}
	if links := s.allFull(f.From, true); links != nil {
		return FullLink, links
	}
	if links := s.allFull(f.To, false); links != nil {
		return FullLink, links
	}
	if f.DryShare >= most {
		return Application, facts(fact.NothingToSend{Share: f.DryShare, ByProgram: true})
	}
	return "", nil
}

// starved returns the cause of a sender without data: linerate's own program, which always has more
// but does not get to write it, or the send buffer, if it is sent before any program can write
// again.
func starved(f record.Flow, seen any) (by string, why []fact.Fact) {
	holds := share(8e3*float64(f.SndbufBytes), f.GoodputBps) // ms
	switch {
	case f.SendMode == "":
		return Application, facts(seen)
	case holds > 0 && holds < prompt:
		return SendBuffer, facts(seen, fact.BufferHolds{Bytes: float64(f.SndbufBytes), Seconds: holds / 1e3})
	}
	return Generator, facts(seen)
}

// buffer returns whether a send buffer is too small, or full because a queue before a link holds
// what it has sent. The kernel counts the waiting time only while it cannot accept a write that has
// just sent something; a buffer that holds one packet is filled and sent by one write.
func (s scene) buffer(f record.Flow, waited float64) (by string, why []fact.Fact) {
	full := fact.BufferFull{Bytes: float64(f.SndbufBytes), Share: waited}
	if waited <= f.SndbufFullShare {
		full.Share, full.AllSent = f.SndbufFullShare, true
	}
	return s.unlessBehind(f, SendBuffer, facts(full))
}

// unlessBehind returns FullLink if a queue before a link is the reason why a flow's buffer or
// window is full. Otherwise it returns by with what was seen. If nearly all of a round trip was
// waiting, no cause is named: that queue may have filled the buffer or window.
func (s scene) unlessBehind(f record.Flow, by string, why []fact.Fact) (string, []fact.Fact) {
	switch behind, sure := s.behindLink(f); {
	case sure:
		behind.Larger = by
		return FullLink, join(facts(*behind), why)
	case behind != nil:
		behind.Larger, behind.OrCPU = by, true
		return "", join(why, facts(*behind))
	}
	if trip := s.roundTrip(f); trip.grown {
		why = append(why, facts(trip.fact())...)
	}
	return by, why
}

// receiver distinguishes a slow receiver from a small window.
func (s scene) receiver(f record.Flow, rwnd float64, busy []fact.Fact, exhausted bool) (by string, why []fact.Fact) {
	waited := fact.WindowFull{Share: rwnd, Read: rwnd <= f.RwndFullShare, BufferBytes: float64(f.RcvbufBytes),
		Receiver: f.To}
	open := int64(f.SenderInfo.SndWnd)
	lay := share(8e3*float64(f.UnreadBytes), f.GoodputBps)   // ms, by Little's law
	holds := share(8e3*float64(f.RcvbufBytes), f.GoodputBps) // ms, likewise
	unread := fact.UnreadFor{Bytes: float64(f.UnreadBytes)}
	lain := fact.UnreadFor{Bytes: unread.Bytes, Seconds: lay / 1e3}
	size := fact.ReceiverWindow{Bytes: float64(open)}
	if _, seen := s.Reading(f.To); seen {
		size.Unread = &lain
	}
	window := facts(waited, size)
	switch {
	case reaches(f, f.ReadCapBps):
		return SlowReader, facts(waited, fact.ReadCap{Bps: f.ReadCapBps, UnreadBytes: unread.Bytes})
	case exhausted && lay >= prompt && holds >= ample:
		return Generator, join(facts(waited, unread), busy)
	case f.SenderInfo.Lacking("snd_wnd_bytes") != "" && lay > 0 && lay < slow:
		return s.unlessBehind(f, ReceiverWindow, facts(waited, lain))
	case f.SenderInfo.Lacking("snd_wnd_bytes") != "":
		return "", facts(waited, fact.NotReported{Field: "snd_wnd", For: fact.ForReader})
	case f.UnreadBytes < open || lay > 0 && lay < slow:
		return s.unlessClosed(f, window)
	case busy != nil:
		return Generator, join(facts(waited, unread), busy)
	}
	return SlowReader, window
}

// unlessClosed distinguishes a window that was full from one that was closed for a part of the
// time. A queue before a full link holds a whole window, which stays open. A receiver with a full
// buffer acknowledges when its program reads, so round trips take long as well, but less is in
// flight on average than the open window allows.
func (s scene) unlessClosed(f record.Flow, window []fact.Fact) (by string, why []fact.Fact) {
	trip := s.roundTrip(f)
	flying := f.GoodputBps / 8 * trip.us / 1e6
	behind, _ := s.behindLink(f)
	switch {
	case behind == nil:
	case f.ClosingShare >= closes:
		return s.closedBy(f), join(window, facts(fact.WindowClosing{Share: f.ClosingShare}, trip.fact()))
	case flying < most*float64(f.SenderInfo.SndWnd):
		return s.closedBy(f), join(window, facts(fact.WindowClosed{FlyingBytes: flying}, trip.fact()))
	}
	return s.unlessBehind(f, ReceiverWindow, window)
}

// closedBy returns the cause of a window that its receiver closes: the window itself if the
// receiver was read, which then had little unread; otherwise a slow reader, because unread data is
// what closes windows.
func (s scene) closedBy(f record.Flow) string {
	if _, seen := s.Reading(f.To); seen {
		return ReceiverWindow
	}
	return SlowReader
}

// congestion returns the cause if neither end waited for a buffer, window or CPU.
func (s scene) congestion(f record.Flow, busy []fact.Fact) (by string, why []fact.Fact) {
	info := f.SenderInfo
	lost, missing := resent(f), missing(f)
	behind, sure := s.behindLink(f)
	trip := s.roundTrip(f)
	stands := trip.grown && trip.longerUs >= queuedUs && !trip.few
	var acks *fact.AcknowledgementsQueue
	measured := false
	if trip.grown {
		// A queue that was read is known to be there, however short it is.
		if acks, measured = s.acknowledged(f, trip.longerUs); !stands && !measured {
			acks = nil
		}
	}
	asked := stands && !measured && !s.known
	whose := unknownQueue
	if asked {
		whose = s.whose(f)
	}
	if whose == otherQueue {
		acks = &fact.AcknowledgementsQueue{From: f.To, To: f.From, Even: s.evener(reverse(f))}
	}
	switch {
	case sure:
		return FullLink, facts(*behind)
	case behind != nil && !stands && missing < lossy && !s.generating(f):
		behind.OrCPU = true
		return "", facts(*behind)
	case whose == ownQueue:
		return FullLink, facts(*s.queue(f, trip))
	case asked && whose == unknownQueue:
		return "", facts(fact.QueueAt{RoundTrip: trip.fact(), Either: true})
	case acks != nil && missing < lossy:
		return Acknowledgements, facts(*acks, trip.fact())
	case busy != nil && lost < lossy:
		return "", join(facts(fact.NoWindowFull{}), busy)
	}
	if part, back := s.turnedBack(f); lost < lossy && part >= shortBuffer {
		return InterfaceQueue, facts(*back)
	}
	allowed := float64(info.SndCwnd) * float64(info.SndMSS)
	if flying := max(f.GoodputBps/8*trip.us/1e6, float64(info.Unacked)*float64(info.SndMSS)); lost < lossy &&
		flying < most*allowed {
		why = facts(fact.NoWindowFull{FlyingBytes: flying, AllowedBytes: allowed})
		if info.Lacking("snd_wnd_bytes") != "" {
			why = append(why, facts(fact.NotReported{Field: "snd_wnd", For: fact.ForWindow})...)
		}
		if cpu := s.spentCPU(f); cpu != nil {
			return Generator, join(cpu, why)
		}
		return "", why
	}
	by, seen := CongestionWindow, []any{fact.InFlight{Bytes: allowed}}
	if lost > 0 {
		seen = append(seen, s.sentAgain(f))
	}
	if _, back := s.turnedBack(f); lost < lossy && back != nil {
		seen = append(seen, *back)
	}
	if missing >= lossy {
		where := s.dropped(f, float64(f.RetransSegments)*missing/lost, superFrame/float64(max(info.SndMSS, 1)))
		if where.queue && where.node == f.From && missing >= shortQueue {
			by = InterfaceQueue
		}
		if where.lost != nil {
			seen = append(seen, *where.lost)
		}
	}
	if stands || acks != nil {
		seen = append(seen, trip.fact())
	}
	if acks != nil {
		seen = append(seen, *acks)
	}
	return by, facts(seen...)
}

// resent returns the share of its bytes that a flow sent again.
func resent(f record.Flow) float64 {
	return share(float64(f.RetransBytes), float64(cmp.Or(f.SentBytes, f.AckedBytes)))
}
