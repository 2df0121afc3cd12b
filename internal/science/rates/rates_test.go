package rates

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/science/bottleneck"
	"linerate/internal/science/sciencetest"
)

const second = int64(time.Second)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9*max(1, math.Abs(want)) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// host is two readings of a host, two seconds apart.
func host() Readings {
	r := Readings{Taken: time.Date(2026, 3, 1, 14, 0, 0, 0, time.UTC)}
	r.State.Version = "1.0"
	r.State.Reading.Host = "nas"
	r.State.Reading.Snapshot.Interfaces = []netstate.InterfaceSnapshot{
		{Interface: "eth0", Up: true, SpeedBps: 1e9, Addresses: []string{"192.0.2.1/24"}},
		{Interface: "eth1", Up: true, Kind: "veth", Addresses: []string{"2001:db8::1/64"},
			Shaper: &netstate.Shaper{Kind: "tbf", RateBps: 100e6}},
	}
	r.Before = netstate.Reading{BeganNs: 10 * second,
		Interfaces: []netstate.InterfaceCounters{{Interface: "eth0", AtNs: 10 * second, RxBytes: 1000, RxPackets: 10,
			TxBytes: 500}, {Interface: "eth1", AtNs: 10 * second, TxBytes: 1 << 40, RxDropped: 7}},
		Qdiscs: []netstate.QdiscCounters{{Interface: "eth1", Kind: "tbf", Handle: "1:", Bytes: 1000}},
		CPU: []netstate.CPUTimes{{CPU: -1, User: 20, Idle: 100}, {CPU: 0, User: 10, Idle: 50},
			{CPU: 1, User: 10, Idle: 50}},
		Softnet: []netstate.SoftnetCounters{{CPU: 0, Processed: 100}, {CPU: 1}},
		Events:  []netstate.CPUEvents{{CPU: 0, Interrupts: 5, Softirqs: map[string]uint64{"NET_RX": 1}}},
		SNMP:    map[string]int64{"Tcp.OutSegs": 1000, "Udp.InDatagrams": 5},
	}
	r.Now = netstate.Reading{BeganNs: 12 * second,
		Interfaces: []netstate.InterfaceCounters{{Interface: "eth0", AtNs: 12*second + second/2, RxBytes: 1000 + 250e6,
			RxPackets: 10 + 200_000, TxBytes: 100, RxMissed: 50, RxErrors: 60},
			{Interface: "eth1", AtNs: 12 * second, TxBytes: 1<<40 + 12e6, TxPackets: 500, RxDropped: 7},
			{Interface: "new", AtNs: 12 * second, RxBytes: 1e9}},
		Qdiscs: []netstate.QdiscCounters{{Interface: "eth1", Kind: "tbf", Handle: "1:", Bytes: 1000 + 12.5e6,
			Packets: 10_000, Drops: 4, Backlog: 3000, Qlen: 2}, {Interface: "eth1", Kind: "fq", Handle: "2:",
			Bytes: 1}},
		CPU: []netstate.CPUTimes{{CPU: -1, User: 21, SoftIRQ: 1, Idle: 102},
			{CPU: 0, User: 11, SoftIRQ: 0.5, Idle: 50.5}, {CPU: 1, User: 10, SoftIRQ: 0.5, Idle: 51.5},
			{CPU: 2, User: 5}},
		Softnet: []netstate.SoftnetCounters{{CPU: 0, Processed: 300, Dropped: 2, Backlog: 1},
			{CPU: 1, Processed: 50, Squeezed: 4}},
		Events: []netstate.CPUEvents{{CPU: 0, Interrupts: 25, Softirqs: map[string]uint64{"NET_RX": 7, "NET_TX": 2}}},
		SNMP: map[string]int64{"Tcp.OutSegs": 3000, "Tcp.RetransSegs": 20, "Tcp.ActiveOpens": 3,
			"Tcp.PassiveOpens": 1, "Udp.InDatagrams": 4, "Udp.NoPorts": 8},
	}
	return r
}

