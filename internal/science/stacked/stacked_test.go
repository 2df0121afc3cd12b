package stacked

import (
	"slices"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// TestZone: several interfaces of a host may have one link-local address, as a VLAN and the
// interface beneath it. The zone says which is meant, at the host that opened the flow.
func TestZone(t *testing.T) {
	host := netstate.HostReading{Host: "a", Snapshot: netstate.Snapshot{Interfaces: []netstate.InterfaceSnapshot{
		{Interface: "eth0", Addresses: []string{"fe80::1/64", "192.0.2.1/24"}},
		{Interface: "eth0.5", Kind: "vlan", Addresses: []string{"fe80::1/64"}},
		{Interface: "vxlan1", Kind: "vxlan", Addresses: []string{"fe80::9/64"}},
	}}}
	names := func(f record.Flow, receiving bool) (list []string) {
		for _, p := range own(host.Snapshot, f, receiving) {
			list = append(list, p.Interface)
		}
		return list
	}
	for _, c := range []struct {
		name      string
		flow      record.Flow
		receiving bool
		want      []string
	}{
		{"by the VLAN", record.Flow{From: "a", To: "b", OpenedBy: "a", Source: "[fe80::1%eth0.5]:1000",
			Destination: "[fe80::2%eth0.5]:2000"}, false, []string{"eth0.5"}},
		{"by the interface beneath", record.Flow{From: "a", To: "b", OpenedBy: "a", Source: "[fe80::1%eth0]:1000",
			Destination: "[fe80::2%eth0]:2000"}, false, []string{"eth0"}},
		{"opened by the other host, whose zone is its own", record.Flow{From: "b", To: "a", OpenedBy: "b",
			Source: "[fe80::2%wan]:1000", Destination: "[fe80::1%wan]:2000"}, true, []string{"eth0", "eth0.5"}},
		{"no zone", record.Flow{From: "a", To: "b", OpenedBy: "a", Source: "192.0.2.1:1000",
			Destination: "192.0.2.2:2000"}, false, []string{"eth0"}},
	} {
		if got := names(c.flow, c.receiving); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	tunnelled := record.Flow{From: "a", To: "b", OpenedBy: "a", Source: "[fe80::9%vxlan1]:1000",
		Destination: "[fe80::a%vxlan1]:2000"}
	if size, _ := Overhead(host, tunnelled, false, nil); size == 0 {
		t.Error("no overhead of a tunnel by whose link-local address a flow goes")
	}
}
