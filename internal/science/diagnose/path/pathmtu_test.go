package path_test

import (
	"net/netip"
	"testing"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/flow"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"

	"linerate/internal/science/diagnose"
)

// datagrams makes a flow one of UDP.
func datagrams(f *record.Flow, size int, sent, received int64) {
	f.Protocol, f.SenderInfo, f.GoodputBps = flow.UDP, nil, float64(received)
	f.Datagrams = &record.Datagrams{Sent: sent, Received: received, Lost: sent - received, Bytes: size, MTU: 1500}
}

// TestPathMTU: a flow that gets nothing through has the finding if its packets are larger
// than a link behind the first one takes.
func TestPathMTU(t *testing.T) {
	end := func(node, name string) topology.End { return topology.End{Node: node, Interface: name} }
	over := &topology.Topology{
		Hosts: []topology.Host{{Name: "a"}, {Name: "r"}, {Name: "b"}},
		Links: []topology.Link{
			{From: end("a", "eth0"), To: end("r", "eth0")},
			{From: end("r", "eth1"), To: end("b", "eth0"), Impairment: topology.Impairment{MTU: 1400}},
		},
	}
	stuck := func(change func(*record.Flow)) record.Trial {
		f := record.Flow{ID: "f1", Protocol: flow.TCP, From: "a", To: "b", Connected: true,
			Path: []string{"a.eth0", "r.eth0", "r.eth1", "b.eth0"}, SenderInfo: &netstate.TCPInfo{SndMSS: 1448,
				PMTU: 1500, Backoff: 4}}
		change(&f)
		return record.Trial{Flows: []record.Flow{f}, Hosts: []netstate.HostReading{{Host: "a"}, {Host: "b"}}}
	}
	// port makes what r sends by a port of a bridge.
	port := func(t *record.Trial) {
		t.Hosts = append(t.Hosts,
			netstate.HostReading{Host: "r", Snapshot: netstate.Snapshot{Interfaces: []netstate.InterfaceSnapshot{
				{Interface: "br0", Kind: "bridge"}, {Interface: "eth0", Master: "br0"},
				{Interface: "eth1", Master: "br0"}}}})
	}
	for _, test := range []struct {
		name   string
		change func(*record.Flow)
		want   bool
		trial  func(*record.Trial)
		mss    int // to clamp to; 0: none
	}{
		{"a black hole", func(*record.Flow) {}, true, nil, 1360},
		{"something arrives", func(f *record.Flow) { f.GoodputBps = 1 }, false, nil, 0},
		{"segments that fit", func(f *record.Flow) { f.SenderInfo.SndMSS = 1348 }, false, nil, 0},
		{"nothing was sent again", func(f *record.Flow) { f.SenderInfo.Backoff = 0 }, false, nil, 0},
		{"another path", func(f *record.Flow) { f.Path = f.Path[:2] }, false, nil, 0},
		{"timestamps that leave too little", func(f *record.Flow) {
			f.SenderInfo.SndMSS, f.SenderInfo.Options = 1350, 1
		}, true, nil, 1360},
		{"datagrams", func(f *record.Flow) { datagrams(f, 1472, 1000, 0) }, true, nil, 0},
		{"some of the datagrams, in bursts that were not cut", func(f *record.Flow) {
			datagrams(f, 1472, 1000, 10)
		}, true, nil, 0},
		{"datagrams that fit", func(f *record.Flow) { datagrams(f, 1372, 1000, 0) }, false, nil, 0},
		{"datagrams that mostly arrive", func(f *record.Flow) { datagrams(f, 1472, 1000, 600) }, false, nil, 0},
		{"fragments, which the router divides further", func(f *record.Flow) {
			datagrams(f, 8000, 1000, 450)
		}, false, nil, 0},
		{"fragments that a bridge drops", func(f *record.Flow) { datagrams(f, 8000, 1000, 450) }, true, port, 0},
		{"fragments, as the router makes them, that the receiver takes", func(f *record.Flow) {
			datagrams(f, 8000, 1000, 450)
		}, false, func(t *record.Trial) {
			t.Hosts[1].Snapshot.Interfaces = []netstate.InterfaceSnapshot{{Interface: "eth0", MTU: 1400}}
		}, 0},
		{"fragments of IPv6", func(f *record.Flow) {
			datagrams(f, 8000, 1000, 450)
			f.Destination = "[2001:db8::2]:5202"
		}, true, nil, 0},
		{"IPv6", func(f *record.Flow) { f.SenderInfo.SndMSS, f.Destination = 1440, "[2001:db8::2]:5202" }, true, nil,
			1340},
	} {
		var found []record.Finding
		trial := stuck(test.change)
		if test.trial != nil {
			test.trial(&trial)
		}
		for _, f := range diagnose.Diagnose(trial, over) {
			if f.ID == "path-mtu" {
				found = append(found, f)
			}
		}
		if len(found) > 0 != test.want {
			t.Errorf("%s: %+v", test.name, found)
		}
		if !test.want {
			continue
		}
		large, _ := found[0].Facts[0].Is.(fact.TooLarge)
		if found[0].Args != (cause.Narrow{At: "r.eth1", MTU: 1400, MSS: test.mss}) || large.At != "r.eth1" ||
			large.MTU != 1400 {
			t.Errorf("%s: %+v", test.name, found)
		}
	}
}

