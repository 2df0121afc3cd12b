package trust

import (
	"math"
	"slices"

	"linerate/internal/model/fact"
	"linerate/internal/model/flow"
	"linerate/internal/model/record"
)

// connected checks that every flow connected, unless the treatment allows that flows do not.
func connected(v view) (judged, bool) {
	opened := fact.FlowsOpened{Flows: len(v.Flows), Meant: v.Unreachable}
	for _, f := range v.Flows {
		if !f.Connected {
			opened.Missing = append(opened.Missing, ended(f))
		}
	}
	c := record.Check{Check: Connected, Pass: len(v.Flows) > 0 && (len(opened.Missing) == 0 || v.Unreachable),
		Facts: facts("", opened)}
	return judged{c, float64(len(opened.Missing))}, true
}

func ended(f record.Flow) fact.FlowEnd {
	return fact.FlowEnd{Flow: f.ID, From: f.From, To: f.To, Error: f.Error}
}

// alive checks that every flow that connected lasted through the window and carried something in it.
// A flow may end if an event of the study cut its path, which shows if no other flow used that path
// any more. With only one flow this is unknown. During an attack, flows that end are the result.
func alive(v view) (judged, bool) {
	var lost, gone []fact.FlowEnd
	var at float64
	n, seen := 0, 0
	for _, f := range v.Flows {
		if f.Connected {
			n++
		}
		if len(f.Outages) > 0 {
			seen++
		}
	}
	if n == 0 {
		return judged{}, false
	}
	for _, f := range v.Flows {
		if !f.Connected {
			continue
		}
		end := ended(f)
		failed := f.Transactions != nil && f.Transactions.Failed > 0
		if f.Alive && failed {
			end.Failed = f.Transactions.Failed
		}
		o := slices.IndexFunc(f.Outages, func(o record.Outage) bool { return o.Withdrawn && !o.Resumed })
		switch {
		case !f.Alive && o >= 0 && seen > 1:
			gone, at = append(gone, end), f.Outages[o].AtS
		case !f.Alive || failed:
			lost = append(lost, end)
		}
	}
	lasted := fact.FlowsLasted{Flows: n, Ended: lost, Meant: v.Unreachable}
	for _, f := range Silent(v.Trial) {
		lasted.Silent = append(lasted.Silent, ended(f))
	}
	failed := len(lost) > 0 || len(lasted.Silent) > 0 && !v.Unreachable
	c := record.Check{Check: Alive, Pass: !failed || len(v.Attacks) > 0}
	switch {
	case failed && c.Pass:
		lasted.By = fact.ByAttack
	case len(lost) == 0 && len(gone) > 0:
		lasted.Ended, lasted.By, lasted.AtS = gone, fact.ByEvent, at
	}
	c.Facts = facts("", lasted)
	return judged{c, float64(len(gone)) / float64(n)}, true
}

// leastSilence is the shortest window, in seconds, in which a flow without data cannot be explained by its first
// retransmission timeouts (1 s, then 2 s; RFC 6298).
const leastSilence = 3

// Silent returns the flows of Empty that were open throughout the window, unless it is below
// leastSilence: what was sent to them or by them was lost, or never sent.
func Silent(t record.Trial) []record.Flow {
	if t.WindowS < leastSilence {
		return nil
	}
	return slices.DeleteFunc(Empty(t), func(f record.Flow) bool { return !f.Alive })
}

// Empty returns the flows of a trial that were opened and carried nothing in the window, whether they
// ended in it or not. Flows that a foreign tool opened may have nothing to do, and so may those that are
// paced so slowly that nothing was due. What an event cut is not empty, but interrupted.
func Empty(t record.Trial) (list []record.Flow) {
	for _, f := range t.Flows {
		carried := f.ReceivedBytes > 0 || f.ArrivedBytes > 0 || f.GoodputBps > 0
		due := f.CapBps() == 0 || f.CapBps()/8*t.WindowS >= oneWrite
		if x := f.Transactions; x != nil {
			carried, due = x.Done > 0, f.PacePerS == 0 || f.PacePerS*t.WindowS >= leastDue
		}
		if f.Connected && due && !carried && f.Process == "" && len(f.Outages) == 0 {
			list = append(list, f)
		}
	}
	return list
}

// leastDue is the least number of scheduled requests in a window of which one must be answered in it.
const leastDue = 3

const (
	// unreadBytes is used as the size of a receive queue that was not recorded.
	unreadBytes = 256 << 10
	// oneWrite is what a sender passes to the kernel in one call. It counts as written when the call
	// returns, when part of it may already have arrived. Some modes pass more (record.Flow.CallBytes).
	oneWrite = 128 << 10
	// oneFrame is the largest amount that TCP sends at once (GSO).
	oneFrame = 64 << 10
)

