package arp_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/cause"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose"
)

// pastedTables are two clients' entries for a machine, and a switch's for its ports.
func pastedTables(clients [2][]int, ports ...int) (list []netstate.HostSnapshot) {
	mac := func(n int) string { return fmt.Sprintf("00:08:9b:c8:c4:%02x", n) }
	for i, at := range clients {
		s := netstate.HostSnapshot{Schema: netstate.HostSnapshotSchema, Pasted: []string{"neighbours"}}
		s.Reading.Host = fmt.Sprint("brik", i+1)
		for n, m := range at {
			s.Reading.Snapshot.Neighbours = append(s.Reading.Snapshot.Neighbours, netstate.Neighbour{Interface: "eth1",
				Address: fmt.Sprint("192.168.1.", 15+n), MAC: mac(m), State: "STALE"})
		}
		list = append(list, s)
	}
	s := netstate.HostSnapshot{Schema: netstate.HostSnapshotSchema, Pasted: []string{"forwarding table"}}
	s.Reading.Host = "sg300"
	for n, m := range ports {
		s.Reading.Snapshot.FDB = append(s.Reading.Snapshot.FDB,
			netstate.FDBEntry{MAC: mac(m), Interface: fmt.Sprint("gi", 7+n)})
	}
	return append(list, s)
}

// TestFluxElsewhere: the tables of two clients and of a switch tell the ARP flux of a machine
// that was not read, and the port that everything goes to; and none where the machine has one
// MAC address for several addresses, each at its own, or where others have the numbers next to
// it.
func TestFluxElsewhere(t *testing.T) {
	for _, c := range []struct {
		clients    [2][]int
		ports      []int
		confidence string
		others     bool // the tables have each address at MAC addresses of two machines
	}{
		{[2][]int{{0x31, 0x32, 0x32, 0x32}, {0x32, 0x32, 0x32, 0x32}}, []int{0x31, 0x33, 0x32, 0x34},
			record.Likely, false},
		{[2][]int{{0x31, 0x32, 0x32, 0x32}, {0x32, 0x32, 0x32, 0x32}}, nil, record.Likely, false},
		{[2][]int{{0x32, 0x32, 0x32, 0x32}, {0x32, 0x32, 0x32, 0x32}}, []int{0x31, 0x33, 0x32, 0x34},
			record.Possible, false},
		{[2][]int{{0x32, 0x32, 0x32, 0x32}, {0x32, 0x32, 0x32, 0x32}}, []int{0x32}, "", false},
		{[2][]int{{0x31, 0x32, 0x33, 0x34}, {0x31, 0x32, 0x33, 0x34}}, []int{0x31, 0x33, 0x32, 0x34}, "", false},
		{[2][]int{{0x31, 0x32, 0x32, 0x32}, {0x71, 0x72, 0x73, 0x74}}, []int{0x71, 0xa1, 0xc1}, record.Possible, true},
	} {
		e := diagnose.Hosts(pastedTables(c.clients, c.ports...))
		got := ""
		for _, f := range e.Findings {
			got += f.ID + " " + f.Confidence
		}
		want := ""
		if c.confidence != "" {
			want = "arp-flux " + c.confidence
		}
		if c.others {
			want += strings.Repeat("duplicate-address possible", 4)
		}
		if got != want {
			t.Errorf("%x: %+v, want %q", c.clients, e.Findings, want)
		}
		if len(c.ports) == 4 && c.confidence == record.Likely {
			if m := e.Findings[0].Args.(cause.Flux).Machine; m.At != "00:08:9b:c8:c4:32" || m.Port != "gi9" ||
				m.Switch != "sg300" {
				t.Errorf("%+v", m)
			}
		}
		if slices.Contains(e.Evaluated, "half-duplex") || slices.Contains(e.Evaluated, "mtu-differs") ||
			!slices.Contains(e.Evaluated, "arp-flux") {
			t.Errorf("evaluated %v", e.Evaluated)
		}
	}
}
