package conclude

import (
	"net/netip"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/sciencetest"
)

// chain is a – r1 – r2 – b with one link between neighbours, but for the pair of
// nodes that has two.
func chain(double string) topology.Topology {
	t := topology.Topology{}
	address := func(text string) topology.Address {
		p := netip.MustParsePrefix(text)
		return topology.Address{First: p.Addr(), Last: p.Addr(), Bits: p.Bits()}
	}
	nodes := []string{"a", "r1", "r2", "b"}
	for i, name := range nodes {
		t.Hosts = append(t.Hosts, topology.Host{Name: name, Forward: i == 1 || i == 2})
	}
	port := func(i int, name, text string) topology.End {
		t.Hosts[i].Interfaces = append(t.Hosts[i].Interfaces,
			topology.Interface{Name: name, Addresses: []topology.Address{address(text)}})
		return topology.End{Node: nodes[i], Interface: name}
	}
	net := '0'
	join := func(i int, suffix string) {
		net++
		t.Links = append(t.Links, topology.Link{
			From:       port(i, "down"+suffix, "10."+string(net)+".0.1/24"),
			To:         port(i+1, "up"+suffix, "10."+string(net)+".0.2/24"),
			Impairment: topology.Impairment{Rate: 1e8}})
	}
	for i, name := range nodes[:3] {
		join(i, "")
		if name == double {
			join(i, "2")
		}
	}
	return t
}

// passed is a run of one trial whose flows each take a path, with these bytes
// received and sent by each interface.
func passed(t topology.Topology, paths [][]string, bytes map[topology.End][2]uint64) *record.Run {
	trial := record.Trial{Treatment: "as it is", Block: 1, Order: 1, WindowS: 1, GoodputBps: 8e6}
	for i, path := range paths {
		trial.Flows = append(trial.Flows, record.Flow{ID: "f" + string(rune('1'+i)), From: "a", To: "b",
			Connected: true, ReceivedBytes: 1e6, Path: path})
	}
	for _, h := range t.Hosts {
		reading := netstate.HostReading{Host: h.Name}
		for _, p := range h.Interfaces {
			b := bytes[topology.End{Node: h.Name, Interface: p.Name}]
			reading.Begin.Interfaces = append(reading.Begin.Interfaces, netstate.InterfaceCounters{Interface: p.Name})
			reading.End.Interfaces = append(reading.End.Interfaces, netstate.InterfaceCounters{Interface: p.Name,
				RxBytes: b[0], TxBytes: b[1], AtNs: 1e9})
		}
		trial.Hosts = append(trial.Hosts, reading)
	}
	return &record.Run{Topology: t, Trials: []record.Trial{trial}}
}

func interfaceOf(t *testing.T, run *record.Run, host, port string) record.TreatmentInterface {
	t.Helper()
	for _, p := range run.Treatments[0].Interfaces {
		if p.Host == host && p.Interface == port {
			return p
		}
	}
	t.Fatalf("no %s.%s", host, port)
	return record.TreatmentInterface{}
}

// The ends of flows come first, then parallel interfaces of routers; a router that
// has no choice is not asked about.
func TestFocus(t *testing.T) {
	one := []string{"a.down", "r1.up", "r1.down", "r2.up", "r2.down", "b.up"}
	plain := passed(chain(""), [][]string{one}, map[topology.End][2]uint64{{Node: "r1", Interface: "up"}: {1e6, 100},
		{Node: "r1", Interface: "down"}: {100, 1e6}})
	if q := Focus(plain); q.Host != "" {
		t.Errorf("no host has a choice, but %+v", q)
	}
	Conclude(plain)
	for _, port := range []string{"up", "down"} {
		if p := interfaceOf(t, plain, "r1", port); p.Direction != "" || p.Share != 0 {
			t.Errorf("a router's single path has a share: %+v", p)
		}
	}
	two := []string{"a.down2", "r1.up2", "r1.down", "r2.up", "r2.down", "b.up"}
	if q := Focus(passed(chain("a"), [][]string{one, two}, nil)); q.Host != "a" || len(q.Interfaces) != 2 ||
		q.Forwards {
		t.Errorf("a has two uplinks: %+v", q)
	}
	two = []string{"a.down", "r1.up", "r1.down2", "r2.up2", "r2.down", "b.up"}
	parallel := passed(chain("r1"), [][]string{one, two}, map[topology.End][2]uint64{
		{Node: "r1", Interface: "up"}: {2e6, 100}, {Node: "r1", Interface: "down"}: {50, 15e5},
		{Node: "r1", Interface: "down2"}: {50, 5e5}})
	if q := Focus(parallel); q.Host != "r1" || len(q.Interfaces) != 2 || !q.Forwards {
		t.Errorf("r1 has two paths onward: %+v", q)
	}
	Conclude(parallel)
	if p := interfaceOf(t, parallel, "r1", "down"); p.Share != 0.75 || p.Direction != record.Tx {
		t.Errorf("three of four bytes left by it: %+v", p)
	}
	if p := interfaceOf(t, parallel, "r1", "up"); p.Direction != "" {
		t.Errorf("not a parallel interface: %+v", p)
	}
}

// Data in both directions is counted in each; the less even one is the share.
func TestSharesOfBothDirections(t *testing.T) {
	run := sciencetest.Run(7, 1)
	all := run.Trials[:0]
	for _, trial := range run.Trials {
		if trial.Levels["fix"] == "static ARP entries" { // even in, by one interface out
			all = append(all, trial)
		}
	}
	run.Trials = all[:1]
	other := all[1]
	run.Trials[0].Flows = append(run.Trials[0].Flows, other.Flows...)
	for h := range run.Trials[0].Hosts {
		for p := range run.Trials[0].Hosts[h].End.Interfaces {
			a, b := &run.Trials[0].Hosts[h].End.Interfaces[p], other.Hosts[h]
			a.RxBytes += b.End.Interfaces[p].RxBytes - b.Begin.Interfaces[p].RxBytes
			a.TxBytes += b.End.Interfaces[p].TxBytes - b.Begin.Interfaces[p].TxBytes
		}
	}
	Conclude(run)
	p := interfaceOf(t, run, "server", "eth1")
	if p.Direction != record.Tx || p.ShareRx == nil || p.ShareTx == nil || p.Share != *p.ShareTx || *p.ShareTx > 0.01 ||
		*p.ShareRx < 0.2 || *p.ShareRx > 0.3 {
		t.Errorf("eth1 takes a quarter and sends nothing: %+v", p)
	}
	trial := &run.Trials[0]
	if s := interfaceUse(run, Focus(run), func(*record.Trial) bool { return true }); s.Of != 4 || s.Least != 1 ||
		s.Direction != record.Tx {
		t.Errorf("one of four interfaces sends: %+v", s)
	}
	for i := range trial.Flows {
		trial.Flows[i].Connected, trial.Flows[i].ReceivedBytes = false, 0
	}
	Conclude(run)
	if p := interfaceOf(t, run, "server", "eth1"); p.Direction != "" || p.Share != 0 || p.ShareRx != nil {
		t.Errorf("no flow's data, but a share: %+v", p)
	}
}