// TestBlackHole: between two hosts of which only the interfaces are known, a smaller MTU of one
// of them is named; otherwise a connection that opened and carried nothing of full size may have
// met a link of the path with one, unless something else happened.
func TestBlackHole(t *testing.T) {
	via, receiver := []string{"linerate"}, netip.MustParseAddr("192.0.2.2")
	for _, test := range []struct {
		name   string
		change func(*record.Flow, *record.Trial, *topology.Topology)
		want   string // confidence
		says   cause.Narrow
	}{
		{"nothing of full size", func(*record.Flow, *record.Trial, *topology.Topology) {}, record.Possible,
			cause.Narrow{To: receiver}},
		{"a path of which nothing is known", func(f *record.Flow, _ *record.Trial, over *topology.Topology) {
			f.Path, over.Links = nil, nil
		}, record.Possible, cause.Narrow{To: receiver}},
		{"datagrams", func(f *record.Flow, _ *record.Trial, _ *topology.Topology) {
			datagrams(f, 1472, 1000, 0)
		}, record.Possible, cause.Narrow{To: receiver}},
		{"some were received", func(f *record.Flow, _ *record.Trial, _ *topology.Topology) {
			f.SenderInfo.BytesAcked = 100_000
		}, "", cause.Narrow{}},
		{"fragments of full size that the receiver dropped", func(f *record.Flow, t *record.Trial,
			_ *topology.Topology) {
			datagrams(f, 9000, 700, 0)
			t.Hosts[1].End.SNMP = map[string]int64{"Ip.ReasmReqds": 4900, "Ip.ReasmFails": 4900}
		}, "", cause.Narrow{}},
		{"the last fragments alone", func(f *record.Flow, t *record.Trial, _ *topology.Topology) {
			datagrams(f, 9000, 700, 0)
			t.Hosts[1].End.SNMP = map[string]int64{"Ip.ReasmReqds": 700}
			t.Hosts[1].Begin.Interfaces, t.Hosts[1].End.Interfaces = []netstate.InterfaceCounters{{Interface: "eth0"}},
				[]netstate.InterfaceCounters{{Interface: "eth0", RxPackets: 700, RxBytes: 700 * 200}}
		}, record.Possible, cause.Narrow{To: receiver}},
		{"packets of full size that the receiver dropped", func(f *record.Flow, t *record.Trial, _ *topology.Topology) {
			datagrams(f, 1472, 1000, 0)
			t.Hosts[1].Begin.Interfaces, t.Hosts[1].End.Interfaces = []netstate.InterfaceCounters{{Interface: "eth0"}},
				[]netstate.InterfaceCounters{{Interface: "eth0", RxPackets: 1000, RxBytes: 1000 * 1514}}
		}, "", cause.Narrow{}},
		{"small packets", func(f *record.Flow, _ *record.Trial, _ *topology.Topology) {
			f.SenderInfo.SndMSS = 500
		}, "", cause.Narrow{}},
		{"a link that went down", func(_ *record.Flow, t *record.Trial, _ *topology.Topology) {
			t.Faults = []record.Event{{}}
		}, "", cause.Narrow{}},
		{"a lab, whose links are known", func(_ *record.Flow, _ *record.Trial, over *topology.Topology) {
			over.Hosts[0].Via = nil
		}, "", cause.Narrow{}},
		{"an interface with a smaller MTU", func(f *record.Flow, t *record.Trial, _ *topology.Topology) {
			datagrams(f, 1472, 1000, 0)
			t.Hosts[1].Snapshot.Interfaces = []netstate.InterfaceSnapshot{{Interface: "eth0", MTU: 1400}}
		}, record.Likely, cause.Narrow{At: "b.eth0", MTU: 1400, From: "a.eth0"}},
	} {
		over := &topology.Topology{Hosts: []topology.Host{{Name: "a", Via: via}, {Name: "b", Via: via}},
			Links: []topology.Link{{From: topology.End{Node: "a", Interface: "eth0"},
				To: topology.End{Node: "b", Interface: "eth0"}, Impairment: topology.Impairment{MTU: 1500}}}}
		trial := record.Trial{Hosts: []netstate.HostReading{{Host: "a"}, {Host: "b"}},
			Flows: []record.Flow{{ID: "w1", Protocol: flow.TCP, From: "a", To: "b", Connected: true,
				Source: "192.0.2.1:40000", Destination: "192.0.2.2:5202", Path: []string{"a.eth0", "b.eth0"},
				SenderInfo: &netstate.TCPInfo{SndMSS: 1448, Options: 1, PMTU: 1500, Backoff: 4}}}}
		test.change(&trial.Flows[0], &trial, over)
		got, args := "", cause.Narrow{}
		for _, f := range diagnose.Diagnose(trial, over) {
			if f.ID == "path-mtu" {
				got = f.Confidence
				args, _ = f.Args.(cause.Narrow)
			}
		}
		if got != test.want || args != test.says {
			t.Errorf("%s: %q (%+v), want %q (%+v)", test.name, got, args, test.want, test.says)
		}
	}
}

