package hostload

import (
	"math"
	"strings"
	"testing"

	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
)

func TestOf(t *testing.T) {
	reading := func(host string, resent int64) netstate.HostReading {
		return netstate.HostReading{Host: host, Snapshot: netstate.Snapshot{Interfaces: []netstate.InterfaceSnapshot{
			{Interface: "eth0"}, {Interface: "bond0", Kind: "bond"}}},
			Begin: netstate.Reading{BeganNs: 1e9,
				CPU: []netstate.CPUTimes{{CPU: -1, User: 10, Idle: 10}, {CPU: 0, User: 5, Idle: 5},
					{CPU: 5, User: 5, Idle: 5}},
				Softnet: []netstate.SoftnetCounters{{CPU: 5, Processed: 100, Dropped: 1}},
				Events:  []netstate.CPUEvents{{CPU: 5, Interrupts: 1000, Softirqs: map[string]uint64{"NET_RX": 10}}},
				Memory:  &netstate.MemoryLoad{SomeWaitedUs: 1e6},
				Interfaces: []netstate.InterfaceCounters{{Interface: "eth0", RxMissed: 1},
					{Interface: "bond0", RxMissed: 1}},
				SNMP: map[string]int64{"Tcp.RetransSegs": 3, "Tcp.OutSegs": 100},
			},
			End: netstate.Reading{BeganNs: 3e9,
				CPU: []netstate.CPUTimes{{CPU: -1, User: 11, SoftIRQ: 1, Idle: 12},
					{CPU: 0, User: 5, Idle: 7}, {CPU: 5, User: 6, SoftIRQ: 1, Idle: 5}, {CPU: 7, User: 9}},
				Softnet: []netstate.SoftnetCounters{{CPU: 5, Processed: 300, Dropped: 5, Squeezed: 2}},
				Events:  []netstate.CPUEvents{{CPU: 5, Interrupts: 5000, Softirqs: map[string]uint64{"NET_RX": 2010}}},
				Interfaces: []netstate.InterfaceCounters{{Interface: "eth0", RxMissed: 6},
					{Interface: "bond0", RxMissed: 6}},
				Memory: &netstate.MemoryLoad{SomeWaitedUs: 2e6, AllWaitedUs: 5e5, AvailableBytes: 7, TCPBytes: 8},
				SNMP:   map[string]int64{"Tcp.RetransSegs": 3 + resent, "Tcp.OutSegs": 1100},
			},
		}
	}
	over := &topology.Topology{Hosts: []topology.Host{{Name: "a"}, {Name: "b"},
		{Name: "nas", Via: []string{"ssh", "nas"}}}}
	list := Of(record.Trial{Hosts: []netstate.HostReading{reading("a", 5), reading("b", 7), reading("nas", 1)}}, over)
	if len(list) != 2 || list[0].Name != This || list[0].Host != "a" || list[1].Name != "nas" {
		t.Fatalf("%+v", list)
	}
	m := list[0]
	if m.RxMissed != 10 || list[1].RxMissed != 5 {
		t.Errorf("missed: %g and %g; a bond's count is its members'", m.RxMissed, list[1].RxMissed)
	}
	if m.Resent != 12 || m.Sent != 2000 || list[1].Resent != 1 {
		t.Errorf("sent again: %d of %d, and %d", m.Resent, m.Sent, list[1].Resent)
	}
	if m.Busy != 0.5 || len(m.CPUs) != 2 || m.SoftDropped != 4 || m.Squeezed != 2 {
		t.Errorf("the machine: %+v", m)
	}
	want := CPU{CPU: 5, Busy: 1, User: 0.5, SoftIRQ: 0.5, InterruptsPerS: 2000, NetRxPerS: 1000, Processed: 200,
		SoftDropped: 4, Squeezed: 2}
	if busiest, ok := m.Busiest(); !ok || busiest != want || busiest.Kernel() != 0.5 {
		t.Errorf("the busiest CPU: %+v, want %+v", busiest, want)
	}
	if math.Abs(m.SomeWaited-0.5) > 1e-9 || math.Abs(m.AllWaited-0.25) > 1e-9 || m.AvailableBytes != 7 ||
		m.TCPBytes != 8 {
		t.Errorf("memory: %+v", m)
	}
	if m.Processed != 200 || m.Received != 0 || !m.Foreign() || strings.Join(m.Hosts, " ") != "a b" {
		t.Errorf("packets of hosts that received none: %+v", m)
	}
	// An old record has less, and one whose counters were reset has nothing.
	bare := netstate.HostReading{Host: "a", Begin: reading("a", 0).End, End: reading("a", 0).Begin}
	bare.Begin.Memory = nil
	m = Of(record.Trial{Hosts: []netstate.HostReading{bare}}, over)[0]
	if _, ok := m.Busiest(); ok || m.Busy != 0 || m.SoftDropped != 0 || m.SomeWaited != 0 {
		t.Errorf("of counters that ran backwards: %+v", m)
	}
}

