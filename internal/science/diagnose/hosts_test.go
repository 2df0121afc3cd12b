package diagnose

import (
	"slices"
	"testing"

	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/counter"
	"linerate/internal/science/diagnose/diagnosetest"
	"linerate/internal/science/diagnose/rule"
)

// TestHostRules: records of what a lab cannot have, each found by its rule and no other that is
// at least likely; and none in a host that works.
func TestHostRules(t *testing.T) {
	nic := func(change func(*netstate.NIC)) func(*netstate.HostSnapshot) {
		return func(s *netstate.HostSnapshot) { change(&s.State.NICs[0]) }
	}
	end := func(change func(*netstate.InterfaceCounters)) func(*netstate.HostSnapshot) {
		return func(s *netstate.HostSnapshot) { change(&s.Reading.End.Interfaces[0]) }
	}
	grown := func(name string, n int64) func(*netstate.HostSnapshot) {
		return func(s *netstate.HostSnapshot) { s.Reading.End.SNMP[name] = n }
	}
	static := func(address, mac string) func(*netstate.HostSnapshot) {
		return func(s *netstate.HostSnapshot) {
			s.Reading.Snapshot.Neighbours = []netstate.Neighbour{{Interface: "eth0", Address: address, MAC: mac,
				State: "PERMANENT"}}
			s.Reading.Snapshot.Answers = []netstate.Neighbour{{Interface: "eth0", Address: "192.0.2.9",
				MAC: "02:00:00:00:00:99"}}
		}
	}
	off := false
	for _, test := range []struct {
		id     string // empty: nothing is found
		change func(*netstate.HostSnapshot)
	}{
		{"", func(*netstate.HostSnapshot) {}},
		{"half-duplex", nic(func(n *netstate.NIC) { n.Duplex = "half" })},
		{"speed-below-best", nic(func(n *netstate.NIC) { n.SpeedMbps, n.OfferedMbps = 100, 100 })},
		{"autoneg-off", nic(func(n *netstate.NIC) { n.Autoneg = &off })},
		{"carrier-flaps", nic(func(n *netstate.NIC) { n.CarrierChanges = 40 })},
		{"pcie-narrow", nic(func(n *netstate.NIC) {
			n.PCIe, n.SpeedMbps, n.BestMbps = &netstate.PCIeLink{Width: 4, MostWidth: 8, GTps: 2.5, MostGTps: 2.5},
				10000, 10000
		})},
		{"usb2-adapter", nic(func(n *netstate.NIC) { n.USBMbps = 480 })},
		{"emulated-nic", nic(func(n *netstate.NIC) { n.Driver = "e1000" })},
		{"one-queue", nic(func(n *netstate.NIC) { n.Channels = &netstate.Channels{Combined: 1, MostCombined: 8} })},
		{"one-cpu-for-interrupts", nic(func(n *netstate.NIC) { n.IRQs = diagnosetest.Interrupts("2") })},
		{"", nic(func(n *netstate.NIC) { n.IRQs = diagnosetest.Interrupts("0-7") })},
		{"offload-off", nic(func(n *netstate.NIC) { n.Features["rx-gro"] = false })},
		{"promiscuous", nic(func(n *netstate.NIC) { n.Promiscuous = true })},
		{"interface-errors", end(func(c *netstate.InterfaceCounters) { c.RxErrors, c.RxCRC = 4, 4 })},
		{"frames-too-long", end(func(c *netstate.InterfaceCounters) { c.RxErrors, c.RxLength = 4, 4 })},
		{"rx-dropped", end(func(c *netstate.InterfaceCounters) { c.RxDropped = 50 })},
		{"tx-dropped", end(func(c *netstate.InterfaceCounters) { c.TxDropped = 50 })},
		{"tx-carrier", end(func(c *netstate.InterfaceCounters) { c.TxCarrier = 1 })},
		{"collisions", end(func(c *netstate.InterfaceCounters) { c.Collisions = 9 })},
		{"other-host-frames", end(func(c *netstate.InterfaceCounters) { c.RxOtherhost = 500 })},
		{"standby-traffic", end(func(c *netstate.InterfaceCounters) { c.RxNoHandler = 500 })},
		{"ring-overrun", end(func(c *netstate.InterfaceCounters) { c.RxMissed = 5 })},
		{"tcp-md5", grown("TcpExt.TCPMD5Failure", 3)},
		{"", grown("Tcp.RetransSegs", 9)},
		{"", grown("TcpExt.TCPDeferAcceptDrop", 1000)}, // each handshake of such a listener
		{"tcp-retransmissions", grown("Tcp.RetransSegs", 30)},
		{"", func(s *netstate.HostSnapshot) { // one timeout, of a packet of 45 segments
			s.Reading.End.SNMP["Tcp.RetransSegs"], s.Reading.End.SNMP["TcpExt.TCPTimeouts"] = 45, 1
		}},
		{"tcp-retransmissions", func(s *netstate.HostSnapshot) {
			s.Reading.End.SNMP["Tcp.RetransSegs"], s.Reading.End.SNMP["TcpExt.TCPSackRecovery"] = 300, 1
		}},
		{"socket-backlog-drop", grown("TcpExt.TCPBacklogDrop", 3)},
		{"syn-queue-full", grown("TcpExt.TCPReqQFullDrop", 3)},
		{"conntrack-full", func(s *netstate.HostSnapshot) {
			s.State.Conntrack = &netstate.Conntrack{Count: 65000, Most: 65536}
		}},
		{"files-exhausted", func(s *netstate.HostSnapshot) { s.State.OpenFiles, s.State.MostFiles = 99, 100 }},
		{"slow-clock-source", func(s *netstate.HostSnapshot) {
			s.State.Clock = &netstate.ClockSource{Source: "hpet", Available: []string{"tsc", "hpet"},
				Synchronised: true}
		}},
		{"clock-unsynchronised",
			func(s *netstate.HostSnapshot) { s.State.Clock = &netstate.ClockSource{Source: "tsc"} }},
		{"powersave-governor", func(s *netstate.HostSnapshot) { s.State.Governors = map[string]int{"powersave": 8} }},
		{"resolver-absent", func(s *netstate.HostSnapshot) {
			s.State.Resolver = &netstate.Resolver{Servers: []string{"127.0.0.53"}}
		}},
		{"", func(s *netstate.HostSnapshot) {
			s.State.Resolver = &netstate.Resolver{Servers: []string{"127.0.0.53"}}
			s.State.Listeners = []netstate.Listener{{Protocol: "udp", Local: "127.0.0.53:53"}}
		}},
		{"resolver-unresolved", func(s *netstate.HostSnapshot) {
			s.State.Resolver = &netstate.Resolver{Servers: []string{"192.0.2.9", "192.0.2.10"}}
			s.Reading.Snapshot.Neighbours = []netstate.Neighbour{{Interface: "eth0", Address: "192.0.2.9",
				State: "FAILED"}}
		}},
		{"duplicate-address", func(s *netstate.HostSnapshot) {
			s.Reading.Snapshot.Interfaces[0].Duplicates = []string{"2001:db8::1/64"}
		}},
		{"wrong-neighbour", static("192.0.2.9", "02:00:00:00:00:aa")},
		{"static-neighbour", static("192.0.2.9", "02:00:00:00:00:99")}, // who answers
		{"static-neighbour", static("192.0.2.9", "00:00:5e:00:01:07")}, // a virtual router's
		{"static-neighbour", static("192.0.2.8", "02:00:00:00:00:aa")}, // nothing answers
		{"udp-buffer-overflow", grown("Udp6.RcvbufErrors", 3)},
		{"fragmentation-needed", grown("Ip6.FragFails", 3)},
		{"", grown("Ip6.OutNoRoutes", 300)}, // a host without IPv6 looks names up
		{"resolver-search-long", func(s *netstate.HostSnapshot) {
			s.State.Resolver = &netstate.Resolver{Servers: []string{"192.0.2.9"}, Search: []string{"a", "b", "c"},
				Options: []string{"ndots:5"}}
		}},
		{"parameter-not-applied", func(s *netstate.HostSnapshot) {
			s.State.Parameters["net.core.somaxconn"] = "4096"
			s.State.Files = []netstate.ParameterLine{{File: "/etc/sysctl.conf", Line: 3, Key: "net.core.somaxconn",
				Value: "8192"}}
		}},
		{"parameter-set-twice", func(s *netstate.HostSnapshot) {
			s.State.Parameters["net.core.somaxconn"] = "8192"
			s.State.Files = []netstate.ParameterLine{{File: "a.conf", Line: 3, Key: "net.core.somaxconn",
				Value: "4096"},
				{File: "b.conf", Line: 1, Key: "net.core.somaxconn", Value: "8192"}}
		}},
		{"orphans-many", func(s *netstate.HostSnapshot) {
			s.State.Sockstat = map[string]int64{"TCP.orphan": 900}
			s.State.Parameters["net.ipv4.tcp_max_orphans"] = "1000"
		}},
		{"neighbour-table-full", func(s *netstate.HostSnapshot) {
			s.State.Neighbours = map[string]int{"ipv4": 1020}
			s.State.Parameters["net.ipv4.neigh.default.gc_thresh3"] = "1024"
		}},
		{"backlog-small", func(s *netstate.HostSnapshot) {
			s.State.Listeners = []netstate.Listener{{Protocol: "tcp", Local: "0.0.0.0:80", Backlog: 1,
				Program: "server"}}
		}},
		{"resolver-dead", diagnosetest.Probed(
			netstate.Probe{Resolvers: []netstate.ResolverProbe{{Server: "192.0.2.9", Error: "no answer"},
				{Server: "192.0.2.10"}}})},
		{"resolver-slow", diagnosetest.Probed(
			netstate.Probe{Resolvers: []netstate.ResolverProbe{{Server: "192.0.2.9", Ms: 900}}})},
		{"probe-unanswered", diagnosetest.Probed(netstate.Probe{Sent: []string{"1 ARP request"},
			Echo: &netstate.EchoProbe{Sent: 24}})},
		{"probe-lost", diagnosetest.Probed(netstate.Probe{Echo: &netstate.EchoProbe{Sent: 24, Received: 20}})},
		{"", diagnosetest.Probed(netstate.Probe{Echo: &netstate.EchoProbe{Sent: 24, Received: 23}, InterfaceMTU: 1500,
			PathMTU: &netstate.PathMTUProbe{MTU: 1500}, Connects: []netstate.ConnectProbe{
				{Outcome: netstate.ConnectRefused}}})},
		{"mtu-blackhole", diagnosetest.Probed(netstate.Probe{InterfaceMTU: 1500, PathMTU: &netstate.PathMTUProbe{
			MTU: 1400}})},
		{"", diagnosetest.Probed(netstate.Probe{Address: "127.0.0.1", Interface: "lo", InterfaceMTU: 65536,
			PathMTU: &netstate.PathMTUProbe{MTU: 65535, Reported: true}})},
		{"", diagnosetest.Probed(netstate.Probe{Address: "127.0.0.1", Interface: "lo", InterfaceMTU: 65536,
			PathMTU: &netstate.PathMTUProbe{MTU: 65535}})},
		{"path-mtu-smaller", diagnosetest.Probed(netstate.Probe{InterfaceMTU: 1500,
			PathMTU: &netstate.PathMTUProbe{MTU: 1400,
				Reported: true}})},
		{"connect-unanswered", diagnosetest.Probed(netstate.Probe{Echo: &netstate.EchoProbe{Sent: 24, Received: 24},
			Connects: []netstate.ConnectProbe{{Port: 80, Outcome: netstate.ConnectUnanswered}}})},
		{"cpu-saturated", func(s *netstate.HostSnapshot) { s.Reading.End.CPU[0] = netstate.CPUTimes{User: 3} }},
		{"", func(s *netstate.HostSnapshot) { s.Reading.End.CPU[0] = netstate.CPUTimes{User: 3, Nice: 2.9} }},
		{"cpu-stolen", func(s *netstate.HostSnapshot) { s.Reading.End.CPU[0] = netstate.CPUTimes{Idle: 2, Steal: 1} }},
		{"memory-short", func(s *netstate.HostSnapshot) {
			s.State.MemoryBytes, s.Reading.End.Memory = 8e9, &netstate.MemoryLoad{AvailableBytes: 1e8}
		}},
		{"interrupts-delayed", nic(func(n *netstate.NIC) { n.Coalesce = &netstate.Coalesce{RxUs: 400} })},
		{"", nic(func(n *netstate.NIC) { n.Coalesce = &netstate.Coalesce{RxUs: 400, AdaptRx: true} })},
		{"lro-while-forwarding", func(s *netstate.HostSnapshot) {
			s.State.NICs[0].Features["rx-lro"] = true
			s.State.Parameters["net.ipv4.ip_forward"] = "1"
		}},
		{"wireless", nic(func(n *netstate.NIC) { n.Wireless = true })},
		{"transmit-queue-short", nic(func(n *netstate.NIC) { n.TxQueueLen = 10 })},
		{"rfs-incomplete", func(s *netstate.HostSnapshot) {
			s.State.NICs[0].Queues = []netstate.NICQueue{{Queue: "rx-0", Flows: 2048}}
			s.State.Parameters["net.core.rps_sock_flow_entries"] = "0"
		}},
		{"buffer-sizes-disordered",
			func(s *netstate.HostSnapshot) { s.State.Parameters["net.ipv4.tcp_mem"] = "9 5 10" }},
		{"", func(s *netstate.HostSnapshot) { s.State.Parameters["net.ipv4.tcp_mem"] = "5 9 10" }},
		{"rules-many", func(s *netstate.HostSnapshot) { s.Reading.Snapshot.Rules = make([]netstate.RuleEntry, 101) }},
		{"subnets-overlap", func(s *netstate.HostSnapshot) {
			s.Reading.Snapshot.Interfaces = append(s.Reading.Snapshot.Interfaces,
				netstate.InterfaceSnapshot{Interface: "eth1", MAC: "02:00:00:00:09:09", MTU: 1500, Up: true,
					Addresses: []string{"192.0.0.9/16"}})
		}},
		{"static-neighbour", func(s *netstate.HostSnapshot) {
			s.Reading.Snapshot.Neighbours = []netstate.Neighbour{{Interface: "eth0", Address: "192.0.2.9",
				MAC: "02:00:00:00:09:09", State: "PERMANENT"}}
		}},
		{"send-buffer-limited", diagnosetest.Waits("ESTAB", netstate.TCPInfo{SndbufLimited: 5e5, BusyUs: 6e5})},
		{"", diagnosetest.Waits("ESTAB", netstate.TCPInfo{SndbufLimited: 2e5, BusyUs: 6e5})},
		{"window-limited", diagnosetest.Waits("ESTAB", netstate.TCPInfo{RwndLimitedUs: 5e5, BusyUs: 6e5, SndWnd: 8000,
			SndMSS: 1448})},
		{"mss-small", diagnosetest.Waits("ESTAB", netstate.TCPInfo{SndMSS: 500, PMTU: 1500})},
		{"", diagnosetest.Waits("ESTAB", netstate.TCPInfo{SndMSS: 1448, PMTU: 1500})},
		{"udp-socket-dropped", func(s *netstate.HostSnapshot) {
			s.State.Listeners = []netstate.Listener{{Protocol: "udp", Local: "0.0.0.0:69", Drops: 3}}
		}},
		{"closing-unanswered", func(s *netstate.HostSnapshot) { s.State.TCP["LAST-ACK"] = 30 }},
		{"packets-squeezed", func(s *netstate.HostSnapshot) {
			s.Reading.End.Softnet = []netstate.SoftnetCounters{{Processed: 10000, Squeezed: 500}}
		}},
	} {
		s := diagnosetest.HostNamed("nas", 15)
		test.change(&s)
		e := Hosts([]netstate.HostSnapshot{s})
		var ids []string
		for _, f := range e.Findings {
			if test.id == "" || f.ExplainedBy != test.id {
				ids = append(ids, f.ID)
			}
			if f.ID == test.id && (!f.IsData() && (len(f.Evidence) == 0 || len(f.Fix) == 0 || f.Reference == "") ||
				f.ExplainedBy != "") {
				t.Errorf("%+v", f)
			}
		}
		if test.id == "" && len(ids) > 0 || test.id != "" && !slices.Equal(ids, []string{test.id}) {
			t.Errorf("%q: found %v", test.id, ids)
		}
	}
}

