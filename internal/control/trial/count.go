package trial

import (
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
)

// ends is what a flow's two ends were at the window's begin, at its end, and after the
// senders stopped: of the sender and of the receiver. Zero: not read.
type ends struct{ s0, s1, s2, r0, r1, r2 message.FlowEnd }

func (r Readings) ends(f *Flow) (e ends) {
	find := func(list []message.FlowEnd) message.FlowEnd {
		for _, end := range list {
			if end.ID == f.ID {
				return end
			}
		}
		return message.FlowEnd{}
	}
	s, d := r.Replies[f.Sender()], r.Replies[f.Receiver()]
	return ends{
		s0: find(s.BeginFlows), s1: find(s.EndFlows), s2: find(s.FinalFlows),
		r0: find(d.BeginFlows), r1: find(d.EndFlows), r2: find(d.FinalFlows),
	}
}

// count makes the flows' records of what their ends counted, in their order.
func (r Readings) count(flows []*Flow, programs Programs, peer *Peer) []record.Flow {
	list := make([]record.Flow, len(flows))
	for i, f := range flows {
		e := r.ends(f)
		rec := f.record(e)
		if rec.Connected {
			fill(&rec, e.s0, e.s1, e.s2, e.r0, e.r1, e.r2)
			rec.UnreadBytes = unread(e.r0, e.r1, r.Replies[rec.To])
			rec.DryShare, rec.SndbufFullShare = dry(e.s0, e.s1, r.Replies[rec.From])
			rec.Bins = bins(r.Replies[rec.To], f.ID)
			if f.Process != "" {
				programs.enter(&rec, f, e)
			}
			if peer != nil {
				peer.enter(&rec, i, f, e, r.Replies[f.Opener])
			}
		}
		list[i] = rec
	}
	return list
}

// record is what is known of a flow without counting. The addresses of a connection that
// a program made are those that its opener's kernel reported.
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
		ID: f.ID, Protocol: f.Protocol, Process: f.Process, From: f.Sender(), To: f.Receiver(), OpenedBy: f.Opener,
		Error: f.Failure.Error(), Connected: f.Failure == nil, SourcePorts: f.SourcePorts,
		RateCapBps: float64(f.RateCap), WriteCapBps: float64(f.WriteCap), ReadCapBps: float64(f.ReadCap),
	}
	if f.Failure != nil {
		rec.Exhausted = f.Failure.Ports
	}
	if from.IsValid() {
		rec.Source = from.String()
	}
	if to.IsValid() {
		rec.Destination = to.String()
	}
	return rec
}

// foreign says that another program made the flow's connection, which sockets count.
func (f *Flow) foreign() bool {
	return f.Process != "" && f.Protocol != flow.UDP && f.Failure == nil
}

// sides orders what sender and receiver are by who opened the flow.
func (f *Flow) sides(sender, receiver message.FlowEnd) (opener, acceptor message.FlowEnd) {
	if f.OpenerSends {
		return sender, receiver
	}
	return receiver, sender
}

// fill computes one flow's figures from its two ends at the window's two edges.
func fill(rec *record.Flow, s0, s1, s2, r0, r1, r2 message.FlowEnd) {
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
		rec.OutOfOrderBytes = int64(s0.Info.Sacked) * int64(s0.Info.SndMSS)
		rec.BusyS = float64(s1.Info.BusyUs-s0.Info.BusyUs) / 1e6
		rec.RwndLimitedS = float64(s1.Info.RwndLimitedUs-s0.Info.RwndLimitedUs) / 1e6
		rec.SndbufLimitedS = float64(s1.Info.SndbufLimited-s0.Info.SndbufLimited) / 1e6
	}
	rec.SndbufBytes, rec.RcvbufBytes = s1.SndbufBytes, r1.RcvbufBytes
	if r0.Info != nil && r1.Info != nil {
		rec.ArrivedBytes = int64(r1.Info.BytesReceived - r0.Info.BytesReceived)
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
	rec.Datagrams = datagrams(s0.Datagrams, s1.Datagrams, r0.Datagrams, r1.Datagrams, r2.Datagrams)
	a0, a1, a2, b0, b1 := s0, s1, s2, r0, r1 // who opened asks
	if rec.OpenedBy == rec.To {
		a0, a1, a2, b0, b1 = r0, r1, r2, s0, s1
	}
	rec.Transactions = transactions(a0, a1, a2, b0, b1)
	if span := a1.AtNs - a0.AtNs; span > 0 && rec.Transactions != nil {
		rec.TransactionsPerS = float64(rec.Transactions.Done) * 1e9 / float64(span)
	}
	rec.Alive = s1.Alive && r1.Alive
	for _, e := range []message.FlowEnd{s1, r1} {
		if rec.Error == "" {
			rec.Error = e.Error.Error()
		}
	}
}

// datagrams is what became of a flow's datagrams in the window. The last reading
// has their delays.
func datagrams(s0, s1, r0, r1, r2 *record.Datagrams) *record.Datagrams {
	if s0 == nil || s1 == nil || r0 == nil || r1 == nil {
		return nil
	}
	d := &record.Datagrams{
		Sent: s1.Sent - s0.Sent, Received: r1.Received - r0.Received, Lost: r1.Lost - r0.Lost,
		Reordered: r1.Reordered - r0.Reordered, Duplicates: r1.Duplicates - r0.Duplicates,
		Stale: r1.Stale - r0.Stale, LostInBuffer: r1.LostInBuffer - r0.LostInBuffer,
		Bytes: s1.Bytes, MTU: s1.MTU, BufferBytes: r1.BufferBytes, JitterUs: r1.JitterUs,
	}
	if r2 != nil {
		d.Delay = r2.Delay
	}
	return d
}

// transactions is what became of a flow's transactions in the window, as the end
// counts that asked (a; the other is b). Connections and what waits are as they
// were at the window's end; the last reading has the latencies.
func transactions(a0, a1, a2, b0, b1 message.FlowEnd) *record.Transactions {
	if a0.Transactions == nil || a1.Transactions == nil {
		return nil
	}
	t, before := *a1.Transactions, a0.Transactions
	t.Done, t.Failed, t.Opened = t.Done-before.Done, t.Failed-before.Failed, t.Opened-before.Opened
	t.Unanswered, t.Late = t.Unanswered-before.Unanswered, t.Late-before.Late
	t.ResponseBytes = a1.ReceivedBytes - a0.ReceivedBytes
	if a2.Transactions != nil && a2.Transactions.Latency != nil {
		t.Latency = a2.Transactions.Latency
	}
	if b0.Transactions != nil && b1.Transactions != nil {
		t.Answered = b1.Transactions.Done - b0.Transactions.Done
	}
	return &t
}

// bins are a flow's received bytes between the samples.
func bins(reply message.WindowReply, id string) []int64 {
	find := func(list []record.FlowSample) (int64, bool) {
		for _, s := range list {
			if s.ID == id {
				return s.ReceivedBytes, true
			}
		}
		return 0, false
	}
	var last int64
	for _, e := range reply.BeginFlows {
		if e.ID == id {
			last = e.ReceivedBytes
		}
	}
	var list []int64
	for _, sample := range reply.Reading.Series {
		if at, ok := find(sample.Flows); ok {
			list = append(list, at-last)
			last = at
		}
	}
	return list
}
