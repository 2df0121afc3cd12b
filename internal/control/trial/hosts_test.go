package trial

import (
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/topology"
)

// TestOfBridge: another bridge of the same machine is not the switch.
func TestOfBridge(t *testing.T) {
	top := &topology.Topology{Switches: []topology.Switch{{Name: "sw", Via: []string{"env"}, Bridge: "br0"},
		{Name: "lab"}}}
	reading := func(host string) netstate.HostReading {
		table := []netstate.FDBEntry{{MAC: "1", Interface: "p1"}, {MAC: "2", Interface: "c1"},
			{MAC: "3", Interface: "br0"}, {MAC: "4", Interface: "docker0"}}
		return netstate.HostReading{Host: host, Before: netstate.Tables{FDB: table}, Snapshot: netstate.Snapshot{
			Interfaces: []netstate.InterfaceSnapshot{{Interface: "br0"}, {Interface: "p1", Master: "br0"},
				{Interface: "docker0"}, {Interface: "c1", Master: "docker0"}},
			Tables: netstate.Tables{FDB: table},
		}}
	}
	for host, want := range map[string]int{"sw": 2, "lab": 4, "unknown": 4} {
		h := ofBridge(reading(host), top)
		if len(h.Snapshot.FDB) != want || len(h.Before.FDB) != want || len(h.Snapshot.Missing) != 0 {
			t.Errorf("%s: %v, %v", host, h.Snapshot.FDB, h.Before.FDB)
		}
	}
	top.Switches[0].Bridge = "br1"
	h := ofBridge(reading("sw"), top)
	if len(h.Snapshot.FDB) != 0 || len(h.Snapshot.Missing) != 1 {
		t.Errorf("a bridge that is not there: %v, missing %v", h.Snapshot.FDB, h.Snapshot.Missing)
	}
}
