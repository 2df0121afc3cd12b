package diagnose

import (
	"fmt"
	"testing"
	"time"

	"linerate/internal/model/netstate"

	"linerate/internal/science/diagnose/diagnosetest"
)

// TestHostileSnapshots: snapshots that are as large and as alike as they may be are diagnosed in
// a time that does not grow with the square of their size.
func TestHostileSnapshots(t *testing.T) {
	of := func(n int) (list []netstate.HostSnapshot) {
		for host := range 2 {
			s := diagnosetest.HostNamed(fmt.Sprint("host", host), host+1)
			for i := range n {
				name := fmt.Sprint("if", i)
				s.Reading.Snapshot.Interfaces = append(s.Reading.Snapshot.Interfaces,
					netstate.InterfaceSnapshot{Interface: name, MAC: "02:00:00:00:00:01", MTU: 1400 + i%7, Up: true,
						Addresses: []string{"192.0.2.7/24"}})
				s.Reading.Snapshot.Neighbours = append(s.Reading.Snapshot.Neighbours,
					netstate.Neighbour{Interface: name, Address: "192.0.2.7", MAC: "02:99:00:00:00:01", State: "STALE"})
				s.State.NICs = append(s.State.NICs, netstate.NIC{Interface: name, Driver: "ixgbe", VLAN: 7, Peer: i,
					CountedS: 1, Counters: map[string]int64{"rx_crc_errors": 1 << 62,
						"rx_long_length_errors": 1 << 62}})
				if i < netstate.MostLLDPNeighbours {
					s.State.LLDP = append(s.State.LLDP, netstate.LLDPNeighbour{Interface: name, Port: name,
						MFS: 100, PVID: 7})
				}
				s.Reading.Begin.Interfaces = append(s.Reading.Begin.Interfaces,
					netstate.InterfaceCounters{Interface: name})
				s.Reading.End.Interfaces = append(s.Reading.End.Interfaces, netstate.InterfaceCounters{Interface: name,
					RxErrors: 9})
			}
			s.State.Nftables = &netstate.Nftables{CountedS: 1}
			for i := range netstate.MostNftRules {
				s.State.Nftables.Rules = append(s.State.Nftables.Rules,
					netstate.NftRule{Handle: uint64(i), Verdict: "drop", Counted: true, Packets: 1 << 63})
			}
			for i := range netstate.MostNexthops {
				s.State.Nexthops = append(s.State.Nexthops, netstate.Nexthop{ID: i, Interface: "if1", Via: "192.0.2.7",
					Flags: []string{"dead"}, Group: []netstate.NexthopMember{{ID: i, Weight: 1 << 62}, {ID: i + 1}}})
			}
			for i := range netstate.MostKernelDrops {
				reason := []string{"UNHANDLED_PROTO", "NETFILTER_DROP", "XDP", "QDISC_DROP", "CPU_BACKLOG"}[i%5]
				s.State.KernelDrops.Rows = append(s.State.KernelDrops.Rows,
					netstate.KernelDrop{Reason: reason, Interface: fmt.Sprint("if", i), Direction: "rx",
						Packets: 1 << 62})
			}
			list = append(list, s)
		}
		return list
	}
	took := func(n int) time.Duration {
		list := of(n)
		began := time.Now()
		Hosts(list)
		return time.Since(began)
	}
	took(100)
	small, large := took(200), took(1600)
	t.Log(small, large)
	if large > 64*small && large > 30*time.Second {
		t.Errorf("8 times as many interfaces take %v instead of %v", large, small)
	}
}
