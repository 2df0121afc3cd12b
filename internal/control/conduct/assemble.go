package conduct

import (
	"slices"

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
		from, to := f.Opened, f.Accepted
		if !f.OpenerSends {
			from, to = to, from
		}
		flow := record.Flow{
			ID: f.ID, From: sender, To: receiver, OpenedBy: f.Opener,
			Error: f.Failure, Connected: f.Failure == "",
		}
		if from.IsValid() {
			flow.Source = from.String()
		}
		if to.IsValid() {
			flow.Destination = to.String()
		}
		if flow.Connected {
			s0, s1, s2 := ends(sender, begin, f.ID), ends(sender, end, f.ID), ends(sender, final, f.ID)
			r0, r1 := ends(receiver, begin, f.ID), ends(receiver, end, f.ID)
			fill(&flow, s0, s1, s2, r0, r1)
			flow.Bins = bins(r.Replies[receiver], f.ID)
		}
		trial.Flows = append(trial.Flows, flow)
		trial.GoodputBps += flow.GoodputBps
		trial.SenderReportedBps += flow.SenderAverageBps
	}
}

// fill computes one flow's figures from its two ends at the window's two edges.
func fill(flow *record.Flow, s0, s1, s2, r0, r1 record.FlowEnd) {
	flow.ReceivedBytes = r1.ReceivedBytes - r0.ReceivedBytes
	flow.WrittenBytes = s1.WrittenBytes - s0.WrittenBytes
	flow.UnsentBytes = s1.UnsentBytes
	flow.CongestionControl = s1.CongestionControl
	flow.SenderInfo, flow.ReceiverInfo = s1.Info, r1.Info
	if s0.Info != nil && s1.Info != nil {
		flow.AckedBytes = int64(s1.Info.BytesAcked - s0.Info.BytesAcked)
		flow.RetransBytes = int64(s1.Info.BytesRetrans - s0.Info.BytesRetrans)
		flow.SentBytes = int64(s1.Info.BytesSent - s0.Info.BytesSent)
		flow.BusyS = float64(s1.Info.BusyUs-s0.Info.BusyUs) / 1e6
		flow.RwndLimitedS = float64(s1.Info.RwndLimitedUs-s0.Info.RwndLimitedUs) / 1e6
		flow.SndbufLimitedS = float64(s1.Info.SndbufLimited-s0.Info.SndbufLimited) / 1e6
	}
	if r0.Info != nil && r1.Info != nil {
		flow.ArrivedBytes = int64(r1.Info.BytesReceived - r0.Info.BytesReceived)
	}
	if span := r1.AtNs - r0.AtNs; span > 0 {
		flow.GoodputBps = float64(flow.ReceivedBytes) * 8e9 / float64(span)
	}
	// What a tool that counts at the sender would print: everything written
	// since its first write, over its own time.
	if own := s2.LastNs - s2.FirstNs; own > 0 {
		flow.SenderAverageBps = float64(s2.WrittenBytes) * 8e9 / float64(own)
	}
	flow.Alive = s1.Alive && r1.Alive
	for _, e := range []record.FlowEnd{s1, r1} {
		if flow.Error == "" {
			flow.Error = e.Error
		}
	}
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
		r.Ports = movePorts(r.Ports, offset)
	}
	move(&h.Begin)
	move(&h.End)
	for _, tables := range []*record.Tables{&h.Before, &h.Snapshot.Tables} {
		tables.BeganNs -= offset
		tables.EndedNs -= offset
	}
	h.Series = slices.Clone(h.Series)
	for i := range h.Series {
		h.Series[i].AtNs -= offset
		h.Series[i].BeganNs -= offset
		h.Series[i].EndedNs -= offset
		h.Series[i].Ports = movePorts(h.Series[i].Ports, offset)
	}
	return h
}

func movePorts(ports []record.PortCounters, offset int64) []record.PortCounters {
	ports = slices.Clone(ports)
	for i := range ports {
		ports[i].AtNs -= offset
	}
	return ports
}
