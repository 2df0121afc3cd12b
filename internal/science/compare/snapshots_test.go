package compare

import (
	"slices"
	"testing"

	"linerate/internal/model/record"
)

// TestSnapshots: what differs is named with its section and both values, counters by how much
// they grew, and what changes all the time is left out.
func TestSnapshots(t *testing.T) {
	host := func() record.HostSnapshot {
		var s record.HostSnapshot
		s.Reading.Host = "nas"
		s.Reading.Snapshot.Interfaces = []record.InterfaceSnapshot{{Interface: "eth0", Index: 2, MTU: 1500, Up: true, Addresses: []string{"192.0.2.1/24"}}}
		s.Reading.Snapshot.Routes = []record.RouteEntry{{Table: 254, To: "0.0.0.0/0", Text: "default via 192.0.2.9 dev eth0"}}
		s.Reading.Snapshot.Neighbours = []record.Neighbour{{Interface: "eth0", Address: "192.0.2.9", MAC: "02:00:00:00:00:09", State: "REACHABLE"}}
		s.Reading.End.Interfaces = []record.InterfaceCounters{{Interface: "eth0", RxBytes: 100, AtNs: 5}}
		s.State.Parameters = map[string]string{"net.ipv4.tcp_sack": "1"}
		s.State.NICs = []record.NIC{{Interface: "eth0", Features: map[string]bool{"rx-gro": true}}}
		return s
	}
	from, to := host(), host()
	to.Reading.Snapshot.Interfaces[0].MTU = 9000
	to.Reading.Snapshot.Interfaces[0].Addresses = []string{"192.0.2.1/24", "192.0.2.2/24"}
	to.Reading.Snapshot.Routes[0].Text = "default via 192.0.2.8 dev eth0"
	to.Reading.Snapshot.Neighbours[0].State = "STALE"
	to.Reading.End.Interfaces[0].RxBytes, to.Reading.End.Interfaces[0].AtNs = 350, 9
	to.State.Parameters["net.ipv4.tcp_sack"] = "0"
	to.State.NICs[0].Features["rx-gro"] = false
	d := Snapshots(from, to)
	for _, want := range []Change{
		{Section: "interfaces", What: "eth0.mtu", From: "1500", To: "9000"},
		{Section: "interfaces", What: "eth0.addresses.192.0.2.2/24", To: "present"},
		{Section: "routes", What: "default via 192.0.2.9 dev eth0", From: "present"},
		{Section: "routes", What: "default via 192.0.2.8 dev eth0", To: "present"},
		{Section: "parameters", What: "net.ipv4.tcp_sack", From: "1", To: "0"},
		{Section: "NICs", What: "eth0.features.rx-gro", From: "true", To: "false"},
	} {
		if !slices.Contains(d.Changes, want) {
			t.Errorf("no %+v in %+v", want, d.Changes)
		}
	}
	for _, c := range d.Changes {
		if c.Section == "neighbours" || c.What == "eth0.table" {
			t.Errorf("%+v", c)
		}
	}
	if !slices.Contains(d.Counters, Change{Section: "interface counters", What: "eth0.rx_bytes", From: "100", To: "350", Grew: 250}) || len(d.Counters) != 1 {
		t.Errorf("%+v", d.Counters)
	}
	if d := Snapshots(from, from); len(d.Changes)+len(d.Counters) > 0 {
		t.Errorf("a snapshot differs from itself: %+v", d)
	}
}