func TestInterfaces(t *testing.T) {
	s := Of(host())
	if s.Schema != record.HostSampleSchema || s.Host != "nas" || s.WindowS != 2 || s.Version != "1.0" {
		t.Errorf("%+v", s)
	}
	if len(s.Interfaces) != 2 {
		t.Fatalf("interfaces %+v: want those of both readings", s.Interfaces)
	}
	eth0, eth1 := s.Interfaces[0], s.Interfaces[1]
	near(t, "eth0 in, over its own 2.5 s", eth0.RxBps, 800e6)
	near(t, "eth0 packets", eth0.RxPps, 80_000)
	near(t, "eth0 share, with 24 bytes for each packet", eth0.RxShare, 0.8+80_000*24*8/1e9)
	near(t, "eth0 out, whose counter ran backwards", eth0.TxBps, 0)
	near(t, "eth0 missed", eth0.DropsPerS, 20)
	near(t, "eth0 other errors", eth0.ErrorsPerS, 4)
	near(t, "eth1 out, with the headers of each segment", eth1.TxBps, 50e6)
	near(t, "eth1 packets out, each segment", eth1.TxPps, 5000)
	near(t, "eth1 share, as its shaper counts", eth1.TxShare, 0.5)
	near(t, "eth1 drops, of its shaper", eth1.DropsPerS, 2)
	if eth0.TxLimitBps != 1e9 || eth0.TxLimiter != "" || eth1.TxLimitBps != 100e6 || eth1.TxLimiter != "tbf" ||
		eth1.RxLimitBps != 0 || eth1.Kind != "veth" {
		t.Errorf("limits: %+v, %+v", eth0, eth1)
	}
}

func TestCPUs(t *testing.T) {
	s := Of(host())
	want := []record.CPURates{
		{CPU: -1, User: 0.25, SoftIRQ: 0.25, InterruptsPerS: 10, NetRxPerS: 3, NetTxPerS: 1, PacketsPerS: 125,
			DroppedPerS: 1, SqueezedPerS: 2, Backlog: 1},
		{CPU: 0, User: 0.5, SoftIRQ: 0.25, InterruptsPerS: 10, NetRxPerS: 3, NetTxPerS: 1, PacketsPerS: 100,
			DroppedPerS: 1, Backlog: 1},
		{CPU: 1, SoftIRQ: 0.25, PacketsPerS: 25, SqueezedPerS: 2},
	}
	if !reflect.DeepEqual(s.CPUs, want) {
		t.Errorf("%+v\nwant %+v", s.CPUs, want)
	}
	near(t, "busy", s.CPUs[0].Busy(), 0.5)
}

