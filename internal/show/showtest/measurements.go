package text

import (
	"fmt"

	"linerate/internal/model/flow"
	"linerate/internal/model/record"
)

// withPeer is a measurement against an iperf3 server.
func withPeer(counted string) *record.Measure {
	m := measurement(1)
	m.Peer, m.PeerCPUPercent = "iperf3 3.12", 12.4
	m.Unknown = []string{"a common window: iperf3 counts over its own time", "whether the server has done as it was asked"}
	m.Ends = m.Ends[:1]
	d := &m.Directions[0]
	d.Counted = counted
	d.Peer = &record.PeerCount{Bytes: 1_190_000_000, Seconds: 10.12, GoodputBps: 940.7e6, Retransmits: 7}
	if counted == record.CountedReceived {
		d.Direction = "read"
	}
	if counted == record.CountedByPeer {
		m.Protocol = flow.UDP
		d.Peer.WholeTest = true
		d.Peer.Datagrams = &record.Datagrams{Received: 821_000, Lost: 5_000}
		d.Datagrams = &record.Datagrams{Sent: 822_000, Received: 821_000, Lost: 5_000, JitterUs: 13}
		d.LostShare = 0.00605
	}
	return m
}

// measurement is one of so many TCP flows.
func measurement(flows int) *record.Measure {
	m := &record.Measure{
		Address: "10.0.0.1:5202", Protocol: "tcp", DurationS: 10, WarmupS: 1, CPUSPerGigabyte: 0.53,
		Directions: []record.MeasureDirection{{
			Direction: "write", Flows: flows, GoodputBps: 941.2e6, LimitBps: 941.5e6, LimitWhy: "1 Gbit/s × 1448/1538",
			Intervals: []record.MeasureInterval{{GoodputBps: 940e6}, {GoodputBps: 942e6}},
		}},
		Ends: []record.MeasureEnd{
			{HostEnvironment: record.HostEnvironment{Host: "client", CPUs: 8}, CPUSPerGigabyte: 0.31, CPUBusy: 0.05},
			{HostEnvironment: record.HostEnvironment{Host: "server", CPUs: 1}, CPUSPerGigabyte: 0.22, CPUBusy: 0.3},
		},
		Trust: []record.Check{{Check: "wire", Pass: true}, {Check: "limit", Pass: true}},
	}
	for i := range flows {
		m.Flows = append(m.Flows, record.Flow{
			ID: fmt.Sprintf("w%d", i+1), Source: "10.0.0.2:33000", Destination: "10.0.0.1:5202", Connected: true,
			GoodputBps: float64(flows-i) * 1e6, RetransBytes: 2896, CongestionControl: "cubic",
			LimitedBy: "network", SenderInfo: &record.TCPInfo{RTTUs: 1234},
		})
	}
	return m
}

// datagrams makes a measurement one of UDP.
func datagrams(m *record.Measure) *record.Measure {
	m.Protocol = "udp"
	lost := int64(0)
	var sum record.Datagrams
	for i := range m.Flows {
		f := &m.Flows[i]
		f.SenderInfo, f.LimitedBy, f.CongestionControl = nil, "", ""
		f.Datagrams = &record.Datagrams{Sent: 1_000_000, Received: 999_500, Lost: 480, Reordered: 3, Duplicates: 1, JitterUs: 12.34}
		lost += f.Datagrams.Lost
		sum.Sent, sum.Received = sum.Sent+f.Datagrams.Sent, sum.Received+f.Datagrams.Received
	}
	sum.Lost, sum.Reordered, sum.Duplicates, sum.JitterUs = lost, 3, 1, 12.34
	sum.Delay = &record.Distribution{P50Us: 20, P90Us: 40.5, P99Us: 812, P999Us: 1500, MaxUs: 2.5e6}
	m.Datagrams, m.Lost, m.LostShare = &sum, &lost, 0.00048
	m.Directions[0].MeasureCounts = m.MeasureCounts
	return m
}

// transacting makes a measurement one of requests and responses.
func transacting(m *record.Measure) *record.Measure {
	m.Protocol = "rr"
	l := &record.Distribution{P50Us: 45, P90Us: 51.2, P99Us: 98.7, P999Us: 310, P9999Us: 1250, MaxUs: 4000}
	for i := range m.Flows {
		f := &m.Flows[i]
		f.Transactions, f.TransactionsPerS = &record.Transactions{Done: 213_456, Connections: 8, Latency: l}, 21345.6
	}
	m.Transactions = &record.Transactions{Done: 213_456, Failed: 2, Connections: 8}
	m.RatePerS, m.LatencyUs, m.CPUUsPerTransaction = 21345.6, l, 31.2
	d := &m.Directions[0]
	d.MeasureCounts = m.MeasureCounts
	d.Intervals = []record.MeasureInterval{{RatePerS: 21000}, {RatePerS: 22000}}
	m.Ends[0].CPUUsPerTransaction, m.Ends[1].CPUUsPerTransaction = 20, 11.2
	m.Ends[0].BytesPerConnection, m.Ends[1].BytesPerConnection = 512, 1234
	return m
}
