// Package diagnosetest makes snapshots of hosts and trials for the tests of package diagnose and
// its families.
package diagnosetest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/source"
	"linerate/internal/model/topology"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/sciencetest"
)

// Parsed decodes a topology.
func Parsed(t *testing.T, text string) *topology.Topology {
	t.Helper()
	doc, problems := source.Parse("test.yaml", []byte(text))
	over := &topology.Topology{}
	if doc != nil {
		problems = append(problems, doc.Decode(over)...)
	}
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	over.Complete()
	return over
}

// Topo is the topology of sciencetest.Study.
var Topo = sciencetest.Study.Topology()

// Trial is a trial of sciencetest.Study with one of its fixes. The direction is "writes" or
// "reads".
func Trial(fix int, direction string) record.Trial {
	return sciencetest.Study.Trial(sciencetest.Fixes[fix], direction, 1, 1, rand.New(rand.NewPCG(5, 5)))
}

// Names lists findings as "id host confidence".
func Names(findings []record.Finding) string {
	var list []string
	for _, f := range findings {
		list = append(list, fmt.Sprintf("%s %s %s", f.ID, f.Host, f.Confidence))
	}
	return strings.Join(list, ", ")
}

// Find returns the first finding with an ID, and fails the test if there is none.
func Find(t *testing.T, findings []record.Finding, id string) record.Finding {
	t.Helper()
	for _, f := range findings {
		if f.ID == id {
			return f
		}
	}
	t.Fatalf("no %s", id)
	return record.Finding{}
}

// Contains fails the test unless one of the lines contains a text.
func Contains(t *testing.T, lines []string, want string) {
	t.Helper()
	if !slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, want) }) {
		t.Errorf("no %q in\n%s", want, strings.Join(lines, "\n"))
	}
}

// EveryNeighbour changes all neighbour entries of the hosts but the server, at the begin and the
// end of the window.
func EveryNeighbour(t *record.Trial, change func(*netstate.Neighbour)) {
	for h := range t.Hosts {
		if t.Hosts[h].Host == "server" {
			continue
		}
		for _, table := range [][]netstate.Neighbour{t.Hosts[h].Snapshot.Neighbours, t.Hosts[h].Before.Neighbours} {
			for i := range table {
				change(&table[i])
			}
		}
	}
}

// Dropping is a snapshot of a host whose kernel was traced, with the given drops.
func Dropping(rows ...netstate.KernelDrop) netstate.HostSnapshot {
	s := HostNamed("nas", 1)
	s.State.KernelDrops = &netstate.KernelDrops{Rows: rows}
	return s
}

// Stranger is a MAC address that no host has.
const Stranger = "02:00:00:00:00:99"