// TestMTUProbing: it is a setting of a sender that does not have it, whatever is known of the path.
func TestMTUProbing(t *testing.T) {
	over := &topology.Topology{Hosts: []topology.Host{{Name: "a", Via: []string{"linerate"}},
		{Name: "b", Via: []string{"linerate"}}}}
	for value, want := range map[string]int{"": 1, "0": 1, "1": 0, "2": 0} {
		f := record.Flow{ID: "w1", Protocol: flow.TCP, From: "a", To: "b", Connected: true, Source: "192.0.2.1:40000",
			Destination: "192.0.2.2:5202", SenderInfo: &netstate.TCPInfo{SndMSS: 1448, PMTU: 1500, Backoff: 4}}
		found := diagnose.Diagnose(record.Trial{Flows: []record.Flow{f},
			Hosts: []netstate.HostReading{
				{Host: "a", Snapshot: netstate.Snapshot{Sysctls: map[string]string{"net.ipv4.tcp_mtu_probing": value}}},
				{Host: "b"}}},
			over)
		if len(found) != 1 || found[0].ID != "path-mtu" || len(found[0].Changes()) != want ||
			want > 0 && found[0].Changes()[0].Sysctl[0].Key != "net.ipv4.tcp_mtu_probing" {
			t.Errorf("%q: %+v", value, found)
		}
	}
}