// conservation checks that nothing was received that was not sent, and that the bytes acknowledged
// to the sender agree with those that the receiver read. For each flow, these counts may differ by
// what was in flight at an edge of the window: for bytes written the send buffer and one write, for
// bytes sent the window, for bytes acknowledged the receive queue and one round trip, and for
// datagrams the queues of the interfaces and the receive buffer. Lost datagrams are no fault. The
// kernel's count of bytes sent does not depend on writes, so where it is known it gives the
// stricter comparison.
func conservation(v view) (judged, bool) {
	var received, written, acked float64
	var differ *fact.FlowDiffer
	worst := 0.0
	consider := func(f record.Flow, used float64, d fact.FlowDiffer) {
		if used > worst {
			d.Flow, d.From, d.To = f.ID, f.From, f.To
			worst, differ = used, &d
		}
	}
	compare := func(f record.Flow, excess, allowed float64, counts string) {
		consider(f, excess/allowed, fact.FlowDiffer{Counts: counts, Bytes: excess, Allowed: allowed})
	}
	n, lost := 0, int64(0)
	for _, f := range v.Flows {
		if !f.Connected || (f.ReceivedBytes == 0 && f.WrittenBytes == 0) || f.CountedAt != "" {
			continue // nothing is known of one of its ends
		}
		n++
		got := float64(f.ReceivedBytes)
		received += got
		written += float64(f.WrittenBytes)
		perSecond := got / v.WindowS
		skew := v.skew[f.From] + v.skew[f.To]
		edges := perSecond * skew
		if x := f.Transactions; x != nil && x.Answered > 0 {
			// An answer is counted when it is written and when it is read; one for
			// each connection may be on its way at an edge.
			allowed := float64(x.Connections) + 1 + float64(x.Done)/v.WindowS*skew
			consider(f, float64(x.Done-x.Answered)/allowed, fact.FlowDiffer{Counts: fact.CountsAnswered, Done: x.Done,
				Answered: x.Answered, Allowed: allowed})
		}
		unread := float64(unreadBytes)
		switch {
		case f.ReceiverInfo == nil: // no TCP_INFO there: as much as the socket holds
			unread = max(unread, float64(f.RcvbufBytes))
		case f.ReceiverInfo.RcvSpace > 0:
			unread = float64(f.ReceiverInfo.RcvSpace)
			if f.ArrivedBytes > 0 {
				// Of a reader that falls behind more waits, up to the buffer: rcv_space is
				// what was read in a round trip. By how much that grew or shrank is known.
				unread = max(unread, min(math.Abs(got-float64(f.ArrivedBytes)), float64(f.RcvbufBytes)))
			}
		}
		held := float64(f.UnsentBytes)
		if d := f.Datagrams; d != nil {
			unread = max(unread, float64(d.BufferBytes))
			held = max(held, unreadBytes) + v.queued
			lost += d.Lost
			compare(f, float64(d.Received+d.Lost-d.Sent)*float64(d.Bytes), held+float64(f.CallBytes)+unread+edges,
				fact.CountsLost)
		}
		if f.SenderInfo != nil {
			held = max(held, float64(f.SenderInfo.SndCwnd)*float64(f.SenderInfo.SndMSS))
		}
		if f.Transactions != nil && flow.Of(f.Protocol).Transport == flow.UDP {
			continue // a network may double datagrams
		}
		compare(f, got-float64(f.WrittenBytes), held+max(oneWrite, float64(f.CallBytes))+unread+edges,
			fact.CountsWritten)
		if f.SentBytes > 0 {
			compare(f, got-float64(f.SentBytes), max(held, oneFrame)+unread+edges, fact.CountsSent)
		}
		if f.SenderInfo == nil || f.SenderInfo.Lacking("bytes_acked") != "" {
			continue // it is not known
		}
		acked += float64(f.AckedBytes)
		flight := unread + perSecond*float64(f.SenderInfo.RTTUs)/1e6 + edges
		compare(f, math.Abs(got-float64(f.AckedBytes)), flight, fact.CountsAcknowledged)
	}
	if n == 0 {
		return judged{}, false
	}
	c := record.Check{Check: Conservation, Pass: worst <= 1}
	moved := fact.BytesMoved{WrittenBytes: written, LostDatagrams: lost, AcknowledgedBytes: acked,
		ReceivedBytes: received}
	if !c.Pass {
		moved.Differ = differ
	}
	c.Facts = facts("", moved)
	return judged{c, worst}, true
}
