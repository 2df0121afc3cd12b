package trial

import (
	"cmp"
	"slices"
	"time"

	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// ends are the counts of a flow's sender (s) and receiver (r) at the begin of the window (0), at
// its end (1), and after the senders stopped (2). Zero: not read.
type ends struct{ s0, s1, s2, r0, r1, r2 message.FlowEnd }

func (r Readings) ends(f *Flow) (e ends) {
	find := func(list []message.FlowEnd) (end message.FlowEnd) {
		if i := slices.IndexFunc(list, func(e message.FlowEnd) bool { return e.ID == f.ID }); i >= 0 {
			end = list[i]
		}
		return end
	}
	s, d := r.Replies[f.Sender()], r.Replies[f.Receiver()]
	return ends{
		s0: find(s.BeginFlows), s1: find(s.EndFlows), s2: find(s.FinalFlows),
		r0: find(d.BeginFlows), r1: find(d.EndFlows), r2: find(d.FinalFlows),
	}
}

// count returns the records of the flows, from the counts at their ends, in their order.
func (r Readings) count(flows []*Flow, programs Programs, peer *Peer) []record.Flow {
	list := make([]record.Flow, len(flows))
	for i, f := range flows {
		e := r.ends(f)
		rec := f.record(e)
		if rec.Connected {
			fill(&rec, e)
			countUnfollowed(rec.Datagrams, e, r.Replies[rec.To].Reading.Series)
			rec.UnreadBytes = unread(e.r0, e.r1, r.Replies[rec.To])
			windows(e.s0, e.s1, r.Replies[rec.From]).fill(&rec)
			rec.Bins = bins(r.Replies[rec.To], f.ID, e.r0.ReceivedBytes, received)
			if f.Process != "" {
				programs.fill(&rec, f, e, r.Replies[rec.From])
			}
			by := peer
			if f.Served() {
				by = &Peer{}
			}
			if by != nil {
				by.fill(&rec, i, f, e, r.Replies[f.Opener])
			}
		} else if opener, _ := f.sides(e.s2, e.r2); opener.Transactions != nil && rec.Exhausted == nil {
			t := opener.Transactions // of those that were opened before one failed
			rec.Transactions = &record.Transactions{Connections: t.Connections, Opened: t.Opened}
		}
		list[i] = rec
	}
	return list
}

// record returns what is known of a flow without its counts. If another program made the
// connection, the addresses are those that the opener's kernel reported.
func (f *Flow) record(e ends) record.Flow {
	from, to := f.Opened, f.Accepted
	if opener, _ := f.sides(e.s1, e.r1); f.foreign() {
		if opener.Local.IsValid() {
			from = opener.Local
		}
		if opener.Remote.IsValid() {
			to = opener.Remote // the port of the data
		}
	}
	if !f.OpenerSends {
		from, to = to, from
	}
	rec := record.Flow{
		Probe: f.Probe,
		ID:    f.ID, Protocol: f.Protocol, Process: f.Process, From: f.Sender(), To: f.Receiver(), OpenedBy: f.Opener,
		Error: f.Failure.Error(), Connected: f.Failure == nil, SourcePorts: f.SourcePorts,
		RateCapBps: float64(f.Pacing(to.Addr().Is6())), PacePerS: duePerS(f), WriteCapBps: float64(f.WriteCap),
		ReadCapBps: float64(f.ReadCap),
	}
	if f.Failure != nil {
		rec.Exhausted, rec.NoDescriptors = f.Failure.Ports, f.Failure.Descriptors
	}
	if from.IsValid() {
		rec.Source = from.String()
	}
	if to.IsValid() {
		rec.Destination = to.String()
	}
	return rec
}

// duePerS returns how many transactions per second a flow's schedule has; 0: it has no schedule.
func duePerS(f *Flow) float64 {
	if !flow.Of(f.Protocol).Transactional() {
		return 0
	}
	return f.Pace
}

// foreign reports whether another program made the flow's connection, so that it is counted at its
// sockets.
func (f *Flow) foreign() bool {
	return f.Process != "" && flow.Of(f.Protocol).Transport != flow.UDP && f.Failure == nil
}

// sides returns the sender's and receiver's counts as those of the opener and the acceptor.
func (f *Flow) sides(sender, receiver message.FlowEnd) (opener, acceptor message.FlowEnd) {
	if f.OpenerSends {
		return sender, receiver
	}
	return receiver, sender
}

// fill computes the figures of a flow from the counts of its ends at the edges of the window.
func fill(rec *record.Flow, e ends) {
	s0, s1, s2, r0, r1 := e.s0, e.s1, e.s2, e.r0, e.r1
	rec.ReceivedBytes = r1.ReceivedBytes - r0.ReceivedBytes
	rec.WrittenBytes = s1.WrittenBytes - s0.WrittenBytes
	rec.UnsentBytes = s1.UnsentBytes
	rec.CongestionControl = s1.CongestionControl
	rec.SenderInfo, rec.ReceiverInfo = s1.Info, r1.Info
	rec.SendMode, rec.ReceiveMode, rec.CallBytes = s1.Mode, r1.Mode, s1.CallBytes
	rec.ModeNote = notes(s1.ModeNote, r1.ModeNote)
	if s0.Info != nil && s1.Info != nil {
		rec.AckedBytes = int64(s1.Info.BytesAcked - s0.Info.BytesAcked)
		rec.RetransBytes = int64(s1.Info.BytesRetrans - s0.Info.BytesRetrans)
		rec.RetransSegments = int64(s1.Info.TotalRetrans - s0.Info.TotalRetrans)
		rec.SentBytes = int64(s1.Info.BytesSent - s0.Info.BytesSent)
		if s1.Info.Lacking("bytes_retrans") != "" {
			rec.RetransBytes = rec.RetransSegments * int64(s1.Info.SndMSS)
		}
		rec.OutOfOrderBytes = int64(s0.Info.Sacked) * int64(s0.Info.SndMSS)
		rec.BusyS = float64(s1.Info.BusyUs-s0.Info.BusyUs) / 1e6
		rec.RwndLimitedS = float64(s1.Info.RwndLimitedUs-s0.Info.RwndLimitedUs) / 1e6
		rec.SndbufLimitedS = float64(s1.Info.SndbufLimited-s0.Info.SndbufLimited) / 1e6
	}
	rec.SndbufBytes, rec.RcvbufBytes = s1.SndbufBytes, r1.RcvbufBytes
	if r0.Info != nil && r1.Info != nil {
		rec.ArrivedBytes = int64(r1.Info.BytesReceived - r0.Info.BytesReceived)
		if s0.Info == nil {
			rec.HeldBytes = max(r0.HeldBytes, r1.HeldBytes)
		}
	}
	if span := r1.AtNs - r0.AtNs; span > 0 {
		rec.GoodputBps = float64(rec.ReceivedBytes) * 8e9 / float64(span)
	}
	// What a tool that counts at the sender would print: everything written
	// since its first write, over its own time. That goes on while a write waits
	// for room, however long ago the last one returned.
	last := s2.LastNs
	if s1.Alive {
		last = max(last, s1.AtNs)
	}
	if own := last - s2.FirstNs; own > 0 && s2.FirstNs > 0 {
		rec.SenderAverageBps = float64(s2.WrittenBytes) * 8e9 / float64(own)
	}
	if rec.Protocol == flow.UDP {
		rec.SentBytes = rec.WrittenBytes // nothing is sent again, nor later
	}
	rec.Datagrams = datagrams(e)
	if rec.OpenedBy == rec.To { // the opener asks
		e = ends{s0: e.r0, s1: e.r1, s2: e.r2, r0: e.s0, r1: e.s1}
	}
	rec.Transactions = transactions(e)
	if span := e.s1.AtNs - e.s0.AtNs; span > 0 && rec.Transactions != nil {
		rec.TransactionsPerS = float64(rec.Transactions.Done) * 1e9 / float64(span)
	}
	rec.Alive = s1.Alive && r1.Alive
	rec.Error = cmp.Or(rec.Error, s1.Error.Error(), r1.Error.Error())
}

// datagrams returns what became of a flow's datagrams in the window; nil: they were not counted.
func datagrams(e ends) *record.Datagrams {
	d := datagramsHere(e.r0.Datagrams, e.r1.Datagrams, e.r2.Datagrams)
	before, sent := e.s0.Datagrams, e.s1.Datagrams
	if d == nil || before == nil || sent == nil {
		return nil
	}
	d.Sent, d.Bytes, d.MTU = sent.Sent-before.Sent, sent.Bytes, sent.MTU
	d.Skipped, d.BlockedUs = sent.Skipped-before.Skipped, sent.BlockedUs-before.BlockedUs
	if after := e.s2.Datagrams; after != nil {
		d.Lateness = after.Lateness
	}
	return d
}

// unfollowed is how long, in nanoseconds, a datagram may be in flight while no later one arrives;
// after that it counts as lost. A receiver detects a loss only by a later datagram.
const unfollowed = int64(time.Second)

// countUnfollowed adds to d.Lost the datagrams that were in flight at the end of the window if none
// arrived for the time unfollowed before, or in the whole window, and none until the senders
// stopped. It subtracts those that were in flight at the begin and lost in the same way.
func countUnfollowed(d *record.Datagrams, e ends, series []netstate.Sample) {
	if d == nil || e.s0.Datagrams == nil || e.s1.Datagrams == nil || e.r2.Datagrams == nil {
		return
	}
	begin, end, final := *e.r0.Datagrams, *e.r1.Datagrams, e.r2.Datagrams.Received
	first, last := e.r0.AtNs, e.r1.AtNs // the readings before the first arrival and after the last one
	for _, sample := range series {
		for _, f := range sample.Flows {
			if f.ID != e.r1.ID {
				continue
			}
			if f.Datagrams <= begin.Received {
				first = max(first, sample.AtNs)
			}
			if f.Datagrams >= final {
				last = min(last, sample.AtNs)
			}
		}
	}
	underWay := func(sent *record.Datagrams, at record.Datagrams) int64 {
		return max(0, sent.Sent-at.Received-at.Lost)
	}
	if final == begin.Received || final == end.Received && e.r1.AtNs-last >= unfollowed {
		d.Lost += underWay(e.s1.Datagrams, end)
	}
	if final == begin.Received || first-e.r0.AtNs >= unfollowed {
		d.Lost -= min(d.Lost, underWay(e.s0.Datagrams, begin))
	}
}

// transactions returns what became of a flow's transactions in the window, by the count of the end
// that sends requests, which must be the sender of e. Connections are those at the end of the
// window. Latencies are in the last reading. It returns nil if transactions were not counted.
func transactions(e ends) *record.Transactions {
	if e.s0.Transactions == nil || e.s1.Transactions == nil {
		return nil
	}
	t, before := *e.s1.Transactions, e.s0.Transactions
	t.Done, t.Failed, t.Opened = t.Done-before.Done, t.Failed-before.Failed, t.Opened-before.Opened
	t.Unanswered, t.Late, t.Spun = t.Unanswered-before.Unanswered, t.Late-before.Late, t.Spun-before.Spun
	if 2*t.Spun > t.Done {
		t.Wait = record.WaitSpin
	}
	t.ResponseBytes = e.s1.ReceivedBytes - e.s0.ReceivedBytes
	if t.Application != nil {
		t.Application = t.Application.Since(before.Application)
	}
	if final := e.s2.Transactions; final != nil {
		t.TakeTimes(final)
		if t.Application != nil {
			t.Connections = final.Connections // that the server has not closed
		}
	}
	if e.r0.Transactions != nil && e.r1.Transactions != nil {
		t.Answered = e.r1.Transactions.Done - e.r0.Transactions.Done
	}
	return &t
}

// bins returns by how much a flow's count grew from one sample to the next, the first from begin.
// Samples without the count are left out.
func bins(reply message.WindowReply, id string, begin int64, count func(netstate.FlowSample) (n int64, known bool)) (
	list []int64) {
	for _, sample := range reply.Reading.Series {
		i := slices.IndexFunc(sample.Flows, func(f netstate.FlowSample) bool { return f.ID == id })
		if i < 0 {
			continue
		}
		if n, known := count(sample.Flows[i]); known {
			list, begin = append(list, n-begin), n
		}
	}
	return list
}

func received(f netstate.FlowSample) (int64, bool)     { return f.ReceivedBytes, true }
func acknowledged(f netstate.FlowSample) (int64, bool) { return f.AckedBytes, f.AckedBytes > 0 }
