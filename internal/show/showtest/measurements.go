package showtest

import (
	"fmt"

	"linerate/internal/model/flow"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/show/export"
)

// WithPeer returns a measurement against an iperf3 server.
func WithPeer(counted string) *export.Measurement {
	m := Measurement(1)
	m.Peer, m.PeerCPUPercent = "iperf3 3.12", 12.4
	m.Unknown = []string{"a common window: iperf3 counts over its own time",
		"whether the server has done as it was asked"}
	m.Ends = m.Ends[:1]
	d := &m.Directions[0]
	d.Counted = counted
	d.Peer = &record.PeerCount{Bytes: 1_190_000_000, Seconds: 10.12, GoodputBps: 940.7e6, Retransmits: 7}
	if counted == record.CountedReceived {
		d.Direction, d.Part.From, d.Part.To = "read", d.Part.To, d.Part.From
	}
	if !record.CountedHere(counted) {
		m.Protocol = flow.UDP
		d.Peer.WholeTest = true
		d.Peer.Datagrams = &record.Datagrams{Received: 821_000, Lost: 5_000}
		d.Datagrams = &record.Datagrams{Sent: 822_000, Received: 821_000, Lost: 5_000, JitterUs: 13}
		d.LostShare, d.WrittenBytes = 0.00605, 822_000*1428+420_000
	}
	return m
}

// Measurement returns a measurement with this number of TCP flows.
func Measurement(flows int) *export.Measurement {
	m := &export.Measurement{
		Address: "10.0.0.1:5202", Protocol: "tcp", DurationS: 10, WarmupS: 1, CPUSPerGigabyte: 0.53,
		Directions: []export.Direction{{
			Direction: "write", Part: record.Part{From: record.NodeClient, To: record.NodeServer, Flows: flows,
				GoodputBps: 941.2e6, LimitBps: 941.5e6, LimitWhy: "1 Gbit/s × 1448/1538",
				Intervals: []record.Interval{{GoodputBps: 940e6}, {GoodputBps: 942e6}}},
		}},
		Ends: []export.End{
			{HostEnvironment: netstate.HostEnvironment{Host: "client", CPUs: 8}, CPUSPerGigabyte: 0.31, CPUBusy: 0.05},
			{HostEnvironment: netstate.HostEnvironment{Host: "server", CPUs: 1}, CPUSPerGigabyte: 0.22, CPUBusy: 0.3},
		},
		Trust: []record.Check{{Check: "wire", Pass: true}, {Check: "limit", Pass: true}},
	}
	for i := range flows {
		m.Flows = append(m.Flows, record.Flow{
			ID: fmt.Sprintf("w%d", i+1), From: record.NodeClient, To: record.NodeServer, Source: "10.0.0.2:33000",
			Destination: "10.0.0.1:5202", Connected: true,
			GoodputBps: float64(flows-i) * 1e6, RetransBytes: 2896, CongestionControl: "cubic",
			LimitedBy: "network", SenderInfo: &netstate.TCPInfo{RTTUs: 1234},
		})
	}
	return m
}

// Datagrams converts a measurement to UDP.
func Datagrams(m *export.Measurement) *export.Measurement {
	m.Protocol = "udp"
	lost := int64(0)
	var sum record.Datagrams
	for i := range m.Flows {
		f := &m.Flows[i]
		f.SenderInfo, f.LimitedBy, f.CongestionControl = nil, "", ""
		f.Datagrams = &record.Datagrams{Sent: 1_000_000, Received: 999_500, Lost: 480, Reordered: 3, Duplicates: 1,
			JitterUs: 12.34}
		lost += f.Datagrams.Lost
		sum.Sent, sum.Received = sum.Sent+f.Datagrams.Sent, sum.Received+f.Datagrams.Received
	}
	sum.Lost, sum.Reordered, sum.Duplicates, sum.JitterUs = lost, 3, 1, 12.34
	sum.Delay = &record.Distribution{P50Us: 20, P90Us: 40.5, P99Us: 812, P999Us: 1500, MaxUs: 2.5e6}
	m.Datagrams, m.Lost, m.LostShare = &sum, &lost, 0.00048
	m.Directions[0].Counts = m.Counts
	return m
}

// Transacting converts a measurement to requests and responses.
func Transacting(m *export.Measurement) *export.Measurement {
	m.Protocol = "rr"
	l := &record.Distribution{P50Us: 45, P90Us: 51.2, P99Us: 98.7, P999Us: 310, P9999Us: 1250, MaxUs: 4000}
	for i := range m.Flows {
		f := &m.Flows[i]
		f.Transactions, f.TransactionsPerS = &record.Transactions{Done: 213_456, Connections: 8, Latency: l}, 21345.6
	}
	m.Transactions = &record.Transactions{Done: 213_456, Failed: 2, Connections: 8}
	m.RatePerS, m.LatencyUs, m.CPUUsPerTransaction = 21345.6, l, 31.2
	d := &m.Directions[0]
	d.Counts = m.Counts
	d.Intervals = []record.Interval{{RatePerS: 21000}, {RatePerS: 22000}}
	m.Ends[0].CPUUsPerTransaction, m.Ends[1].CPUUsPerTransaction = 20, 11.2
	m.Ends[0].BytesPerConnection, m.Ends[1].BytesPerConnection = 512, 1234
	return m
}