// TestSinceBoot: what grew before the first reading, or where there is only one, is possible.
func TestSinceBoot(t *testing.T) {
	for _, over := range []float64{3, 0} {
		s := diagnosetest.HostNamed("nas", 15)
		s.OverS = over
		s.Reading.Begin.SNMP["TcpExt.ListenOverflows"], s.Reading.End.SNMP["TcpExt.ListenOverflows"] = 7, 7
		if over == 0 {
			s.Reading.Begin = netstate.Reading{}
		}
		e := Hosts([]netstate.HostSnapshot{s})
		if len(e.Findings) != 1 || !e.Findings[0].Boot || e.Findings[0].Confidence != record.Possible ||
			!slices.Contains(e.Findings[0].Facts,
				fact.Fact{Host: "nas", Is: fact.Counter{Name: "TcpExt.ListenOverflows", Grew: 7,
					Boot: true}}) {
			t.Errorf("over %g s: %+v", over, e.Findings)
		}
		if len(e.Drops) != 1 || !e.Drops[0].Boot || e.Drops[0].Packets != 7 {
			t.Errorf("%+v", e.Drops)
		}
	}
	s := diagnosetest.HostNamed("nas", 15)
	s.Reading.End.SNMP["TcpExt.ListenOverflows"] = 7
	if e := Hosts([]netstate.HostSnapshot{s}); len(e.Findings) != 1 || e.Findings[0].Boot {
		t.Errorf("what grows now: %+v", e.Findings)
	}
}

