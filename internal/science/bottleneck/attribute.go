// Package bottleneck names, for each flow of a trial, what held it back, and the
// figures that show it: what the sender's kernel counted in the window (TCP_INFO,
// linux/tcp.h: the time that there was something to send, and the parts of it
// spent waiting for the receiver's window and for room in the send buffer), what
// lay in the two ends' buffers, what the interfaces carried and how busy the processors
// were. It names one thing only when that held the flow for most of the window,
// and nothing otherwise. Why a network holds flows back is package diagnose's
// question.
//
// The words and the evidence for each are in docs/limits.md.
package bottleneck

import (
	"cmp"
	"slices"

	"linerate/internal/model/fact"
	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/limits"
)

// What a flow is limited by.
const (
	Application      = "application"       // the sending program had nothing to send
	RateCap          = "rate cap"          // its own pacing
	SlowReader       = "slow reader"       // the receiving program leaves lying what has arrived
	ReceiverWindow   = "receiver window"   // what the receiver allowed to be in flight
	SendBuffer       = "send buffer"       // room for what is not acknowledged yet
	FullLink         = "full link"         // a link on its path carries all that it can
	CongestionWindow = "congestion window" // what congestion control allowed to be in flight
	// the queue that its acknowledgements wait in, before a link that is full in their direction
	Acknowledgements = "acknowledgements"
	// the sending interface, whose queue was never empty, and whose rate is not known
	InterfaceQueue = "interface queue"
	Generator      = "generator"  // a program that makes the traffic, or its machine, can do no more
	NoAnswer       = "no answer"  // nothing is acknowledged any more
	Loss           = "loss"       // of datagrams, behind the sending host
	NoCarrier      = "no carrier" // an interface on its path had none, or was down, for a part of the window
)

const (
	// TCP_INFO's times say something over a window that is long beside the kernel's
	// clock, which ticks every 4 or 10 ms, and beside the flow's round trips.
	leastWindowS = 0.5
	leastTrips   = 50
	// idle: a sender that is busy for less of the window had too little to send.
	idle = 0.9
	// most of the time is what makes a cause the cause.
	most = 0.5
	// atCap is the share of a cap that counts as reaching it: fq counts headers,
	// too.
	atCap = 0.9
	// A flow that pauses is limited by its cap nonetheless if it reaches the cap in the share
	// steadily of at least leastIntervals intervals, and the share pausing of it on average.
	steadily, pausing, leastIntervals = 0.75, 0.5, 10
	// fair is the share of its even part of a link from which on a flow is held
	// by the link rather than by a window of its own.
	fair = 0.9
	// closes is the share of the readings at which the receiver's window was closing from which
	// on its program, and not a queue on the path, is why it was full.
	closes = 0.25
	// slow is how long data lies unread, in milliseconds, where the program that is
	// to read it is slow: waking one takes less.
	slow = 1
	// prompt is how long data may lie and its reader be a quick one; a buffer that
	// holds an ample time of the flow is full only if its reader gets no processor.
	prompt, ample = 0.1, 0.5
	// A queue at most of the readings stands before a full link where that carries
	// as much of its rate at least, or where it stood at nearly all of them.
	loaded, always = 0.6, 0.9
	// stalled: so many timeouts in a row have gone unanswered.
	stalled = 2
	// Spent is a processor that has nothing left to give, and working the share of
	// one that a program uses at least to be what wants more of it.
	Spent   = 0.95
	working = 0.2
	// lossy is the share of bytes sent again from which on congestion control is
	// seen at work, whatever else is busy.
	lossy = 1e-3
	// shortQueue is the share of bytes lost in the queue of its own host's interface from which
	// on that is too short for a flow, and not just probed by it: cubic and reno slow down before.
	shortQueue = 0.05
	// shortBuffer is the same of segments that TCP keeps, as they never left the host: so many
	// leave congestion control a dozen of them in flight.
	shortBuffer = 0.01
	// acknowledgedLeast is the share of a link that acknowledgements take which is worth a word.
	acknowledgedLeast = 0.02
	// nearlyAll of what a host sends or receives goes by links that are full, where they hold
	// it back.
	nearlyAll = 0.9
	// even: flows of two directions have about as much of a link each.
	even = 0.9
	// With so few segments in flight, a round trip that varies by more than half of itself has
	// delayed acknowledgements and retransmissions in it, and no queue.
	fewSegments, varies = 10, 0.5
	// A queue stands somewhere on the path when a round trip takes so many times
	// the least one, and so much longer.
	queued, queuedUs = 2, 2000
)

