package measure

import (
	"slices"

	"linerate/internal/control/trial"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
	"linerate/internal/model/study"
	"linerate/internal/science/trust"
)

// concludeIperf3 makes the document of a test. What this host sends is counted by
// the acknowledgements that came back in the window; for datagrams there are none,
// and the server's word is all there is.
func (s *session) concludeIperf3(t *record.Trial, readings trial.Readings, closed message.Iperf3Closed) (*record.Measure, error) {
	reply := readings.Replies[record.NodeClient]
	t.GoodputBps = 0
	for i := range t.Flows {
		if i < min(len(reply.BeginFlows), len(reply.EndFlows), len(reply.FinalFlows), len(closed.Counts)) {
			oneSided(&t.Flows[i], reply.BeginFlows[i], reply.EndFlows[i], reply.FinalFlows[i], closed.Counts[i])
			if t.Flows[i].From != record.NodeClient {
				t.Flows[i].CongestionControl = closed.CongestionControl
			} else {
				t.Flows[i].Bins = acknowledged(reply, t.Flows[i].ID)
			}
		}
		t.GoodputBps += t.Flows[i].GoodputBps
	}
	m, err := s.conclude(t, readings)
	if err != nil {
		return nil, err
	}
	m.Trust = slices.DeleteFunc(m.Trust, func(c record.Check) bool { return c.Check == trust.Conservation })
	m.Peer, m.PeerCPUPercent, m.PeerResults = closed.Peer, closed.CPUPercent, closed.Results
	var directions []trust.PeerDirection
	for i := range m.Directions {
		d := &m.Directions[i]
		sends := d.Direction == study.Write
		d.Counted, d.Peer = record.CountedReceived, peerCount(t, closed, sends)
		d.TotalBytes = total(t, closed, sends)
		if sends {
			d.Counted = record.CountedAcknowledged
			if s.byPeer(t) {
				d.Counted, d.Intervals = record.CountedByPeer, []record.MeasureInterval{}
			}
		}
		if d.LimitBps == 0 {
			d.LimitWhy = "unknown: this host's port tells no speed"
		}
		directions = append(directions, trust.PeerDirection{
			MeasureDirection: *d, Sends: sends, UDP: s.protocol() == flow.UDP,
			WindowS: t.WindowS, OmitS: closed.OmitS,
		})
	}
	m.Trust = append(m.Trust, trust.Peer(directions...)...)
	if m.LimitBps == 0 {
		m.LimitWhy = "unknown: this host's port tells no speed"
	}
	m.Unknown = s.unknown(m, closed)
	return m, nil
}

// byPeer: nothing here tells what has arrived there.
func (s *session) byPeer(t *record.Trial) bool {
	return s.protocol() == flow.UDP || slices.ContainsFunc(t.Flows, func(f record.Flow) bool {
		return f.From == record.NodeClient && f.SenderInfo == nil
	})
}

// oneSided fills a flow's figures in from this host's end and what the server says.
func oneSided(f *record.Flow, begin, end, final message.FlowEnd, peer record.PeerCount) {
	f.Alive, f.Error = f.Connected && end.Alive, end.Error
	// Who moves the bytes there is known, and not how.
	switch {
	case f.SendMode != "":
		f.ReceiveMode = "iperf3"
	case f.ReceiveMode != "":
		f.SendMode = "iperf3"
	}
	switch {
	case f.From != record.NodeClient:
		f.Datagrams = datagramsHere(begin.Datagrams, end.Datagrams, final.Datagrams)
	case begin.Info != nil && end.Info != nil:
		f.ReceivedBytes = f.AckedBytes
		if span := end.AtNs - begin.AtNs; span > 0 {
			f.GoodputBps = float64(f.AckedBytes) * 8e9 / float64(span)
		}
	default:
		f.ReceivedBytes, f.GoodputBps = peer.Bytes, peer.GoodputBps
		if span := end.AtNs - begin.AtNs; peer.Seconds == 0 && span > 0 {
			f.GoodputBps = float64(peer.Bytes) * 8e9 / float64(span) // before 3.2 it does not tell its time, which is about this
		}
		if d := datagramsHere(begin.Datagrams, end.Datagrams, nil); d != nil && peer.Datagrams != nil {
			d.Received, d.Lost, d.JitterUs = peer.Datagrams.Received, peer.Datagrams.Lost, peer.Datagrams.JitterUs
			f.Datagrams = d
		}
	}
}

