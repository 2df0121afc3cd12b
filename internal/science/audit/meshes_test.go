package audit

import (
	"fmt"
	"slices"

	"linerate/internal/model/record"
	"linerate/internal/science/suspects/meshtest"
)

// busyMesh has flows on few uplinks and other traffic; calmMesh has little noise; hashMesh has two flows
// a pair on links of which each carries a host, so that most pairs share one.
var (
	busyMesh = meshtest.Mesh{Hosts: 500, PerRack: 20, Flows: 4, Links: 4, Headroom: 1.5, Noise: 0.01,
		HostNoise: 0.01, Load: 0.1, Missing: 0.05, BadRounds: 0.05}
	calmMesh = meshtest.Mesh{Hosts: 12, Noise: 0.005, HostNoise: 0.005}
	hashMesh = meshtest.Mesh{Hosts: 500, PerRack: 20, Flows: 2, Links: 20, Headroom: 1, Noise: 0.01,
		HostNoise: 0.01, Load: 0.05, Missing: 0.05}
	latencies = meshtest.Mesh{Hosts: 64, PerRack: 16, Noise: 0.15, HostNoise: 0.05, Load: 0.1, Missing: 0.05,
		Latency: true}
)

func sized(m meshtest.Mesh, hosts, perRack int) meshtest.Mesh {
	m.Hosts, m.PerRack = hosts, perRack
	return m
}

func faulty(m meshtest.Mesh, faults ...meshtest.MeshFault) meshtest.Mesh {
	m.Faults = faults
	return m
}

func designed(m meshtest.Mesh, rate float64, hosts int) meshtest.Mesh {
	for range hosts {
		m.Rates = append(m.Rates, rate)
	}
	return m
}

func capped(f meshtest.MeshFault) meshtest.MeshFault {
	f.Cap = true
	return f
}

func lossy(f meshtest.MeshFault) meshtest.MeshFault {
	f.Noisy = true
	return f
}

// ofHost is a fault of h7.
func ofHost(kind string, share float64) meshtest.MeshFault {
	return meshtest.MeshFault{MeshSuspect: record.MeshSuspect{Kind: kind, Host: "h7"}, Share: share}
}

func between(kind, from, to string, share float64) meshtest.MeshFault {
	return meshtest.MeshFault{MeshSuspect: record.MeshSuspect{Kind: kind, From: from, To: to}, Share: share}
}

var (
	sends, receives, both = record.MeshSends, record.MeshReceives, record.MeshHost
	second                = meshtest.MeshFault{MeshSuspect: record.MeshSuspect{Kind: sends, Host: "h9"}, Share: 0.7}
)

// everyFault is a mesh with each fault. What least says not of is for the eye: one pair of triage that
// is slow cannot be told from others, and a rate that is at most 80 % is no fault where links give less.
func everyFault(name string, m meshtest.Mesh, triage, passes, heavy int, least float64) (list []meshRow) {
	add := func(what string, least float64, faults ...meshtest.MeshFault) {
		list = append(list, meshRow{name: name + ", " + what, mesh: faulty(m, faults...), triage: triage,
			passes: passes, least: least, heavy: heavy, short: m.Hosts < 500})
	}
	add("no fault", 0)
	for _, f := range []meshtest.MeshFault{ofHost(receives, 0.8), capped(ofHost(sends, 0.8))} {
		add(describe(f), least, f)
	}
	for _, f := range []meshtest.MeshFault{ofHost(both, 0.5), ofHost(receives, 0.1), ofHost(both, 0),
		lossy(ofHost(sends, 0.2))} {
		add(describe(f), 0.95, f)
	}
	add("two hosts: receives 50 %, sends 70 %", least, ofHost(receives, 0.5), second)
	pairs := 0.0
	if passes > 0 {
		pairs = 0.95
	}
	if m.PerRack > 0 {
		uplink := between(record.MeshUplink, "r2", "", 0.5)
		add("a rack sends 50 %", 0.95, uplink)
		add("a rack sends 50 %, and a host receives 50 %", 0.95, uplink, ofHost(receives, 0.5))
		add("a pair of racks has 50 %", pairs, between(record.MeshRacks, "r2", "r1", 0.5))
	}
	add("a pair has 10 %", pairs, between(record.MeshPair, "h3", "h4", 0.1))
	return list
}

func describe(f meshtest.MeshFault) string {
	what := map[string]string{sends: "sends", receives: "receives", both: "both directions"}[f.Kind]
	text := fmt.Sprintf("a host %s %.0f %%", what, 100*f.Share)
	if f.Cap {
		text += " at most"
	}
	if f.Noisy {
		text += ", much scatter"
	}
	return text
}

var meshRows = slices.Concat(
	everyFault("500 hosts, triage", busyMesh, 10, 0, 5, 0.95),
	everyFault("500 hosts, hashed, triage", hashMesh, 10, 0, 5, 0)[:4],
	everyFault("64 hosts, triage", sized(busyMesh, 64, 16), 10, 0, 0, 0.95),
	everyFault("64 hosts, shifts", sized(busyMesh, 64, 16), 0, 1, 2, 0.95),
	everyFault("12 hosts, shifts", calmMesh, 0, 1, 0, 0.95),
	[]meshRow{
		{name: "500 hosts, shifts, no fault", mesh: busyMesh, passes: 1, heavy: 100},
		{name: "500 hosts, shifts, a host receives 80 %", mesh: faulty(busyMesh, ofHost(receives, 0.8)), passes: 1,
			heavy: 100, least: 0.95},
		{name: "3 hosts, shifts, no fault", mesh: sized(calmMesh, 3, 0), passes: 1, short: true},
		{name: "3 hosts, shifts, a host receives 25 %", mesh: faulty(sized(calmMesh, 3, 0), quarter), passes: 1,
			least: 0.95, short: true},
		{name: "4 hosts, shifts, no fault", mesh: sized(calmMesh, 4, 0), passes: 1, short: true},
		{name: "4 hosts, shifts, a host receives 25 %", mesh: faulty(sized(calmMesh, 4, 0), quarter), passes: 1,
			least: 0.95, short: true},
		{name: "12 hosts, triage, no fault", mesh: calmMesh, triage: 10, short: true},
		{name: "64 hosts, 20 with a tenth of the rate, no fault", mesh: designed(sized(busyMesh, 64, 16), 0.1, 20),
			triage: 10, short: true},
		{name: "64 hosts, 20 with a tenth of the rate, a host receives 50 %", triage: 10, least: 0.95, short: true,
			mesh: designed(sized(faulty(busyMesh, ofHost(receives, 0.5)), 64, 16), 0.1, 20)},
		{name: "64 hosts, latency, no fault", mesh: latencies, triage: 10, short: true},
		{name: "64 hosts, latency, a host receives in twice the time", mesh: faulty(latencies, ofHost(receives, 0.5)),
			triage: 10, least: 0.95, short: true},
	})

var quarter = meshtest.MeshFault{MeshSuspect: record.MeshSuspect{Kind: record.MeshReceives, Host: "h2"}, Share: 0.25}
