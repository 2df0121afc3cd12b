package pasted

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"linerate/internal/model/netstate"
)

// TestLLDP: what lldpcli prints of one neighbour or of several is read, and json and json0 say
// the same. The files are of lldpd 1.0.16; those of switches are written after their shape.
func TestLLDP(t *testing.T) {
	off, on := false, true
	host := netstate.LLDPNeighbour{Interface: "a0", Protocol: "LLDP", Chassis: "02:00:00:00:00:02", System: "peer",
		Description: "switch of test", Capabilities: []string{"Station"},
		Port: "02:00:00:00:00:02", PortDescription: "b0", MFS: 9000,
		Media: "10GbaseT - Four-pair Category 6A or better, full duplex mode only", SpeedMbps: 10000, Duplex: "full",
		PVID: 42, VLANs: []int{42}}
	for file, want := range map[string][]netstate.LLDPNeighbour{
		"lldp-host.json":  {host},
		"lldp-host.json0": {host},
		"lldp-none.json":  nil,
		"lldp-switches.json": {
			{Interface: "eth0", Protocol: "LLDP", Chassis: "02:00:00:00:01:00", System: "sw1", Description: "a switch",
				Addresses: []string{"192.0.2.3", "2001:db8::3"}, Capabilities: []string{"Bridge", "Router"},
				Port: "Gi1/0/7", PortDescription: "to nas", MFS: 9216,
				Media: "1000BaseTFD - Four-pair Category 5 UTP, full duplex mode", SpeedMbps: 1000, Duplex: "full",
				Autoneg: &on, PVID: 10, VLANs: []int{10, 20}},
			{Interface: "eth1", Protocol: "LLDP", Chassis: "02:00:00:00:01:00", System: "id", Port: "Gi1/0/8",
				Media: "100BaseTXHD - 2 pair category 5 UTP, half duplex mode", SpeedMbps: 100, Duplex: "half",
				Autoneg: &off},
		},
	} {
		text, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := LLDP(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v, want %+v", file, got, err, want)
		}
	}
	if n := (netstate.LLDPNeighbour{Port: "02:00:00:00:00:02", PortDescription: "b0",
		System: "vm"}); n.Place() != "port b0 of vm" {
		t.Errorf("%s", n.Place())
	}
	if _, err := LLDP([]byte("lldpcli: no")); err == nil {
		t.Error("no JSON is no error")
	}
}

// FuzzLLDP: whatever a neighbour says is bounded and plain.
func FuzzLLDP(f *testing.F) {
	for _, file := range []string{"lldp-host.json", "lldp-host.json0", "lldp-switches.json"} {
		text, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add(
		[]byte(`{"lldp":{"interface":{"\u001b[2J":{"port":{"mfs":"99999999999999999999"},"vlan":{"vlan-id":"-1","pvid":true}}}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, _ := LLDP(text)
		if len(list) > netstate.MostLLDPNeighbours {
			t.Fatalf("%d neighbours", len(list))
		}
		for _, n := range list {
			if n.MFS < 0 || n.MFS > 1<<16 || n.PVID < 0 || n.PVID > 4094 ||
				strings.Contains(n.Place()+n.Interface+n.Description+n.Media, "\x1b") {
				t.Errorf("%+v", n)
			}
		}
	})
}