// datagramsHere is what this host's end has counted in the window. As a receiver
// it knows by the numbers how many were sent.
func datagramsHere(begin, end, final *record.Datagrams) *record.Datagrams {
	if begin == nil || end == nil {
		return nil
	}
	d := *end
	d.Sent -= begin.Sent
	d.Received -= begin.Received
	d.Lost -= begin.Lost
	d.Reordered -= begin.Reordered
	d.Duplicates -= begin.Duplicates
	d.Stale -= begin.Stale
	d.LostInBuffer -= begin.LostInBuffer
	if final != nil {
		d.Delay = final.Delay
	}
	if d.Sent == 0 {
		d.Sent = d.Received + d.Lost
	}
	return &d
}

// acknowledged are a flow's acknowledged bytes between the samples.
func acknowledged(reply message.WindowReply, id string) []int64 {
	var last int64
	for _, e := range reply.BeginFlows {
		if e.ID == id && e.Info != nil {
			last = int64(e.Info.BytesAcked)
		}
	}
	var list []int64
	for _, sample := range reply.Reading.Series {
		for _, f := range sample.Flows {
			if f.ID == id && f.AckedBytes > 0 {
				list = append(list, f.AckedBytes-last)
				last = f.AckedBytes
			}
		}
	}
	return list
}

// peerCount is what the server says of a direction's streams together.
func peerCount(t *record.Trial, closed message.Iperf3Closed, sends bool) *record.PeerCount {
	all := record.PeerCount{Retransmits: -1}
	var d record.Datagrams
	for i, c := range closed.Counts {
		if i >= len(t.Flows) || (t.Flows[i].From == record.NodeClient) != sends {
			continue
		}
		all.Bytes += c.Bytes
		all.Seconds = max(all.Seconds, c.Seconds)
		if c.Retransmits >= 0 {
			all.Retransmits = max(all.Retransmits, 0) + c.Retransmits
		}
		if c.Datagrams != nil {
			all.Datagrams, all.WholeTest = &d, all.WholeTest || c.WholeTest
			d.Sent += c.Datagrams.Sent
			d.Received += c.Datagrams.Received
			d.Lost += c.Datagrams.Lost
			d.JitterUs = max(d.JitterUs, c.Datagrams.JitterUs)
		}
	}
	if all.Seconds > 0 {
		all.GoodputBps = float64(all.Bytes) * 8 / all.Seconds
	}
	return &all
}

// total is what this host has of a direction from the first byte to the last.
func total(t *record.Trial, closed message.Iperf3Closed, sends bool) (bytes int64) {
	for i, own := range closed.Totals {
		if i < len(t.Flows) && (t.Flows[i].From == record.NodeClient) == sends {
			bytes += own
		}
	}
	return bytes
}

// unknown lists what cannot be known with an iperf3 server.
func (s *session) unknown(m *record.Measure, closed message.Iperf3Closed) []string {
	list := []string{"a common window: iperf3 counts over its own time, which begins and ends apart from ours, and so does the time that it omits"}
	for _, d := range m.Directions {
		switch {
		case d.Counted == record.CountedByPeer:
			list = append(list, "what arrived in the window: only the server has counted that, over its own time")
		case d.Direction == study.Write:
			list = append(list, "what the server's program had read in the window: acknowledged bytes may wait in its kernel")
		default:
			list = append(list, "what lay in the server's send buffers, and what held its sending back")
		}
	}
	list = append(list, "the server's ports, other traffic on them, and its processors in the window: iperf3 tells its own share of a processor, over its own time")
	if closed.Peer == "iperf3" {
		list = append(list, "the server's version: it tells it with -J alone")
	}
	return append(list, "whether the server has done as it was asked: it confirms no option")
}
