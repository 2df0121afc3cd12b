package audit

import (
	"fmt"

	"linerate/internal/model/record"
	"linerate/internal/science/sciencetest"
)

// busy has flows on few uplinks and other traffic; calm has little noise; hashed has two flows a pair
// on links of which each carries a host, so that many pairs share one.
var (
	busyMesh = sciencetest.Mesh{Hosts: 500, PerRack: 20, Flows: 4, Links: 4, Headroom: 1.5, Noise: 0.01,
		HostNoise: 0.01, Load: 0.1, Missing: 0.05, BadRounds: 0.05}
	calmMesh = sciencetest.Mesh{Hosts: 12, Noise: 0.005, HostNoise: 0.005}
	hashMesh = sciencetest.Mesh{Hosts: 500, PerRack: 20, Flows: 2, Links: 20, Headroom: 1, Noise: 0.01,
		HostNoise: 0.01, Load: 0.05, Missing: 0.05}
	latencies = sciencetest.Mesh{Hosts: 64, PerRack: 16, Noise: 0.15, HostNoise: 0.05, Load: 0.1, Missing: 0.05,
		Latency: true}
)

func sized(m sciencetest.Mesh, hosts, perRack int) sciencetest.Mesh {
	m.Hosts, m.PerRack = hosts, perRack
	return m
}

func faulty(m sciencetest.Mesh, faults ...sciencetest.MeshFault) sciencetest.Mesh {
	m.Faults = faults
	return m
}

func designed(m sciencetest.Mesh, rate float64, hosts int) sciencetest.Mesh {
	for range hosts {
		m.Rates = append(m.Rates, rate)
	}
	return m
}

func capped(f sciencetest.MeshFault) sciencetest.MeshFault {
	f.Cap = true
	return f
}

func lossy(f sciencetest.MeshFault) sciencetest.MeshFault {
	f.Noisy = true
	return f
}

// ofHost is a fault of h7.
func ofHost(kind string, share float64) sciencetest.MeshFault {
	return sciencetest.MeshFault{MeshSuspect: record.MeshSuspect{Kind: kind, Host: "h7"}, Share: share}
}

func between(kind, from, to string, share float64) sciencetest.MeshFault {
	return sciencetest.MeshFault{MeshSuspect: record.MeshSuspect{Kind: kind, From: from, To: to}, Share: share}
}

var (
	sends, receives, both = record.MeshSends, record.MeshReceives, record.MeshHost
	second                = sciencetest.MeshFault{MeshSuspect: record.MeshSuspect{Kind: sends, Host: "h9"}, Share: 0.7}
)

// planned are the same mesh with each fault that triage has to find, and with shifts.
func everyFault(name string, m sciencetest.Mesh, triage, passes, heavy int) (list []meshRow) {
	add := func(what string, least float64, m sciencetest.Mesh) {
		list = append(list, meshRow{name + ", " + what, m, triage, passes, least, heavy})
	}
	add("no fault", 0, m)
	for _, f := range []sciencetest.MeshFault{ofHost(receives, 0.8), capped(ofHost(sends, 0.8)), ofHost(both, 0.5),
		ofHost(receives, 0.1), ofHost(both, 0), lossy(ofHost(sends, 0.2))} {
		add(describe(f), 0.95, faulty(m, f))
	}
	add("two hosts: receives 50 %, sends 70 %", 0.95, faulty(m, ofHost(receives, 0.5), second))
	if m.PerRack > 0 {
		add("what leaves a rack at 50 %", 0.95, faulty(m, between(record.MeshUplink, "r2", "", 0.5)))
		add("what leaves a rack at 50 %, and a host receives 50 %", 0.95,
			faulty(m, between(record.MeshUplink, "r2", "", 0.5), ofHost(receives, 0.5)))
		least := 0.0
		if passes > 0 {
			least = 0.95
		}
		add("a pair of racks at 50 %", least, faulty(m, between(record.MeshRacks, "r2", "r1", 0.5)))
	}
	least := 0.0
	if passes > 0 {
		least = 0.95
	}
	add("a pair at 10 %", least, faulty(m, between(record.MeshPair, "h3", "h4", 0.1)))
	return list
}

func describe(f sciencetest.MeshFault) string {
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

var meshRows = append(append(append(append(append(
	everyFault("500 hosts, triage", busyMesh, 10, 0, 0),
	everyFault("500 hosts, 2 flows on 20 links, triage", hashMesh, 10, 0, 0)...),
	everyFault("64 hosts, triage", sized(busyMesh, 64, 16), 10, 0, 0)...),
	everyFault("64 hosts, shifts", sized(busyMesh, 64, 16), 0, 1, 0)...),
	everyFault("12 hosts, shifts", calmMesh, 0, 1, 0)...),
	meshRow{name: "500 hosts, shifts, no fault", mesh: busyMesh, passes: 1, heavy: 50},
	meshRow{name: "500 hosts, shifts, a host receives 80 %", mesh: faulty(busyMesh, ofHost(receives, 0.8)), passes: 1,
		heavy: 50, least: 0.95},
	meshRow{name: "3 hosts, shifts, no fault", mesh: sized(calmMesh, 3, 0), passes: 1},
	meshRow{name: "4 hosts, shifts, no fault", mesh: sized(calmMesh, 4, 0), passes: 1},
	meshRow{name: "12 hosts, triage, no fault", mesh: calmMesh, triage: 10},
	meshRow{name: "3 hosts, shifts, a host receives 25 %", mesh: faulty(sized(calmMesh, 3, 0),
		sciencetest.MeshFault{MeshSuspect: record.MeshSuspect{Kind: receives, Host: "h2"}, Share: 0.25}), passes: 1,
		least: 0.95},
	meshRow{name: "4 hosts, shifts, a host receives 25 %", mesh: faulty(sized(calmMesh, 4, 0),
		sciencetest.MeshFault{MeshSuspect: record.MeshSuspect{Kind: receives, Host: "h2"}, Share: 0.25}), passes: 1,
		least: 0.95},
	meshRow{name: "64 hosts, 20 with a tenth of the rate, no fault",
		mesh: designed(sized(busyMesh, 64, 16), 0.1, 20), triage: 10},
	meshRow{name: "64 hosts, 20 with a tenth of the rate, a host receives 50 %",
		mesh: designed(sized(faulty(busyMesh, ofHost(receives, 0.5)), 64, 16), 0.1, 20), triage: 10, least: 0.95},
	meshRow{name: "64 hosts, latency, no fault", mesh: latencies, triage: 10},
	meshRow{name: "64 hosts, latency, a host receives at twice the time",
		mesh: faulty(latencies, ofHost(receives, 0.5)), triage: 10, least: 0.95},
)
