package trial

import (
	"slices"
	"strings"

	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
)

// Enter writes into a trial's record what the nodes read, all on the conductor's
// clock. Flows and nodes are in the order given.
func (r Readings) Enter(trial *record.Trial, nodes []string, flows []*Flow) {
	trial.WindowS = r.Duration.Seconds()
	for _, node := range nodes {
		reply, offset := r.Replies[node], r.Clocks[node]
		trial.Clocks = append(trial.Clocks, offset)
		trial.Hosts = append(trial.Hosts, onOurClock(reply.Reading, offset.OffsetNs))
	}
	r.enterEvents(trial)
	ends := func(host string, pick func(message.WindowReply) []message.FlowEnd, id string) message.FlowEnd {
		for _, e := range pick(r.Replies[host]) {
			if e.ID == id {
				return e
			}
		}
		return message.FlowEnd{}
	}
	begin := func(r message.WindowReply) []message.FlowEnd { return r.BeginFlows }
	end := func(r message.WindowReply) []message.FlowEnd { return r.EndFlows }
	final := func(r message.WindowReply) []message.FlowEnd { return r.FinalFlows }
	for _, f := range flows {
		sender, receiver := f.Sender(), f.Receiver()
		wrong := ""
		if f.Process != "" && f.Protocol != flow.UDP && f.Failure == "" {
			wrong = f.connect(ends(f.Opener, end, f.ID), ends(f.Acceptor, end, f.ID))
		}
		from, to := f.Opened, f.Accepted
		if !f.OpenerSends {
			from, to = to, from
		}
		rec := record.Flow{
			ID: f.ID, Protocol: f.Protocol, Process: f.Process, From: sender, To: receiver, OpenedBy: f.Opener,
			Error: f.Failure, Connected: f.Failure == "", Exhausted: f.Exhausted, SourcePorts: f.SourcePorts,
			RateCapBps: float64(f.RateCap), WriteCapBps: float64(f.WriteCap), ReadCapBps: float64(f.ReadCap),
		}
		if from.IsValid() {
			rec.Source = from.String()
		}
		if to.IsValid() {
			rec.Destination = to.String()
		}
		if rec.Connected {
			s0, s1, s2 := ends(sender, begin, f.ID), ends(sender, end, f.ID), ends(sender, final, f.ID)
			r0, r1, r2 := ends(receiver, begin, f.ID), ends(receiver, end, f.ID), ends(receiver, final, f.ID)
			fill(&rec, s0, s1, s2, r0, r1, r2)
			if f.Process != "" {
				ofTool(&rec, s0, r0, wrong)
			}
			rec.UnreadBytes = unread(r0, r1, r.Replies[receiver])
			rec.DryShare, rec.SndbufFullShare = dry(s0, s1, r.Replies[sender])
			rec.Bins = bins(r.Replies[receiver], f.ID)
		}
		trial.Flows = append(trial.Flows, rec)
		if flow.Bulk(rec.Protocol) {
			trial.GoodputBps += rec.GoodputBps
			trial.SenderReportedBps += rec.SenderAverageBps
		}
	}
}

// fill computes one flow's figures from its two ends at the window's two edges.
func fill(rec *record.Flow, s0, s1, s2, r0, r1, r2 message.FlowEnd) {
	rec.ReceivedBytes = r1.ReceivedBytes - r0.ReceivedBytes
	rec.WrittenBytes = s1.WrittenBytes - s0.WrittenBytes
	rec.UnsentBytes = s1.UnsentBytes
	rec.CongestionControl = s1.CongestionControl
	rec.SenderInfo, rec.ReceiverInfo = s1.Info, r1.Info
	rec.SendMode, rec.ReceiveMode, rec.CallBytes = s1.Mode, r1.Mode, s1.CallBytes
	rec.ModeNote = strings.Trim(s1.ModeNote+"; "+r1.ModeNote, "; ")
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
			rec.Error = e.Error
		}
	}
}

// ofTool: a program opens its connections while the trial is under way.
func ofTool(rec *record.Flow, s0, r0 message.FlowEnd, wrong string) {
	if rec.Alive && (!s0.Alive || !r0.Alive) {
		rec.Alive, wrong = false, "its connection was not there yet when the window began"
	}
	if rec.Error == "" && wrong != "" {
		rec.Alive, rec.Error = false, wrong
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

// onOurClock moves a host's instants to the conductor's clock.
func onOurClock(h record.HostReading, offset int64) record.HostReading {
	move := func(r *record.Reading) {
		r.ScheduledNs -= offset
		r.BeganNs -= offset
		r.EndedNs -= offset
		r.Interfaces = movePorts(r.Interfaces, offset)
	}
	move(&h.Begin)
	move(&h.End)
	for _, tables := range []*record.Tables{&h.Before, &h.Snapshot.Tables} {
		tables.BeganNs -= offset
		tables.EndedNs -= offset
	}
	h.Arrivals, h.Gaps = slices.Clone(h.Arrivals), slices.Clone(h.Gaps)
	for i := range h.Arrivals {
		if a := &h.Arrivals[i]; a.LastNs != 0 {
			a.LastNs -= offset
		}
	}
	for i := range h.Gaps {
		h.Gaps[i].FromNs -= offset
		h.Gaps[i].ToNs -= offset
	}
	h.Series = slices.Clone(h.Series)
	for i := range h.Series {
		h.Series[i].AtNs -= offset
		h.Series[i].BeganNs -= offset
		h.Series[i].EndedNs -= offset
		h.Series[i].Interfaces = movePorts(h.Series[i].Interfaces, offset)
	}
	return h
}

func movePorts(ports []record.InterfaceCounters, offset int64) []record.InterfaceCounters {
	ports = slices.Clone(ports)
	for i := range ports {
		ports[i].AtNs -= offset
	}
	return ports
}