// Verdict is what held a flow back, and the facts that show it. By is empty where it
// cannot be attributed; Facts then say why not, if anything does. Refused is the least share
// of what it sent again that never left its host.
type Verdict struct {
	By      string
	Facts   []fact.Fact
	Refused float64
}

// facts are facts of no host in particular.
func facts(list ...any) (facts []fact.Fact) {
	for _, one := range list {
		facts = append(facts, fact.Fact{Is: one})
	}
	return facts
}

// join are facts of several lists.
func join(lists ...[]fact.Fact) []fact.Fact { return slices.Concat(lists...) }

// Attribute returns a verdict for each flow of a window of so many seconds, in their
// order. Flows have their Path, as far as it is known. Complete says that the topology
// has every link of the paths; otherwise a slower one may be between the two ends.
func Attribute(flows []record.Flow, hosts []record.HostReading, windowS float64, over *topology.Topology,
	complete bool) []Verdict {
	s := newScene(record.Trial{Flows: flows, Hosts: hosts, WindowS: windowS}, over, complete)
	verdicts := make([]Verdict, len(flows))
	for i, f := range flows {
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

// LeastWindowS is how long a window has to be for TCP_INFO's times to say something of a flow with
// such a round trip, in seconds.
func LeastWindowS(rttS float64) float64 { return max(leastWindowS, leastTrips*rttS) }

// scene is what a flow is looked at in.
type scene struct {
	record.Trial // flows, hosts and window alone
	loads        []load
	known        bool // every link of the path
}

// load is an interface in one direction.
type load struct {
	limits.Load
	end     string  // Load.At as paths spell it
	planned float64 // what flows got on whose path it is, in bit/s
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

// stream names what held a TCP flow back; empty: not attributable.
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

// while shows of a link that was full for a part of the window that the flow's acknowledgements
// waited; nil: it was full throughout, or they did not.
func (s scene) while(f record.Flow, link load) []fact.Fact {
	trip := s.roundTrip(f)
	if acks, measured := s.acknowledged(f, trip.longerUs); !link.Full() && trip.grown && measured {
		acks.While = true
		return facts(*acks, trip.fact())
	}
	return nil
}

// together is for the connections of a program that are counted together: which links they
// take is not known. Empty: not attributable.
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

// starved is who leaves a sender without data: linerate's own program, which
// always has more, when it does not come to write it, or its buffer, if that is sent before any
// program can write again.
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

// buffer distinguishes a send buffer that is too small from one that is full because a queue
// before a link holds what it has sent. The kernel counts the
// time only while it cannot take a write that has just sent something; a buffer
// that holds one packet is filled and sent by one write.
func (s scene) buffer(f record.Flow, waited float64) (by string, why []fact.Fact) {
	full := fact.BufferFull{Bytes: float64(f.SndbufBytes), Share: waited}
	if waited <= f.SndbufFullShare {
		full.Share, full.AllSent = f.SndbufFullShare, true
	}
	return s.unlessBehind(f, SendBuffer, facts(full))
}

// unlessBehind is a full link where a queue before it is why a flow's buffer or window is
// full; otherwise what was seen, and how much of a round trip was waiting. Where that is nearly all,
// the buffer or window is not named as the cause: it may be the queue that fills it.
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

// receiver distinguishes a slow receiver from one whose window is small.
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
// time. A queue before a full link holds all of a window, which stays open. A receiver with a full
// buffer acknowledges when its program reads, so that round trips take long as well, but then less
// is in flight on average than the window allows while it is open.
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

// closedBy is the cause of a window that its receiver closes. If that host was read, it had little
// unread; otherwise what closes a window is data that no program has read.
func (s scene) closedBy(f record.Flow) string {
	if _, seen := s.Reading(f.To); seen {
		return ReceiverWindow
	}
	return SlowReader
}

// congestion is what is left: neither end had a reason to wait.
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

// resent is the share of its bytes that a flow sent again.
func resent(f record.Flow) float64 {
	return share(float64(f.RetransBytes), float64(cmp.Or(f.SentBytes, f.AckedBytes)))
}