// TestForeign: softnet_stat is of all network namespaces. Where the CPUs took far more packets
// than all hosts on the machine received, others' are among them.
func TestForeign(t *testing.T) {
	host := func(name string, received uint64) netstate.HostReading {
		h := netstate.HostReading{Host: name}
		h.Begin.CPU, h.End.CPU = []netstate.CPUTimes{{Idle: 5}}, []netstate.CPUTimes{{Idle: 6}}
		h.Begin.Softnet, h.End.Softnet = []netstate.SoftnetCounters{{}, {CPU: 1}},
			[]netstate.SoftnetCounters{{Processed: 500}, {CPU: 1, Processed: 500}}
		h.Begin.Interfaces, h.End.Interfaces = []netstate.InterfaceCounters{{Interface: "eth0"}},
			[]netstate.InterfaceCounters{{Interface: "eth0", RxPackets: received}}
		return h
	}
	elsewhere := host("b", 980)
	elsewhere.Begin.CPU = []netstate.CPUTimes{{Idle: 1}}
	unread := host("a", 0)
	unread.End.Interfaces = nil
	for name, test := range map[string]struct {
		hosts []netstate.HostReading
		want  bool
	}{
		"a lab's own packets":             {[]netstate.HostReading{host("a", 600), host("b", 400)}, false},
		"each packet twice, by emulators": {[]netstate.HostReading{host("a", 300), host("b", 200)}, false},
		"other namespaces' packets":       {[]netstate.HostReading{host("a", 20), host("b", 10)}, true},
		"another machine's":               {[]netstate.HostReading{host("a", 20), elsewhere}, true},
		"interfaces that were not read":   {[]netstate.HostReading{unread}, false},
	} {
		if got := ForeignAt(test.hosts, "a"); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestUsableOf: time of niced programs is available to a linerate that is not niced itself; one
// that may use some of the CPUs has no more than those; and of what was not read, nothing
// changes.
func TestUsableOf(t *testing.T) {
	reading := func(nice int, allowed ...int) netstate.HostReading {
		h := netstate.HostReading{Host: "client", CPUBusy: 0.9, Nice: nice, AllowedCPUs: allowed}
		h.Begin.CPU = []netstate.CPUTimes{{CPU: -1}, {CPU: 0}, {CPU: 1}}
		h.End.CPU = []netstate.CPUTimes{{CPU: -1, User: 1.4, Nice: 0.6, System: 0.4, Idle: 0.2},
			{CPU: 0, User: 0.6, System: 0.4}, {CPU: 1, User: 0.8, Nice: 0.6, Idle: 0.2}}
		return h
	}
	bare := netstate.HostReading{Host: "client", CPUBusy: 0.9}
	for _, test := range []struct {
		name string
		h    netstate.HostReading
		want fact.Load
	}{
		{"all CPUs", reading(0), fact.Load{Host: "client", Busy: 0.6, Niced: 0.3}},
		{"niced itself", reading(5), fact.Load{Host: "client", Busy: 0.9}},
		{"one that is busy", reading(0, 0), fact.Load{Host: "client", Usable: true, Busy: 1}},
		{"one that niced programs use", reading(0, 1), fact.Load{Host: "client", Usable: true, Busy: 0.2, Niced: 0.6}},
		{"not read", bare, fact.Load{Host: "client", Busy: 0.9}},
	} {
		got := UsableOf(test.h).Fact()
		got.Busy, got.Niced = math.Round(1e6*got.Busy)/1e6, math.Round(1e6*got.Niced)/1e6
		if *got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, *got, test.want)
		}
	}
}

// TestSame: hosts whose CPUs have the same times since boot are on one machine, which is
// listed once.
func TestSame(t *testing.T) {
	host := func(name string, idle float64) netstate.HostReading {
		times := func(s float64) []netstate.CPUTimes {
			return []netstate.CPUTimes{{CPU: -1, Idle: 3 * s}, {CPU: 0, User: 5, Idle: s},
				{CPU: 1, User: 7, Idle: 2 * s}}
		}
		h := netstate.HostReading{Host: name}
		h.Begin.CPU, h.End.CPU, h.End.BeganNs = times(idle), times(idle+1), 1e9
		return h
	}
	here, there, elsewhere := host("client", 1000), host("server", 1000.04), host("nas", 1000.4)
	if !Same(here, there) || Same(here, elsewhere) || Same(netstate.HostReading{}, netstate.HostReading{}) {
		t.Error("two hosts are on one machine where their CPUs' times agree, and only there")
	}
	over := topology.Topology{}
	for _, name := range []string{"client", "server", "nas"} {
		over.Hosts = append(over.Hosts, topology.Host{Name: name, Via: []string{"ssh"}})
	}
	list := Of(record.Trial{Hosts: []netstate.HostReading{here, there, elsewhere}}, &over)
	if len(list) != 2 || list[0].Name != "client and server" || list[1].Name != "nas" {
		t.Errorf("%+v", list)
	}
}
