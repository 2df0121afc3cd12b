package diagnose

import (
	"reflect"
	"testing"

	"linerate/internal/model/cause"
	"linerate/internal/model/netstate"

	"linerate/internal/science/diagnose/diagnosetest"
	"linerate/internal/science/diagnose/facts"
)

// TestVRF: interfaces of a VRF filter and answer ARP themselves, unlike members of a bond, and
// subnets of different VRFs are apart.
func TestVRF(t *testing.T) {
	const flux, filter = "arp-flux x likely, same-subnet-interfaces x likely",
		"strict-rp-filter x certain, rp-filter-drop x likely"
	one := func(x *netstate.HostSnapshot) { // on one subnet
		x.Reading.Snapshot.Sysctls["net.ipv4.conf.all.rp_filter"] = "0"
		x.Reading.Snapshot.Interfaces[1].Addresses = []string{"10.72.0.9/24"}
	}
	drops := func(x *netstate.HostSnapshot) {
		x.Reading.End.Interfaces[1].RxPackets = 5000
		x.Reading.End.SNMP[facts.FilterCounter] = 769
	}
	contained := func(x *netstate.HostSnapshot) {
		one(x)
		x.Reading.Snapshot.Sysctls["net.ipv4.conf.all.arp_ignore"] = "1"
		x.Reading.Snapshot.Interfaces[1].Addresses = []string{"10.72.0.9/16"}
	}
	for _, test := range []struct {
		name    string
		masters [2]string
		change  func(x *netstate.HostSnapshot)
		want    string
	}{
		{"no VRF", [2]string{}, one, flux},
		{"one VRF", [2]string{"red", "red"}, one, flux},
		{"two VRFs", [2]string{"red", "blue"}, one, ""},
		{"a VRF and none", [2]string{"", "blue"}, one, ""},
		{"a bond", [2]string{"bond0", "bond0"}, one, ""},
		{"the filter of no VRF", [2]string{}, drops, filter},
		{"the filter in a VRF", [2]string{"red", "blue"}, drops, filter},
		{"one contains the other", [2]string{}, contained, "subnets-overlap x possible"},
		{"one contains the other of another VRF", [2]string{"red", "blue"}, contained, ""},
	} {
		x, _ := diagnosetest.TwoHosts()
		r := &x.Reading.Snapshot
		for i, master := range test.masters {
			r.Interfaces[i].Master = master
		}
		test.change(&x)
		for name, kind := range map[string]string{"red": "vrf", "blue": "vrf", "bond0": "bond"} {
			r.Interfaces = append(r.Interfaces, netstate.InterfaceSnapshot{Interface: name, Kind: kind, Up: true,
				MTU: 1500})
		}
		list := Hosts([]netstate.HostSnapshot{x}).Findings
		if got := diagnosetest.Names(list); got != test.want || got == filter &&
			!reflect.DeepEqual(list[0].Args, cause.Filter{Interfaces: []string{"eth1"}}) {
			t.Errorf("%s: found %q, want %q: %+v", test.name, got, test.want, list)
		}
	}
}
