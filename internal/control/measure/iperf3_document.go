package measure

import (
	"linerate/internal/control/trial"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
	"linerate/internal/science/trust"
)

// iperf3Document is document, with the server's results of the test.
func (s *session) iperf3Document(t *record.Trial, readings trial.Readings, closed message.Iperf3Closed) (
	*record.Measure, error) {
	m, err := s.document(t, readings)
	if err != nil {
		return nil, err
	}
	m.Peer, m.PeerCPUPercent, m.PeerResults = closed.Peer, closed.CPUPercent, closed.Results
	var checked []trust.PeerDirection
	for i := range m.Directions {
		d := &m.Directions[i]
		sends := d.Direction == flow.Write
		d.Peer, d.TotalBytes = peerCount(t, closed, sends), total(t, closed, sends)
		for _, f := range t.Flows {
			if (f.From == record.NodeClient) == sends && record.CountedHere(d.Counted) {
				d.Counted = f.CountedAt
			}
		}
		if !record.CountedHere(d.Counted) {
			d.Intervals = []record.MeasureInterval{}
		}
		checked = append(checked, trust.PeerDirection{
			MeasureDirection: *d, Sends: sends, UDP: s.options.Flows.Protocol == flow.UDP,
			WindowS: t.WindowS, OmitS: closed.OmitS,
		})
	}
	m.Trust = append(m.Trust, trust.Peer(checked...)...)
	m.Unknown = s.unknown(m, closed)
	return m, nil
}

// peerCount is what the server counted of a direction's streams together.
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
			d.Add(c.Datagrams)
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
	list := []string{
		"a common window: iperf3 counts over its own time, which begins and ends at other instants than this host's, as does its omitted time"}
	for _, d := range m.Directions {
		if p := d.Peer; d.Direction == flow.Write && p != nil && p.Datagrams != nil && p.Datagrams.Lost > 0 {
			list = append(list,
				"where datagrams were lost: on the path, or in the server's receive buffer (there: nstat -az UdpRcvbufErrors; -w enlarges it)")
		}
		switch {
		case !record.CountedHere(d.Counted):
			list = append(list, "what arrived in the window: only the server has counted that, over its own time")
		case d.Direction == flow.Write:
			list = append(list,
				"what the server's program had read in the window: acknowledged bytes may wait in its kernel")
		default:
			list = append(list, "the bytes in the server's send buffers, and what held its sending back")
		}
	}
	list = append(list,
		"the server's interfaces, other traffic on them, and its processors in the window: iperf3 reports its own share of a processor, over its own time")
	if closed.Peer == "iperf3" {
		list = append(list, "the server's version: only a server started with -J reports it")
	}
	return append(list, "whether the server applied the options: it confirms none")
}
