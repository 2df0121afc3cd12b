package diagnose

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/record"
)

var update = flag.Bool("update", false, "write the tables of docs/doctor-rules.md and testdata/findings.golden")

// hostNamed is a snapshot of a host with a NIC at 1 Gbit/s that works.
func hostNamed(name string, n int) record.HostSnapshot {
	numa, on := 0, true
	s := record.HostSnapshot{Schema: record.HostSnapshotSchema, OverS: 3,
		Host: record.HostEnvironment{Host: name, CPUs: 8}}
	s.Reading.Host = name
	s.Reading.Snapshot.Interfaces = []record.InterfaceSnapshot{
		{Interface: "eth0", MAC: fmt.Sprintf("02:00:00:00:00:%02x", n), MTU: 1500, Up: true,
			Addresses: []string{fmt.Sprintf("192.0.2.%d/24", n)}}}
	s.Reading.Begin.Interfaces = []record.InterfaceCounters{{Interface: "eth0", RxPackets: 1000, TxPackets: 1000}}
	s.Reading.End.Interfaces = []record.InterfaceCounters{{Interface: "eth0", RxPackets: 2000, TxPackets: 2000,
		AtNs: 3e9}}
	s.Reading.Begin.SNMP, s.Reading.End.SNMP = map[string]int64{"Tcp.OutSegs": 1000},
		map[string]int64{"Tcp.OutSegs": 2000}
	s.Reading.Begin.CPU, s.Reading.End.CPU = []record.CPUTimes{{}}, []record.CPUTimes{{Idle: 2.8, User: 0.2}}
	s.Reading.Begin.Softnet, s.Reading.End.Softnet = []record.SoftnetCounters{{}}, []record.SoftnetCounters{{}}
	s.State = record.HostState{
		KernelDrops: &record.KernelDrops{},
		UptimeS:     86400, FirstNamespace: true, TCP: map[string]int{}, Parameters: map[string]string{
			"net.ipv4.tcp_window_scaling": "1"},
		NICs: []record.NIC{{Interface: "eth0", Driver: "igb", Bus: "0000:03:00.0", NUMA: &numa, OperState: "up",
			Carrier: true, SpeedMbps: 1000, BestMbps: 1000, OfferedMbps: 1000, Duplex: "full", Autoneg: &on,
			Channels: &record.Channels{Combined: 4, MostCombined: 4}, Features: map[string]bool{"rx-gro": true,
				"tx-tcp-segmentation": true}}},
	}
	for _, part := range []string{"nics", "parameters", "parameter files", "sockets", "sockstat", "neighbour tables",
		"conntrack", "resolver", "clock", "frequency governors", "open files", "memory", "nexthops", "nftables", "lldp",
		"kernel log", record.ByTracepoint} {
		s.State.Parts = append(s.State.Parts, record.StatePart{Part: part})
	}
	return s
}

// interrupts are three with the same CPUs.
func interrupts(cpus string) (list []record.IRQ) {
	for n := range 3 {
		list = append(list, record.IRQ{IRQ: 30 + n, Affinity: cpus, Count: 5})
	}
	return list
}

// waits is a connection with data to send.
func waits(state string, i record.TCPInfo) func(*record.HostSnapshot) {
	return func(s *record.HostSnapshot) {
		s.State.Notable = []record.Connection{{Local: "192.0.2.15:9", Remote: "192.0.2.16:9", State: state,
			SendQueue: 100, Info: &i}}
	}
}

func probed(p record.Probe) func(*record.HostSnapshot) {
	return func(s *record.HostSnapshot) { s.State.Probes = []record.Probe{p} }
}

