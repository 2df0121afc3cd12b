package compare

import (
	"slices"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
)

// snapshotted is a run with snapshots of a real host, nas, and of a lab's, server, of which
// the later ones and those of the second run are changed.
func snapshotted(change func(*netstate.HostSnapshot)) (from, to *record.Run) {
	host := func(name string) *netstate.HostSnapshot {
		s := &netstate.HostSnapshot{}
		s.Reading.Host = name
		s.Reading.Snapshot.Interfaces = []netstate.InterfaceSnapshot{{Interface: "eth0", MTU: 1500}}
		s.Reading.Snapshot.Neighbours = []netstate.Neighbour{{Interface: "eth0", Address: "192.0.2.9"}}
		s.Reading.End.SNMP = map[string]int64{"Tcp.OutSegs": 1}
		s.State.Parameters = map[string]string{"net.ipv4.tcp_sack": "1", "net.ipv4.conf.eth0.rp_filter": "0"}
		return s
	}
	run := func(change func(*netstate.HostSnapshot)) *record.Run {
		r := &record.Run{Topology: topology.Topology{Hosts: []topology.Host{{Name: "server"},
			{Name: "nas", Via: []string{"ssh", "nas"}}}}}
		for _, h := range r.Topology.Hosts {
			s := netstate.HostSnapshots{Host: h.Name, Before: host(h.Name), After: host(h.Name)}
			change(s.After)
			r.Snapshots = append(r.Snapshots, s)
		}
		return r
	}
	from, to = run(change), run(func(*netstate.HostSnapshot) {})
	for i := range to.Snapshots {
		change(to.Snapshots[i].Before)
	}
	return from, to
}

// TestChanged: what others changed during a run is listed of a real host, of a lab's only what
// is the machine's, and nothing that traffic changes.
func TestChanged(t *testing.T) {
	run, _ := snapshotted(func(s *netstate.HostSnapshot) {
		s.Reading.Snapshot.Interfaces[0].MTU = 9000
		s.Reading.Snapshot.Neighbours = nil
		s.Reading.End.SNMP["Tcp.OutSegs"] = 1000
		s.State.Parameters["net.ipv4.tcp_sack"] = "0"
	})
	sack := record.Change{Section: "parameters", What: "net.ipv4.tcp_sack", From: "1", To: "0"}
	mtu := record.Change{Section: "interfaces", What: "eth0.mtu", From: "1500", To: "9000"}
	got := Changed(run)
	if len(got) != 2 || got[0].To != "server" || !slices.Equal(got[0].Changes, []record.Change{sack}) ||
		got[1].To != "nas" || !slices.Equal(got[1].Changes, []record.Change{mtu, sack}) || len(got[1].Counters) > 0 {
		t.Errorf("%+v", got)
	}
	same, _ := snapshotted(func(*netstate.HostSnapshot) {})
	if got := Changed(same); len(got) > 0 {
		t.Errorf("nothing changed, and there is %+v", got)
	}
	same.Snapshots[0].After = nil // interrupted
	same.Snapshots[1].Before = nil
	if got := append(Changed(same), Changed(&record.Run{})...); len(got) > 0 {
		t.Errorf("without both snapshots there is %+v", got)
	}
}

// TestParametersOfANewInterface: they come with it, and are no changes besides.
func TestParametersOfANewInterface(t *testing.T) {
	run, _ := snapshotted(func(s *netstate.HostSnapshot) {
		s.Reading.Snapshot.Interfaces = append(s.Reading.Snapshot.Interfaces,
			netstate.InterfaceSnapshot{Interface: "eth0.5", MTU: 1500})
		s.State.Parameters["net.ipv4.conf.eth0/5.rp_filter"] = "1"
		s.State.Parameters["net.ipv4.conf.eth0.rp_filter"] = "1"
	})
	got := Changed(run)
	want := []record.Change{{Section: "interfaces", What: "eth0.5", To: record.Present, Parameters: 1},
		{Section: "parameters", What: "net.ipv4.conf.eth0.rp_filter", From: "0", To: "1"}}
	if len(got) != 2 || !slices.Equal(got[1].Changes, want) {
		t.Errorf("%+v", got)
	}
}

// TestHostsOfTwoRuns: the differences of real hosts come whole, those of a lab's without its
// network and counters, and runs without snapshots have none.
func TestHostsOfTwoRuns(t *testing.T) {
	from, to := snapshotted(func(s *netstate.HostSnapshot) {
		s.Reading.Snapshot.Interfaces[0].MTU = 9000
		s.Reading.End.SNMP["Tcp.OutSegs"] = 1000
		s.State.MemoryBytes = 1 << 30
	})
	got := Runs(from, to).Snapshots
	sections := func(list []record.Change) (names []string) {
		for _, c := range list {
			names = append(names, c.Section)
		}
		return names
	}
	if len(got) != 2 || !slices.Equal(sections(got[0].Changes), []string{"machine"}) || len(got[0].Counters) > 0 ||
		!slices.Equal(sections(got[1].Changes), []string{"interfaces", "machine"}) ||
		!slices.Equal(sections(got[1].Counters), []string{"protocol counters"}) {
		t.Errorf("%+v", got)
	}
	from.Snapshots = nil
	if got := Runs(from, to).Snapshots; len(got) > 0 {
		t.Errorf("%+v", got)
	}
}
