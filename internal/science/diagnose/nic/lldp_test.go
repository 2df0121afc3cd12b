package nic_test

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose"
	"linerate/internal/science/diagnose/diagnosetest"
)

// TestLLDP: what a port says of itself is compared with the interface that it is connected to,
// and a port that says the same is no finding.
func TestLLDP(t *testing.T) {
	off := false
	const full, half = "1000BaseTFD - Four-pair Category 5 UTP, full duplex mode",
		"100BaseTXHD - 2 pair category 5 UTP, half duplex mode"
	vlan := func(id int) func(*netstate.HostSnapshot) {
		return func(s *netstate.HostSnapshot) {
			s.State.NICs = append(s.State.NICs, netstate.NIC{Interface: "eth0.5", VLAN: id, Peer: 2, Carrier: true})
		}
	}
	for name, test := range map[string]struct {
		neighbour netstate.LLDPNeighbour
		change    func(*netstate.HostSnapshot)
		want, as  string // rule and confidence; empty: nothing is found
		row       string
	}{
		"the same": {netstate.LLDPNeighbour{MFS: 1522, Media: full, SpeedMbps: 1000, Duplex: "full", PVID: 10,
			VLANs: []int{10, 20}}, vlan(20), "", "", ""},
		"a switch with jumbo": {netstate.LLDPNeighbour{MFS: 9216, Capabilities: []string{"Bridge"}}, nil, "", "", ""},
		"smaller frames": {netstate.LLDPNeighbour{MFS: 1400, Capabilities: []string{"Bridge"}}, nil, "lldp-mtu",
			record.Likely, `"place":"port Gi1/0/7 of sw1","max_frame_bytes":1400`},
		"a host with jumbo": {netstate.LLDPNeighbour{MFS: 9000, Capabilities: []string{"Station"}}, nil, "lldp-mtu",
			record.Likely, `"max_frame_bytes":9000`},
		"half duplex": {netstate.LLDPNeighbour{Media: half, SpeedMbps: 1000, Duplex: "half"}, nil, "lldp-link",
			record.Likely, half},
		"does not negotiate": {netstate.LLDPNeighbour{Media: full, SpeedMbps: 1000, Duplex: "full", Autoneg: &off}, nil,
			"lldp-link", record.Likely, `"autoneg_off":true`},
		"another speed": {netstate.LLDPNeighbour{Media: "10GbaseT", SpeedMbps: 10000}, nil, "lldp-link",
			record.Possible, "10GbaseT"},
		"software": {netstate.LLDPNeighbour{Media: half, SpeedMbps: 10, Duplex: "half"},
			func(s *netstate.HostSnapshot) { s.Reading.Snapshot.Interfaces[0].Kind = "veth" }, "", "", ""},
		"untagged there": {netstate.LLDPNeighbour{PVID: 20, VLANs: []int{20}}, vlan(20), "lldp-vlan", record.Likely,
			`"interface":"eth0.5","vlan":20,"on":"eth0"`},
		"not named": {netstate.LLDPNeighbour{PVID: 1, VLANs: []int{1, 30}}, vlan(20), "lldp-vlan",
			record.Possible, `"vlans":[1,30]`},
		"native VLAN": {netstate.LLDPNeighbour{PVID: 10}, func(s *netstate.HostSnapshot) {
			s.State.Bridges = []netstate.Bridge{{Interface: "br0", VLANFiltering: true,
				Ports: []netstate.BridgePort{{Interface: "eth0", VLANs: []string{"5", "1 PVID untagged"}}}}}
		}, "lldp-vlan", record.Likely, `"interface":"eth0","vlan":1,"bridge":"br0"`},
		"the same native VLAN": {netstate.LLDPNeighbour{PVID: 1}, func(s *netstate.HostSnapshot) {
			s.State.Bridges = []netstate.Bridge{{Interface: "br0", VLANFiltering: true,
				Ports: []netstate.BridgePort{{Interface: "eth0", VLANs: []string{"1 PVID untagged"}}}}}
		}, "", "", ""},
	} {
		s := diagnosetest.HostNamed("nas", 15)
		s.Reading.Snapshot.Interfaces[0].Index = 2
		n := test.neighbour
		n.Interface, n.System, n.Port = "eth0", "sw1", "Gi1/0/7"
		s.State.LLDP = []netstate.LLDPNeighbour{n}
		if test.change != nil {
			test.change(&s)
		}
		e := diagnose.Hosts([]netstate.HostSnapshot{s})
		switch {
		case test.want == "" && len(e.Findings) > 0:
			t.Errorf("%s: %+v", name, e.Findings)
		case test.want != "" && (len(e.Findings) != 1 || e.Findings[0].ID != test.want ||
			e.Findings[0].Confidence != test.as ||
			!strings.Contains(diagnosetest.Facts(e.Findings[0]), test.row) ||
			!strings.Contains(diagnosetest.Facts(e.Findings[0]), "Gi1/0/7 of sw1")):
			t.Errorf("%s: %+v", name, e.Findings)
		}
	}

	// The port is evidence of other findings about the interface, and only of it.
	s := diagnosetest.HostNamed("nas", 15)
	s.State.LLDP = []netstate.LLDPNeighbour{{Interface: "eth0", System: "sw1", Port: "Gi1/0/7"},
		{Interface: "eth1", System: "sw1", Port: "Gi1/0/8"}}
	s.Reading.End.Interfaces[0].RxErrors, s.Reading.End.Interfaces[0].RxCRC = 4, 4
	s.State.Clock = &netstate.ClockSource{Source: "tsc"} // not synchronised
	for _, f := range diagnose.Hosts([]netstate.HostSnapshot{s}).Findings {
		at := func(one fact.Fact) bool { return one.Is == fact.Cable{Interface: "eth0", Place: "port Gi1/0/7 of sw1"} }
		if got, want := slices.ContainsFunc(f.Facts, at), f.ID == "interface-errors"; got != want ||
			strings.Contains(diagnosetest.Facts(f), "Gi1/0/8") {
			t.Errorf("%+v", f)
		}
	}
}