// Latency returns the result of a latency probe, idle and loaded.
func Latency() *record.Latency {
	return &record.Latency{
		Idle:       &record.Distribution{Count: 333, P50Us: 512, P90Us: 600, P99Us: 700, P999Us: 800, MaxUs: 900},
		Loaded:     &record.Distribution{Count: 1000, P50Us: 61e3, P90Us: 70e3, P99Us: 80e3, P999Us: 90e3, MaxUs: 95e3},
		BaselineUs: 500, BufferDelayUs: 60e3, BufferDelayPercent: 12000, TCPBaselineUs: 400, TCPRTTUs: 50e3,
		TCPBufferDelayPercent: 12400,
		Grade:                 "C", Means: "calls suffer, pages open late",
	}
}

// Measurements returns measurements of every kind by name.
func Measurements() map[string]*export.Measurement {
	all := map[string]*export.Measurement{
		"tcp": Measurement(3), "udp": Datagrams(Measurement(3)), "rr": Transacting(Measurement(3)),
		"many flows": Measurement(40),
		"iperf3":     WithPeer(record.CountedAcknowledged), "iperf3 read": WithPeer(record.CountedReceived),
		"iperf3 udp": WithPeer(record.CountedByPeer),
		"latency":    Measurement(1), "both": Measurement(4), "modes": Measurement(2), "addresses": Measurement(4),
		"in doubt": Measurement(2), "loss-free": Datagrams(Measurement(1)), "find-max": Transacting(Measurement(1)),
	}
	all["latency"].Latency = &export.Latency{Latency: Latency()}
	read := all["both"].Directions[0]
	read.Direction, read.Part.From, read.Part.To = "read", record.NodeServer, record.NodeClient
	read.LimitWhy = "the rate of the sender's shaper, tbf on enp3s0f0np0 at 941.5 Mbit/s with 1514 bytes of burst"
	all["both"].Directions = append(all["both"].Directions, read)
	auto, plain := Measurement(3), Measurement(1)
	for i := range auto.Flows {
		auto.Flows[i].SendMode, auto.Flows[i].ReceiveMode, auto.Flows[i].CallBytes = "splice", "truncate", 1<<20
	}
	auto.Flows[2].SendMode, auto.Flows[2].ModeNote = "write", "splice: no room for a pipe"
	auto.Mode, plain.Mode = "auto", "copy"
	all["modes"].Modes = []*export.Measurement{auto, plain}
	for i := range 4 {
		for _, host := range []string{record.NodeClient, record.NodeServer} {
			all["addresses"].Addresses = append(all["addresses"].Addresses, export.EndAddress{
				Host: host, Address: fmt.Sprintf("2001:db8:85a3:8d3:1319:8a2e:370:%d", 7000+i),
				Interface: fmt.Sprintf("enp3s0f%dnp%d", i, i), Flows: 3, WriteBps: 941e6, ReadBps: 512e6,
			})
		}
	}
	all["addresses"].Directions = append(all["addresses"].Directions, read)
	doubt := all["in doubt"]
	doubt.Trust = append(doubt.Trust, record.Check{Check: "foreign-traffic",
		Detail: "client: its interfaces sent 1 GB that belongs to no flow"})
	doubt.Expect = &record.Expectation{Gate: ">= 1gbit"}
	doubt.Directions[0].LimitBps, doubt.Directions[0].LimitWhy = 0,
		"unknown: neither end's interface has hardware that reports a speed"
	doubt.Ends[1].Others = &netstate.OtherFlows{Clients: 2, Flows: 3, ReceivedBytes: 1e9, WrittenBytes: 5e8}
	doubt.Flows[1].Error = "connection reset by the peer"
	doubt.Run, doubt.Page = "measure-2026-03-02-09-30-00", "measurements/after-the-new-cable/report.html"
	all["loss-free"].LossFree = &record.LossFree{
		RateBps: 94e6, PacketsPerS: 7982.3, DatagramBytes: 1472, LostAtBps: 95e6, Repeats: 2, ConfirmS: 10,
		Places: []record.LossPlace{{Host: "client", What: "the queue of eth0 (tbf)", Packets: 1234},
			{What: "where no host counts them", Packets: 5}},
		Trials: []record.LossTrial{{OfferedBps: 2e8, WindowS: 1, Sent: 17000, Lost: 8500, LostShare: 0.5},
			{AskedBps: 94e6, OfferedBps: 94e6, WindowS: 10, Sent: 79823, Confirms: true, Pass: true}},
	}
	late := record.Condition{Metric: "latency_p99", Condition: "latency_p99 <= 20ms", Got: "31.2 ms"}
	all["find-max"].FindMax = &record.FindMax{
		Objective: "latency_p99 <= 20ms, errors <= 0.1%", RatePerS: 940, Confirmed: 3, Repeats: 3, FailedAtPerS: 980,
		FailedAnsweredPerS: 910, Failed: []record.Condition{late}, BoundedBy: record.BoundedByAnswers,
		ClosedLoopPerS: 1010, NeededRequests: 1000, Resolution: 0.05, TrialS: 1, ConfirmS: 10,
		Trials: []record.FindMaxTrial{
			{AnsweredPerS: 1010, WindowS: 10, Generator: "the busiest traffic thread took 99 % of a CPU (client)"},
			{AskedPerS: 980, AnsweredPerS: 910, WindowS: 1.12, Lengthened: true, FailedBy: record.BoundedByAnswers,
				Conditions: []record.Condition{late}},
			{AskedPerS: 940, AnsweredPerS: 940, WindowS: 10, Confirms: true, Pass: true},
		},
	}
	return all
}