// HostNamed is a snapshot of a healthy host with one NIC at 1 Gbit/s. n is the last byte of its
// addresses.
func HostNamed(name string, n int) netstate.HostSnapshot {
	numa, on := 0, true
	s := netstate.HostSnapshot{Schema: netstate.HostSnapshotSchema, OverS: 3,
		Host: netstate.HostEnvironment{Host: name, CPUs: 8}}
	s.Reading.Host = name
	s.Reading.Snapshot.Interfaces = []netstate.InterfaceSnapshot{
		{Interface: "eth0", MAC: fmt.Sprintf("02:00:00:00:00:%02x", n), MTU: 1500, Up: true,
			Addresses: []string{fmt.Sprintf("192.0.2.%d/24", n)}}}
	s.Reading.Begin.Interfaces = []netstate.InterfaceCounters{{Interface: "eth0", RxPackets: 1000, TxPackets: 1000}}
	s.Reading.End.Interfaces = []netstate.InterfaceCounters{{Interface: "eth0", RxPackets: 2000, TxPackets: 2000,
		AtNs: 3e9}}
	s.Reading.Begin.SNMP, s.Reading.End.SNMP = map[string]int64{"Tcp.OutSegs": 1000},
		map[string]int64{"Tcp.OutSegs": 2000}
	s.Reading.Begin.CPU, s.Reading.End.CPU = []netstate.CPUTimes{{}}, []netstate.CPUTimes{{Idle: 2.8, User: 0.2}}
	s.Reading.Begin.Softnet, s.Reading.End.Softnet = []netstate.SoftnetCounters{{}}, []netstate.SoftnetCounters{{}}
	s.State = netstate.HostState{
		KernelDrops: &netstate.KernelDrops{},
		UptimeS:     86400, FirstNamespace: true, TCP: map[string]int{}, Parameters: map[string]string{
			"net.ipv4.tcp_window_scaling": "1"},
		NICs: []netstate.NIC{{Interface: "eth0", Driver: "igb", Bus: "0000:03:00.0", NUMA: &numa, OperState: "up",
			Carrier: true, SpeedMbps: 1000, BestMbps: 1000, OfferedMbps: 1000, Duplex: "full", Autoneg: &on,
			Channels: &netstate.Channels{Combined: 4, MostCombined: 4}, Features: map[string]bool{"rx-gro": true,
				"tx-tcp-segmentation": true}}},
	}
	for _, part := range []string{"nics", "parameters", "parameter files", "sockets", "sockstat", "neighbour tables",
		"conntrack", "resolver", "clock", "frequency governors", "open files", "memory", "nexthops", "nftables", "lldp",
		"kernel log", record.ByTracepoint} {
		s.State.Parts = append(s.State.Parts, netstate.StatePart{Part: part})
	}
	return s
}

// Interrupts are three interrupts with the same CPUs.
func Interrupts(cpus string) (list []netstate.IRQ) {
	for n := range 3 {
		list = append(list, netstate.IRQ{IRQ: 30 + n, Affinity: cpus, Count: 5})
	}
	return list
}

// Waits gives a snapshot one connection with data to send.
func Waits(state string, i netstate.TCPInfo) func(*netstate.HostSnapshot) {
	return func(s *netstate.HostSnapshot) {
		s.State.Notable = []netstate.Connection{{Local: "192.0.2.15:9", Remote: "192.0.2.16:9", State: state,
			SendQueue: 100, Info: &i}}
	}
}

// Probed gives a snapshot the results of a probe.
func Probed(p netstate.Probe) func(*netstate.HostSnapshot) {
	return func(s *netstate.HostSnapshot) { s.State.Probes = []netstate.Probe{p} }
}

