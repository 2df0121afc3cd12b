package trial

import (
	"slices"
	"strings"

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
	ends := func(host string, pick func(record.WindowReply) []record.FlowEnd, id string) record.FlowEnd {
		for _, e := range pick(r.Replies[host]) {
			if e.ID == id {
				return e
			}
		}
		return record.FlowEnd{}
	}
	begin := func(r record.WindowReply) []record.FlowEnd { return r.BeginFlows }
	end := func(r record.WindowReply) []record.FlowEnd { return r.EndFlows }
	final := func(r record.WindowReply) []record.FlowEnd { return r.FinalFlows }
	for _, f := range flows {
		sender, receiver := f.Sender(), f.Receiver()
		wrong := ""
		if f.Process != "" && f.Protocol != record.ProtocolUDP && f.Failure == "" {
			wrong = f.connect(ends(f.Opener, end, f.ID), ends(f.Acceptor, end, f.ID))
		}
		from, to := f.Opened, f.Accepted
		if !f.OpenerSends {
			from, to = to, from
		}
		flow := record.Flow{
			ID: f.ID, Protocol: f.Protocol, Process: f.Process, From: sender, To: receiver, OpenedBy: f.Opener,
			Error: f.Failure, Connected: f.Failure == "", Exhausted: f.Exhausted, SourcePorts: f.SourcePorts,
			RateCapBps: float64(f.RateCap), WriteCapBps: float64(f.WriteCap), ReadCapBps: float64(f.ReadCap),
		}
		if from.IsValid() {
			flow.Source = from.String()
		}
		if to.IsValid() {
			flow.Destination = to.String()
		}
		if flow.Connected {
			s0, s1, s2 := ends(sender, begin, f.ID), ends(sender, end, f.ID), ends(sender, final, f.ID)
			r0, r1, r2 := ends(receiver, begin, f.ID), ends(receiver, end, f.ID), ends(receiver, final, f.ID)
			fill(&flow, s0, s1, s2, r0, r1, r2)
			if f.Process != "" {
				ofTool(&flow, s0, r0, wrong)
			}
			flow.UnreadBytes = unread(r0, r1, r.Replies[receiver])
			flow.DryShare, flow.SndbufFullShare = dry(s0, s1, r.Replies[sender])
			flow.Bins = bins(r.Replies[receiver], f.ID)
		}
		trial.Flows = append(trial.Flows, flow)
		if record.Bulk(flow.Protocol) {
			trial.GoodputBps += flow.GoodputBps
			trial.SenderReportedBps += flow.SenderAverageBps
		}
	}
}

// fill computes one flow's figures from its two ends at the window's two edges.
func fill(flow *record.Flow, s0, s1, s2, r0, r1, r2 record.FlowEnd) {
	flow.ReceivedBytes = r1.ReceivedBytes - r0.ReceivedBytes
	flow.WrittenBytes = s1.WrittenBytes - s0.WrittenBytes
	flow.UnsentBytes = s1.UnsentBytes
	flow.CongestionControl = s1.CongestionControl
	flow.SenderInfo, flow.ReceiverInfo = s1.Info, r1.Info
	flow.SendMode, flow.ReceiveMode, flow.CallBytes = s1.Mode, r1.Mode, s1.CallBytes
	flow.ModeNote = strings.Trim(s1.ModeNote+"; "+r1.ModeNote, "; ")
	if s0.Info != nil && s1.Info != nil {
		flow.AckedBytes = int64(s1.Info.BytesAcked - s0.Info.BytesAcked)
		flow.RetransBytes = int64(s1.Info.BytesRetrans - s0.Info.BytesRetrans)
		flow.RetransSegments = int64(s1.Info.TotalRetrans - s0.Info.TotalRetrans)
		flow.SentBytes = int64(s1.Info.BytesSent - s0.Info.BytesSent)
		flow.OutOfOrderBytes = int64(s0.Info.Sacked) * int64(s0.Info.SndMSS)
		flow.BusyS = float64(s1.Info.BusyUs-s0.Info.BusyUs) / 1e6
		flow.RwndLimitedS = float64(s1.Info.RwndLimitedUs-s0.Info.RwndLimitedUs) / 1e6
		flow.SndbufLimitedS = float64(s1.Info.SndbufLimited-s0.Info.SndbufLimited) / 1e6
	}
	flow.SndbufBytes, flow.RcvbufBytes = s1.SndbufBytes, r1.RcvbufBytes
	if r0.Info != nil && r1.Info != nil {
		flow.ArrivedBytes = int64(r1.Info.BytesReceived - r0.Info.BytesReceived)
	}
	if span := r1.AtNs - r0.AtNs; span > 0 {
		flow.GoodputBps = float64(flow.ReceivedBytes) * 8e9 / float64(span)
	}
	// What a tool that counts at the sender would print: everything written
	// since its first write, over its own time. That goes on while a write waits
	// for room, however long ago the last one returned.
	last := s2.LastNs
	if s1.Alive {
		last = max(last, s1.AtNs)
	}
	if own := last - s2.FirstNs; own > 0 && s2.FirstNs > 0 {
		flow.SenderAverageBps = float64(s2.WrittenBytes) * 8e9 / float64(own)
	}
	if flow.Protocol == record.ProtocolUDP {
		flow.SentBytes = flow.WrittenBytes // nothing is sent again, nor later
	}
	flow.Datagrams = datagrams(s0.Datagrams, s1.Datagrams, r0.Datagrams, r1.Datagrams, r2.Datagrams)
	a0, a1, a2, b0, b1 := s0, s1, s2, r0, r1 // who opened asks
	if flow.OpenedBy == flow.To {
		a0, a1, a2, b0, b1 = r0, r1, r2, s0, s1
	}
	flow.Transactions = transactions(a0, a1, a2, b0, b1)
	if span := a1.AtNs - a0.AtNs; span > 0 && flow.Transactions != nil {
		flow.TransactionsPerS = float64(flow.Transactions.Done) * 1e9 / float64(span)
	}
	flow.Alive = s1.Alive && r1.Alive
	for _, e := range []record.FlowEnd{s1, r1} {
		if flow.Error == "" {
			flow.Error = e.Error
		}
	}
}

// ofTool: a program opens its connections while the trial is under way.
func ofTool(flow *record.Flow, s0, r0 record.FlowEnd, wrong string) {
	if flow.Alive && (!s0.Alive || !r0.Alive) {
		flow.Alive, wrong = false, "its connection was not there yet when the window began"
	}
	if flow.Error == "" && wrong != "" {
		flow.Alive, flow.Error = false, wrong
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
func transactions(a0, a1, a2, b0, b1 record.FlowEnd) *record.Transactions {
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
func bins(reply record.WindowReply, id string) []int64 {
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