// TestHostRules: records of what a lab cannot have, each found by its rule and no other that is
// at least likely; and none in a host that works.
func TestHostRules(t *testing.T) {
	nic := func(change func(*record.NIC)) func(*record.HostSnapshot) {
		return func(s *record.HostSnapshot) { change(&s.State.NICs[0]) }
	}
	end := func(change func(*record.InterfaceCounters)) func(*record.HostSnapshot) {
		return func(s *record.HostSnapshot) { change(&s.Reading.End.Interfaces[0]) }
	}
	grown := func(name string, n int64) func(*record.HostSnapshot) {
		return func(s *record.HostSnapshot) { s.Reading.End.SNMP[name] = n }
	}
	static := func(address, mac string) func(*record.HostSnapshot) {
		return func(s *record.HostSnapshot) {
			s.Reading.Snapshot.Neighbours = []record.Neighbour{{Interface: "eth0", Address: address, MAC: mac,
				State: "PERMANENT"}}
			s.Reading.Snapshot.Answers = []record.Neighbour{{Interface: "eth0", Address: "192.0.2.9",
				MAC: "02:00:00:00:00:99"}}
		}
	}
	off := false
	for _, test := range []struct {
		id     string // empty: nothing is found
		change func(*record.HostSnapshot)
	}{
		{"", func(*record.HostSnapshot) {}},
		{"half-duplex", nic(func(n *record.NIC) { n.Duplex = "half" })},
		{"speed-below-best", nic(func(n *record.NIC) { n.SpeedMbps, n.OfferedMbps = 100, 100 })},
		{"autoneg-off", nic(func(n *record.NIC) { n.Autoneg = &off })},
		{"carrier-flaps", nic(func(n *record.NIC) { n.CarrierChanges = 40 })},
		{"pcie-narrow", nic(func(n *record.NIC) {
			n.PCIe, n.SpeedMbps, n.BestMbps = &record.PCIeLink{Width: 4, MostWidth: 8, GTps: 2.5, MostGTps: 2.5},
				10000, 10000
		})},
		{"usb2-adapter", nic(func(n *record.NIC) { n.USBMbps = 480 })},
		{"emulated-nic", nic(func(n *record.NIC) { n.Driver = "e1000" })},
		{"one-queue", nic(func(n *record.NIC) { n.Channels = &record.Channels{Combined: 1, MostCombined: 8} })},
		{"one-cpu-for-interrupts", nic(func(n *record.NIC) { n.IRQs = interrupts("2") })},
		{"", nic(func(n *record.NIC) { n.IRQs = interrupts("0-7") })},
		{"offload-off", nic(func(n *record.NIC) { n.Features["rx-gro"] = false })},
		{"promiscuous", nic(func(n *record.NIC) { n.Promiscuous = true })},
		{"interface-errors", end(func(c *record.InterfaceCounters) { c.RxErrors, c.RxCRC = 4, 4 })},
		{"frames-too-long", end(func(c *record.InterfaceCounters) { c.RxErrors, c.RxLength = 4, 4 })},
		{"rx-dropped", end(func(c *record.InterfaceCounters) { c.RxDropped = 50 })},
		{"tx-dropped", end(func(c *record.InterfaceCounters) { c.TxDropped = 50 })},
		{"tx-carrier", end(func(c *record.InterfaceCounters) { c.TxCarrier = 1 })},
		{"collisions", end(func(c *record.InterfaceCounters) { c.Collisions = 9 })},
		{"other-host-frames", end(func(c *record.InterfaceCounters) { c.RxOtherhost = 500 })},
		{"standby-traffic", end(func(c *record.InterfaceCounters) { c.RxNoHandler = 500 })},
		{"ring-overrun", end(func(c *record.InterfaceCounters) { c.RxMissed = 5 })},
		{"tcp-md5", grown("TcpExt.TCPMD5Failure", 3)},
		{"", grown("Tcp.RetransSegs", 9)},
		{"", grown("TcpExt.TCPDeferAcceptDrop", 1000)}, // each handshake of such a listener
		{"tcp-retransmissions", grown("Tcp.RetransSegs", 30)},
		{"", func(s *record.HostSnapshot) { // one timeout, of a packet of 45 segments
			s.Reading.End.SNMP["Tcp.RetransSegs"], s.Reading.End.SNMP["TcpExt.TCPTimeouts"] = 45, 1
		}},
		{"tcp-retransmissions", func(s *record.HostSnapshot) {
			s.Reading.End.SNMP["Tcp.RetransSegs"], s.Reading.End.SNMP["TcpExt.TCPSackRecovery"] = 300, 1
		}},
		{"socket-backlog-drop", grown("TcpExt.TCPBacklogDrop", 3)},
		{"syn-queue-full", grown("TcpExt.TCPReqQFullDrop", 3)},
		{"conntrack-full", func(s *record.HostSnapshot) {
			s.State.Conntrack = &record.Conntrack{Count: 65000, Most: 65536}
		}},
		{"files-exhausted", func(s *record.HostSnapshot) { s.State.OpenFiles, s.State.MostFiles = 99, 100 }},
		{"slow-clock-source", func(s *record.HostSnapshot) {
			s.State.Clock = &record.ClockSource{Source: "hpet", Available: []string{"tsc", "hpet"}, Synchronised: true}
		}},
		{"clock-unsynchronised", func(s *record.HostSnapshot) { s.State.Clock = &record.ClockSource{Source: "tsc"} }},
		{"powersave-governor", func(s *record.HostSnapshot) { s.State.Governors = map[string]int{"powersave": 8} }},
		{"resolver-absent", func(s *record.HostSnapshot) {
			s.State.Resolver = &record.Resolver{Servers: []string{"127.0.0.53"}}
		}},
		{"", func(s *record.HostSnapshot) {
			s.State.Resolver = &record.Resolver{Servers: []string{"127.0.0.53"}}
			s.State.Listeners = []record.Listener{{Protocol: "udp", Local: "127.0.0.53:53"}}
		}},
		{"resolver-unresolved", func(s *record.HostSnapshot) {
			s.State.Resolver = &record.Resolver{Servers: []string{"192.0.2.9", "192.0.2.10"}}
			s.Reading.Snapshot.Neighbours = []record.Neighbour{{Interface: "eth0", Address: "192.0.2.9",
				State: "FAILED"}}
		}},
		{"duplicate-address", func(s *record.HostSnapshot) {
			s.Reading.Snapshot.Interfaces[0].Duplicates = []string{"2001:db8::1/64"}
		}},
		{"wrong-neighbour", static("192.0.2.9", "02:00:00:00:00:aa")},
		{"static-neighbour", static("192.0.2.9", "02:00:00:00:00:99")}, // who answers
		{"static-neighbour", static("192.0.2.9", "00:00:5e:00:01:07")}, // a virtual router's
		{"static-neighbour", static("192.0.2.8", "02:00:00:00:00:aa")}, // nothing answers
		{"udp-buffer-overflow", grown("Udp6.RcvbufErrors", 3)},
		{"fragmentation-needed", grown("Ip6.FragFails", 3)},
		{"", grown("Ip6.OutNoRoutes", 300)}, // a host without IPv6 looks names up
		{"resolver-search-long", func(s *record.HostSnapshot) {
			s.State.Resolver = &record.Resolver{Servers: []string{"192.0.2.9"}, Search: []string{"a", "b", "c"},
				Options: []string{"ndots:5"}}
		}},
		{"parameter-not-applied", func(s *record.HostSnapshot) {
			s.State.Parameters["net.core.somaxconn"] = "4096"
			s.State.Files = []record.ParameterLine{{File: "/etc/sysctl.conf", Line: 3, Key: "net.core.somaxconn",
				Value: "8192"}}
		}},
		{"parameter-set-twice", func(s *record.HostSnapshot) {
			s.State.Parameters["net.core.somaxconn"] = "8192"
			s.State.Files = []record.ParameterLine{{File: "a.conf", Line: 3, Key: "net.core.somaxconn", Value: "4096"},
				{File: "b.conf", Line: 1, Key: "net.core.somaxconn", Value: "8192"}}
		}},
		{"orphans-many", func(s *record.HostSnapshot) {
			s.State.Sockstat = map[string]int64{"TCP.orphan": 900}
			s.State.Parameters["net.ipv4.tcp_max_orphans"] = "1000"
		}},
		{"neighbour-table-full", func(s *record.HostSnapshot) {
			s.State.Neighbours = map[string]int{"ipv4": 1020}
			s.State.Parameters["net.ipv4.neigh.default.gc_thresh3"] = "1024"
		}},
		{"backlog-small", func(s *record.HostSnapshot) {
			s.State.Listeners = []record.Listener{{Protocol: "tcp", Local: "0.0.0.0:80", Backlog: 1, Program: "server"}}
		}},
		{"resolver-dead", probed(
			record.Probe{Resolvers: []record.ResolverProbe{{Server: "192.0.2.9", Error: "no answer"},
				{Server: "192.0.2.10"}}})},
		{"resolver-slow", probed(record.Probe{Resolvers: []record.ResolverProbe{{Server: "192.0.2.9", Ms: 900}}})},
		{"probe-unanswered", probed(record.Probe{Sent: []string{"1 ARP request"}, Echo: &record.EchoProbe{Sent: 24}})},
		{"probe-lost", probed(record.Probe{Echo: &record.EchoProbe{Sent: 24, Received: 20}})},
		{"", probed(record.Probe{Echo: &record.EchoProbe{Sent: 24, Received: 23}, InterfaceMTU: 1500,
			PathMTU: &record.PathMTUProbe{MTU: 1500}, Connects: []record.ConnectProbe{
				{Outcome: record.ConnectRefused}}})},
		{"mtu-blackhole", probed(record.Probe{InterfaceMTU: 1500, PathMTU: &record.PathMTUProbe{MTU: 1400}})},
		{"", probed(record.Probe{Address: "127.0.0.1", Interface: "lo", InterfaceMTU: 65536,
			PathMTU: &record.PathMTUProbe{MTU: 65535, Reported: true}})},
		{"", probed(record.Probe{Address: "127.0.0.1", Interface: "lo", InterfaceMTU: 65536,
			PathMTU: &record.PathMTUProbe{MTU: 65535}})},
		{"path-mtu-smaller", probed(record.Probe{InterfaceMTU: 1500, PathMTU: &record.PathMTUProbe{MTU: 1400,
			Reported: true}})},
		{"connect-unanswered", probed(record.Probe{Echo: &record.EchoProbe{Sent: 24, Received: 24},
			Connects: []record.ConnectProbe{{Port: 80, Outcome: record.ConnectUnanswered}}})},
		{"cpu-saturated", func(s *record.HostSnapshot) { s.Reading.End.CPU[0] = record.CPUTimes{User: 3} }},
		{"", func(s *record.HostSnapshot) { s.Reading.End.CPU[0] = record.CPUTimes{User: 3, Nice: 2.9} }},
		{"cpu-stolen", func(s *record.HostSnapshot) { s.Reading.End.CPU[0] = record.CPUTimes{Idle: 2, Steal: 1} }},
		{"memory-short", func(s *record.HostSnapshot) {
			s.State.MemoryBytes, s.Reading.End.Memory = 8e9, &record.MemoryLoad{AvailableBytes: 1e8}
		}},
		{"interrupts-delayed", nic(func(n *record.NIC) { n.Coalesce = &record.Coalesce{RxUs: 400} })},
		{"", nic(func(n *record.NIC) { n.Coalesce = &record.Coalesce{RxUs: 400, AdaptRx: true} })},
		{"lro-while-forwarding", func(s *record.HostSnapshot) {
			s.State.NICs[0].Features["rx-lro"] = true
			s.State.Parameters["net.ipv4.ip_forward"] = "1"
		}},
		{"wireless", nic(func(n *record.NIC) { n.Wireless = true })},
		{"transmit-queue-short", nic(func(n *record.NIC) { n.TxQueueLen = 10 })},
		{"rfs-incomplete", func(s *record.HostSnapshot) {
			s.State.NICs[0].Queues = []record.NICQueue{{Queue: "rx-0", Flows: 2048}}
			s.State.Parameters["net.core.rps_sock_flow_entries"] = "0"
		}},
		{"buffer-sizes-disordered", func(s *record.HostSnapshot) { s.State.Parameters["net.ipv4.tcp_mem"] = "9 5 10" }},
		{"", func(s *record.HostSnapshot) { s.State.Parameters["net.ipv4.tcp_mem"] = "5 9 10" }},
		{"rules-many", func(s *record.HostSnapshot) { s.Reading.Snapshot.Rules = make([]record.RuleEntry, 101) }},
		{"subnets-overlap", func(s *record.HostSnapshot) {
			s.Reading.Snapshot.Interfaces = append(s.Reading.Snapshot.Interfaces,
				record.InterfaceSnapshot{Interface: "eth1", MAC: "02:00:00:00:09:09", MTU: 1500, Up: true,
					Addresses: []string{"192.0.0.9/16"}})
		}},
		{"static-neighbour", func(s *record.HostSnapshot) {
			s.Reading.Snapshot.Neighbours = []record.Neighbour{{Interface: "eth0", Address: "192.0.2.9",
				MAC: "02:00:00:00:09:09", State: "PERMANENT"}}
		}},
		{"send-buffer-limited", waits("ESTAB", record.TCPInfo{SndbufLimited: 5e5, BusyUs: 6e5})},
		{"", waits("ESTAB", record.TCPInfo{SndbufLimited: 2e5, BusyUs: 6e5})},
		{"window-limited", waits("ESTAB", record.TCPInfo{RwndLimitedUs: 5e5, BusyUs: 6e5, SndWnd: 8000, SndMSS: 1448})},
		{"mss-small", waits("ESTAB", record.TCPInfo{SndMSS: 500, PMTU: 1500})},
		{"", waits("ESTAB", record.TCPInfo{SndMSS: 1448, PMTU: 1500})},
		{"udp-socket-dropped", func(s *record.HostSnapshot) {
			s.State.Listeners = []record.Listener{{Protocol: "udp", Local: "0.0.0.0:69", Drops: 3}}
		}},
		{"closing-unanswered", func(s *record.HostSnapshot) { s.State.TCP["LAST-ACK"] = 30 }},
		{"packets-squeezed", func(s *record.HostSnapshot) {
			s.Reading.End.Softnet = []record.SoftnetCounters{{Processed: 10000, Squeezed: 500}}
		}},
	} {
		s := hostNamed("nas", 15)
		test.change(&s)
		e := Hosts([]record.HostSnapshot{s})
		var ids []string
		for _, f := range e.Findings {
			if test.id == "" || f.ExplainedBy != test.id {
				ids = append(ids, f.ID)
			}
			if f.ID == test.id && (len(f.Evidence) == 0 || len(f.Fix) == 0 || f.Reference == "" ||
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
		s := hostNamed("nas", 15)
		s.OverS = over
		s.Reading.Begin.SNMP["TcpExt.ListenOverflows"], s.Reading.End.SNMP["TcpExt.ListenOverflows"] = 7, 7
		if over == 0 {
			s.Reading.Begin = record.Reading{}
		}
		e := Hosts([]record.HostSnapshot{s})
		if len(e.Findings) != 1 || !e.Findings[0].Boot || e.Findings[0].Confidence != record.Possible ||
			!strings.Contains(e.Findings[0].Evidence[0], "since boot") {
			t.Errorf("over %g s: %+v", over, e.Findings)
		}
		if len(e.Drops) != 1 || !e.Drops[0].Boot || e.Drops[0].Packets != 7 {
			t.Errorf("%+v", e.Drops)
		}
	}
	s := hostNamed("nas", 15)
	s.Reading.End.SNMP["TcpExt.ListenOverflows"] = 7
	if e := Hosts([]record.HostSnapshot{s}); len(e.Findings) != 1 || e.Findings[0].Boot {
		t.Errorf("what grows now: %+v", e.Findings)
	}
}

// TestCounters: each counter that a rule goes by is named once, with its rules.
func TestCounters(t *testing.T) {
	list := Counters()
	i := slices.IndexFunc(list, func(c Counter) bool { return c.Name == "TcpExt.ListenOverflows" })
	if i < 0 || !slices.Equal(list[i].Rules, []string{"listen-overflow"}) {
		t.Errorf("%+v", list)
	}
	for i, c := range list {
		if len(c.Rules) == 0 || i > 0 && list[i-1].Name >= c.Name {
			t.Errorf("%+v", c)
		}
		for _, rule := range c.Rules {
			if !slices.ContainsFunc(Rules(), func(r Rule) bool { return r.ID == rule }) {
				t.Errorf("%s: no rule %s", c.Name, rule)
			}
		}
	}
}

// TestInside: networks of containers are each host's own, and a bridge without ports is no link
// that is down.
func TestInside(t *testing.T) {
	hosts := []record.HostSnapshot{hostNamed("a", 1), hostNamed("b", 2)}
	for i := range hosts {
		s := &hosts[i]
		s.Reading.Snapshot.Interfaces = append(s.Reading.Snapshot.Interfaces,
			record.InterfaceSnapshot{Interface: "docker0", Kind: "bridge", Up: true, MTU: 1500 - 50*i,
				MAC: "02:42:00:00:00:01", Addresses: []string{"172.17.0.1/16"}},
			record.InterfaceSnapshot{Interface: "veth1", Kind: "veth", Master: "docker0", Up: true, MTU: 1500 - 50*i})
		s.State.NICs = append(s.State.NICs, record.NIC{Interface: "docker0"})
		s.Reading.Snapshot.Routes = []record.RouteEntry{
			record.ParseRoute(254, "", "blackhole 10.244.7.0/26 proto bird")}
	}
	for _, f := range Hosts(hosts).Findings {
		if f.ID != "blackhole-route" || f.Confidence != record.Possible {
			t.Errorf("%+v", f)
		}
	}
	// With a port to a network it is one.
	for i := range hosts {
		hosts[i].Reading.Snapshot.Interfaces[0].Master, hosts[i].Reading.Snapshot.Interfaces[0].Addresses = "docker0",
			nil
	}
	if got := names(Hosts(hosts).Findings); !strings.Contains(got, "address-twice") ||
		!strings.Contains(got, "mtu-differs") {
		t.Error(got)
	}
}

// TestSpelled: evidence has addresses as ip(8) prints them, and the fix of different MTUs is the
// smaller one, which needs nothing of a switch.
func TestSpelled(t *testing.T) {
	a, b := hostNamed("a", 1), hostNamed("b", 2)
	b.Reading.Snapshot.Sysctls = map[string]string{"net.ipv4.conf.all.arp_ignore": "0"}
	b.Reading.Snapshot.Interfaces[0].MTU = 9000
	b.Reading.Snapshot.Interfaces[0].Addresses = []string{"192.0.2.2/24", "192.0.2.1/24", "fe80::1/64"}
	b.Reading.Snapshot.Interfaces = append(b.Reading.Snapshot.Interfaces, record.InterfaceSnapshot{Interface: "eth1",
		MAC: stranger, MTU: 9000, Up: true, Addresses: []string{"192.0.2.3/24"}})
	b.Reading.Snapshot.Routes = []record.RouteEntry{
		record.ParseRoute(mainTable, "0.0.0.0/0", "default via 198.51.100.1 dev eth0")}
	want := map[string]string{
		"mtu-differs":            "on b: ip link set dev eth0 mtu 1500",
		"address-twice":          "b.eth0: 192.0.2.1/24, 02:00:00:00:00:02",
		"same-subnet-interfaces": "eth0: 192.0.2.2/24 and 192.0.2.1/24; eth1: 192.0.2.3/24",
		"gateway-off-link":       "eth0: 192.0.2.2/24, 192.0.2.1/24 and fe80::1/64",
	}
	for _, f := range Hosts([]record.HostSnapshot{a, b}).Findings {
		if line := want[f.ID]; line != "" && slices.Contains(slices.Concat(f.Evidence, f.Fix), line) {
			delete(want, f.ID)
		}
		if strings.ContainsAny(strings.Join(f.Evidence, ""), "[]") {
			t.Errorf("%s: %q", f.ID, f.Evidence)
		}
	}
	if len(want) > 0 {
		t.Errorf("not found: %v", want)
	}
}

// TestUnevaluated: a rule without what it needs is not evaluated, and says why.
func TestUnevaluated(t *testing.T) {
	s := hostNamed("nas", 15)
	s.State.NICs, s.State.Parts[0].Missing = nil, "operation not permitted"
	e := Hosts([]record.HostSnapshot{s})
	i := slices.IndexFunc(e.Unevaluated, func(u record.Unevaluated) bool { return u.Rule == "half-duplex" })
	if i < 0 || e.Unevaluated[i].Why != "nics: operation not permitted" ||
		slices.Contains(e.Evaluated, "half-duplex") || !slices.Contains(e.Evaluated, "window-scaling-off") {
		t.Errorf("%+v", e)
	}
}

// TestExplained: what follows from a cause on the same host says so, and the cause does not.
func TestExplained(t *testing.T) {
	s := hostNamed("nas", 15)
	s.State.Parameters["net.core.somaxconn"] = "16"
	s.Reading.End.SNMP["TcpExt.ListenOverflows"] = 5
	explained := map[string]string{}
	for _, f := range Hosts([]record.HostSnapshot{s, hostNamed("client", 16)}).Findings {
		explained[f.ID+" "+f.Host] = f.ExplainedBy
	}
	// likely cause, certain consequence: the consequence is not folded below what is less sure.
	if by, found := explained["listen-overflow nas"]; !found || by != "" {
		t.Errorf("%v", explained)
	}
	s.State.Listeners = []record.Listener{{Protocol: "tcp", Local: "0.0.0.0:80", Queued: 17, Backlog: 16}}
	for _, f := range Hosts([]record.HostSnapshot{s}).Findings {
		explained[f.ID+" "+f.Host] = f.ExplainedBy
	}
	if explained["listen-overflow nas"] != "accept-queue-full" || explained["accept-queue-full nas"] != "" {
		t.Errorf("%v", explained)
	}
}

// TestRegistry: every rule is described, and names rules and parts that there are.
func TestRegistry(t *testing.T) {
	known := map[string]bool{}
	for _, r := range all.rules {
		if known[r.id] {
			t.Errorf("two rules are called %s", r.id)
		}
		known[r.id] = true
	}
	full := hostNamed("nas", 15)
	full.State.Probes = []record.Probe{{}}
	f := observe([]record.HostSnapshot{full}, false)
	for _, r := range all.rules {
		if !strings.HasSuffix(r.about, ".") {
			t.Errorf("%s: %q is not a description", r.id, r.about)
		}
		for _, other := range r.explains {
			if !known[other] {
				t.Errorf("%s explains %s, which is no rule", r.id, other)
			}
		}
		if lack := lacking(r, f); len(lack) > 0 {
			t.Errorf("%s needs %v, which no snapshot has", r.id, lack)
		}
	}
}

// TestRuleTable: docs/doctor-rules.md has the rules of hosts as the program lists them.
func TestRuleTable(t *testing.T) {
	var b strings.Builder
	b.WriteString("| rule | found when |\n|---|---|\n")
	for _, r := range Rules() {
		if r.Trial {
			continue // docs/findings.md describes it
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", r.ID, strings.ReplaceAll(r.About, "|", "\\|"))
	}
	file := filepath.Join("..", "..", "..", "docs", "doctor-rules.md")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- rules -->\n", "<!-- end of rules -->"
	before, rest, _ := strings.Cut(string(text), begin)
	_, after, found := strings.Cut(rest, end)
	want := before + begin + b.String() + end + after
	if !found {
		t.Fatalf("%s has no %s", file, end)
	}
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(text) != want {
		t.Errorf("%s is not current: go test ./internal/science/diagnose -update", file)
	}
}