// Facts returns the facts of a finding in JSON, or its lines of evidence if it has no facts.
func Facts(f record.Finding) string {
	if !f.IsData() {
		return strings.Join(f.Evidence, "\n")
	}
	text, err := json.Marshal(f.Facts)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// FoundBy returns the findings of one rule.
func FoundBy(e record.Evaluation, id string) (list []record.Finding) {
	return slices.DeleteFunc(slices.Clone(e.Findings), func(f record.Finding) bool { return f.ID != id })
}

// TwoHosts returns hosts x (.1) and y (.2), each with eth0 in 10.72.0.0/24 and eth1 in
// 10.73.0.0/24. x has strict reverse-path filters on all interfaces.
func TwoHosts() (x, y netstate.HostSnapshot) {
	for i, s := range []*netstate.HostSnapshot{&x, &y} {
		*s = HostNamed([]string{"x", "y"}[i], i+1)
		r, end := &s.Reading.Snapshot, []string{".1/24", ".2/24"}[i]
		r.Interfaces = nil
		r.Sysctls = map[string]string{"net.ipv4.conf.all.rp_filter": "0", "net.ipv4.conf.all.arp_ignore": "0",
			"net.ipv4.conf.all.arp_announce": "0", "net.ipv4.conf.all.arp_filter": "0"}
		s.Reading.Begin.Interfaces, s.Reading.End.Interfaces = nil, nil
		for n, name := range []string{"eth0", "eth1"} {
			net := []string{"10.72.0", "10.73.0"}[n]
			r.Interfaces = append(r.Interfaces, netstate.InterfaceSnapshot{Interface: name, MAC: "02:00:00:00:0" +
				string(rune('0'+i)) + ":0" + string(rune('0'+n)), MTU: 1500, Up: true, Addresses: []string{net + end}})
			r.Routes = append(r.Routes, netstate.ParseRoute(facts.MainTable, net+".0/24", net+
				".0/24 dev "+name+" proto kernel scope link"))
			s.Reading.Begin.Interfaces = append(s.Reading.Begin.Interfaces, netstate.InterfaceCounters{Interface: name,
				RxPackets: 100})
			s.Reading.End.Interfaces = append(s.Reading.End.Interfaces, netstate.InterfaceCounters{Interface: name,
				RxPackets: 110})
		}
	}
	x.Reading.Snapshot.Sysctls["net.ipv4.conf.all.rp_filter"] = "1"
	return x, y
}

const second = int64(1e9)

// BehindASwitch is a trial of 10 s in which host a sends 100 MB to b through the switch sg300. The
// switch's port towards b sends out bytes, and the flow loses lost bytes.
func BehindASwitch(out uint64, lost int64) (record.Trial, *topology.Topology) {
	over := &topology.Topology{
		Hosts: []topology.Host{{Name: "a", Interfaces: []topology.Interface{{Name: "eth0"}}},
			{Name: "b", Interfaces: []topology.Interface{{Name: "eth0"}}}},
		Switches: []topology.Switch{{Name: "sg300"}},
		Links: []topology.Link{{From: topology.End{Node: "a", Interface: "eth0"},
			To: topology.End{Node: "sg300", Interface: "a-eth0"}},
			{From: topology.End{Node: "b", Interface: "eth0"}, To: topology.End{Node: "sg300", Interface: "b-eth0"}}},
	}
	reading := func(host string, rx, tx uint64) netstate.HostReading {
		at := func(ns int64, rx, tx uint64) netstate.Reading {
			return netstate.Reading{Interfaces: []netstate.InterfaceCounters{{Interface: "eth0", RxBytes: rx,
				TxBytes: tx,
				AtNs:    ns}}}
		}
		return netstate.HostReading{Host: host, Begin: at(0, 0, 0), End: at(10*second, rx, tx),
			Snapshot: netstate.Snapshot{Interfaces: []netstate.InterfaceSnapshot{
				{Interface: "eth0", Kind: "veth", Up: true}}}}
	}
	port := func(name, peer string, in, out uint64) record.SwitchPort {
		return record.SwitchPort{Port: name, Peer: peer, Name: "gi" + name[:1], ToNs: 10 * second,
			Counters: record.SwitchCounters{InOctets: in, OutOctets: out, InUcast: in / 1500, OutUcast: out / 1500}}
	}
	const sent = 100e6
	trial := record.Trial{WindowS: 10, Hosts: []netstate.HostReading{reading("a", 0, sent), reading("b", out, 0)},
		Flows: []record.Flow{{ID: "f1", From: "a", To: "b", Connected: true, RetransBytes: lost,
			Path: []string{"a.eth0", "sg300.a-eth0", "sg300.b-eth0", "b.eth0"}}},
		Switches: []record.SwitchReading{{Switch: "sg300", Ports: []record.SwitchPort{port("a-eth0", "a.eth0", sent, 0),
			port("b-eth0", "b.eth0", 0, out)}}},
	}
	return trial, over
}

// Cut is a trial of the fixed server in which the flow of client1 to 192.168.1.16 (server.eth1) did
// not connect.
func Cut() record.Trial {
	tr := Trial(4, "writes")
	f := &tr.Flows[1]
	f.Connected, f.Alive, f.ReceivedBytes, f.Error, f.Source = false, false, 0, "connect: no route to host", ""
	return tr
}

// Neighbour changes the first client's neighbour entry for the server's second address.
func Neighbour(tr *record.Trial, mac, state string) {
	for _, table := range [][]netstate.Neighbour{tr.Hosts[1].Snapshot.Neighbours, tr.Hosts[1].Before.Neighbours} {
		for i := range table {
			if table[i].Address == "192.168.1.16" {
				table[i].MAC, table[i].State = mac, state
			}
		}
	}
}