func TestProtocols(t *testing.T) {
	want := record.ProtocolRates{OpenedPerS: 2, SegmentsOutPerS: 1000, RetransmitPerS: 10, DatagramErrPerS: 4}
	if got := Of(host()).Protocols; got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestFindings: the rules of doctor see the two readings, and drops are those between them.
func TestFindings(t *testing.T) {
	s := Of(host())
	if !slices.ContainsFunc(s.Findings, func(f record.Finding) bool {
		return f.ID == "ring-overrun" && f.Confidence != record.Possible
	}) {
		t.Errorf("no ring-overrun in %+v", s.Findings)
	}
	var drops []string
	for _, d := range s.Drops {
		drops = append(drops, fmt.Sprint(d.Where, " ", d.Counter, " ", d.Packets))
	}
	for _, want := range []string{"eth0 rx_missed_errors 50", "eth1 qdisc tbf dropped 4",
		"CPU 0 softnet_stat dropped 2"} {
		if !slices.Contains(drops, want) {
			t.Errorf("no %s in %q", want, drops)
		}
	}
	if slices.ContainsFunc(s.Drops, func(d record.Drop) bool { return d.Boot }) {
		t.Errorf("drops since the boot: %q", drops)
	}
}

func TestQueues(t *testing.T) {
	r := host()
	nic := func(counters map[string]int64) netstate.NIC {
		return netstate.NIC{Interface: "eth0", Driver: "ice", Counters: counters}
	}
	r.State.State.NICs = []netstate.NIC{nic(map[string]int64{"rx_queue_0_packets": 1100, "rx_queue_0_bytes": 101_000,
		"rx_queue_0_drops": 5, "tx_queue_1_packets": 40, "rx_crc_errors": 9}).
		Since(nic(map[string]int64{"rx_queue_0_packets": 100, "rx_queue_0_bytes": 1000, "tx_queue_1_packets": 50,
			"rx_crc_errors": 1}), 10)}
	want := []record.QueueRates{
		{Interface: "eth1", Queue: "tbf 1:", Bps: 50e6, Pps: 5000, DropsPerS: 2, BacklogBytes: 3000, BacklogPackets: 2},
		{Interface: "eth0", Queue: "rx-0", WindowS: 10, Bps: 80_000, Pps: 100, DropsPerS: 0.5},
		{Interface: "eth0", Queue: "tx-1", WindowS: 10},
	}
	if got := Of(r).Queues; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	for name, want := range map[string][2]string{
		"rx_queue_0_packets": {"rx-0", "packets"}, "rx0_packets": {"rx-0", "packets"}, "tx-3.bytes": {"tx-3", "bytes"},
		"queue_2_rx_cnt":  {"rx-2", "packets"},
		"rx_queue_1_drop": {"rx-1", "drops"}, "rx12_dropped": {"rx-12", "drops"}, "rx_packets": {},
		"rx_queue_0_xdp_packets": {}, "rx_crc_errors": {},
	} {
		if queue, what := queueCounter(name); queue != want[0] || what != want[1] {
			t.Errorf("%s is %s of queue %q, want %v", name, what, queue, want)
		}
	}
}

// table is a reading of connections, one of which has this TCP_INFO, at a second.
func table(at float64, info netstate.TCPInfo) Table {
	info.State, info.SndMSS = netstate.TCPEstablished, 1448
	c := netstate.Connection{Local: "192.0.2.1:443", Remote: "192.0.2.9:50000", State: "ESTAB", Info: &info}
	return Table{AtNs: int64(at * float64(second)), Connections: map[Ends]netstate.Connection{{c.Local, c.Remote}: c}}
}

func TestFlows(t *testing.T) {
	r := host()
	r.Tables = []Table{
		table(10, netstate.TCPInfo{BytesAcked: 1000, BytesReceived: 500, TotalRetrans: math.MaxUint32, SegsOut: 10,
			RTTUs: 300}),
		table(12, netstate.TCPInfo{BytesAcked: 1000 + 25e6, BytesReceived: 500 + 250, TotalRetrans: 3, SegsOut: 20_010,
			SegsIn: 10_000, RTTUs: 310, MinRTTUs: 90, SndCwnd: 10}),
	}
	last := r.Tables[1].Connections
	last[Ends{"a:1", "b:2"}] = netstate.Connection{Local: "a:1", Remote: "b:2", State: "SYN-SENT"}
	// opened since
	last[Ends{"c:1", "d:2"}] = netstate.Connection{Local: "c:1", Remote: "d:2", State: "ESTAB",
		Info: &netstate.TCPInfo{BytesReceived: 400}}
	s := Of(r)
	if len(s.Flows) != 3 || s.FlowsWindowS != 2 || s.Protocols.Connections != 3 {
		t.Fatalf("%d flows over %v s of %d connections", len(s.Flows), s.FlowsWindowS, s.Protocols.Connections)
	}
	f := s.Flows[0]
	near(t, "out", f.TxBps, 100e6)
	near(t, "in", f.RxBps, 1000)
	near(t, "retransmissions, of a counter that wrapped", f.RetransmitPerS, 2)
	near(t, "segments", f.SegmentsPerS, 15_000)
	if f.RTTUs != 310 || f.MinRTTUs != 90 || f.CwndBytes != 14_480 || f.State != "ESTAB" {
		t.Errorf("%+v", f)
	}
	near(t, "of a new connection", s.Flows[1].RxBps, 1600)
	if s.Flows[2].State != "SYN-SENT" {
		t.Errorf("the last flow is %+v", s.Flows[2])
	}
	for n := range 2 * record.MostFlows {
		key := Ends{fmt.Sprint("192.0.2.1:", n), "192.0.2.8:1"}
		last[key] = netstate.Connection{Local: key.Local, Remote: key.Remote, State: "ESTAB"}
	}
	if s := Of(r); len(s.Flows) != record.MostFlows || s.Flows[0].TxBps != 100e6 ||
		s.Protocols.Connections != 3+2*record.MostFlows {
		t.Errorf("%d flows of %d connections, the first with %v", len(s.Flows), s.Protocols.Connections,
			s.Flows[0].TxBps)
	}
}

// TestLimitedBy: what the kernel says a connection waited for, over a time that is long
// beside its round trips.
func TestLimitedBy(t *testing.T) {
	const sent = 25e6
	for _, test := range []struct {
		name        string
		busy        float64 // shares of the window, as the next two
		rwnd, sndbf float64
		rttUs       uint32
		outBytes    uint64 // of eth0
		flight      uint32 // segments in flight at each reading
		want        string
	}{
		{"nothing to send", 0.3, 0, 0, 300, 0, 0, bottleneck.Application},
		{"receiver's window", 1, 0.8, 0, 300, 0, 0, bottleneck.ReceiverWindow},
		{"send buffer", 1, 0, 0.8, 300, 0, 0, bottleneck.SendBuffer},
		{"congestion window", 1, 0, 0, 1100, 0, 0, bottleneck.CongestionWindow},
		{"a congestion window that is not full", 1, 0, 0, 300, 0, 0, ""},
		{"the link is full", 1, 0, 0, 300, 310e6, 0, bottleneck.FullLink},
		{"others fill the link", 0.3, 0, 0, 300, 310e6, 0, bottleneck.Application},
		{"a long path, over all tables", 1, 0.8, 0, 80_000, 0, 0, bottleneck.ReceiverWindow},
		{"too long a path", 1, 0.8, 0, 900_000, 0, 0, ""},
		{"a window that is full by what is in flight", 1, 0, 0, 300, 0, 45, bottleneck.ReceiverWindow},
	} {
		r := host()
		r.Now.Interfaces[0].TxBytes = r.Before.Interfaces[0].TxBytes + test.outBytes
		for i := range 6 {
			us := func(share float64) uint64 { return uint64(share * float64(i) * 2e6) }
			r.Tables = append(r.Tables,
				table(float64(2+2*i), netstate.TCPInfo{BytesAcked: uint64(i) * sent, BytesSent: uint64(i) * sent,
					SegsOut: uint32(i) * 17_000,
					BusyUs:  us(test.busy), RwndLimitedUs: us(test.rwnd), SndbufLimited: us(test.sndbf),
					RTTUs:    test.rttUs,
					MinRTTUs: test.rttUs, SndWnd: 65_536, SndMSS: 1448, Unacked: test.flight,
					SndCwnd: cwnd(test.flight)}))
		}
		f := Of(r).Flows[0]
		if f.LimitedBy != test.want {
			t.Errorf("%s: %q (%+v), want %q", test.name, f.LimitedBy, f.LimitedFacts, test.want)
		}
	}
}

// cwnd is a congestion window with room for twice what is in flight; 10 segments, if that is
// nothing.
func cwnd(flight uint32) uint32 { return max(10, 2*flight) }

// TestMultiQueue: each child of mq has its own rates.
func TestMultiQueue(t *testing.T) {
	r := host()
	r.Before.Qdiscs, r.Now.Qdiscs = nil, nil
	sciencetest.MultiQueue(&r.Before, &r.Now, "eth0", 8)
	r.Now.Qdiscs[1].Drops += 2
	list := Of(r).Queues
	if len(list) != 3 {
		t.Fatalf("%+v", list)
	}
	for i, want := range []float64{4, 1, 4} {
		near(t, list[i].Queue, list[i].DropsPerS, want)
	}
}

// TestFilters: what clsact counts of packets that arrive is not sent.
func TestFilters(t *testing.T) {
	r := host()
	q := netstate.QdiscCounters{Interface: "eth1", Kind: "clsact", Handle: "ffff:"}
	r.Before.Qdiscs = []netstate.QdiscCounters{q}
	q.Bytes, q.Packets = 1<<30, 1<<20
	r.Now.Qdiscs = []netstate.QdiscCounters{q}
	eth1 := Of(r).Interfaces[1]
	near(t, "eth1 out", eth1.TxBps, 48e6)
	near(t, "eth1 packets out", eth1.TxPps, 250)
}