// TestCounters: each counter that a rule goes by is named once, with its rules.
func TestCounters(t *testing.T) {
	list := counter.Counters()
	i := slices.IndexFunc(list, func(c counter.Counter) bool { return c.Name == "TcpExt.ListenOverflows" })
	if i < 0 || !slices.Equal(list[i].Rules, []string{"listen-overflow"}) {
		t.Errorf("%+v", list)
	}
	for i, c := range list {
		if len(c.Rules) == 0 || i > 0 && list[i-1].Name >= c.Name {
			t.Errorf("%+v", c)
		}
		for _, one := range c.Rules {
			if !slices.ContainsFunc(Rules(), func(r rule.Description) bool { return r.ID == one }) {
				t.Errorf("%s: no rule %s", c.Name, one)
			}
		}
	}
}

// TestRegistry: every rule is described, and names rules and parts that there are.
func TestRegistry(t *testing.T) {
	known := map[string]bool{}
	for _, r := range Rules() {
		if known[r.ID] {
			t.Errorf("two rules are called %s", r.ID)
		}
		known[r.ID] = true
	}
	full := diagnosetest.HostNamed("nas", 15)
	full.State.Probes = []netstate.Probe{{}}
	for _, r := range Rules() {
		for _, other := range r.Explains {
			if !known[other] {
				t.Errorf("%s explains %s, which is no rule", r.ID, other)
			}
		}
	}
	for _, u := range Hosts([]netstate.HostSnapshot{full}).Unevaluated {
		t.Errorf("%s needs what no snapshot has: %s", u.Rule, u.Why)
	}
}
