package subnet_test

import (
	"testing"

	"linerate/internal/model/netstate"

	"linerate/internal/science/diagnose"
	"linerate/internal/science/diagnose/diagnosetest"
)

// TestDifferentMTUs: hosts on one link drop what is larger than their MTU; a tunnel takes it in.
func TestDifferentMTUs(t *testing.T) {
	for _, test := range []struct {
		kinds [2]string
		mac   string // of the second
		want  string
	}{
		{[2]string{"", ""}, "02:00:00:00:00:02", "mtu-differs a certain"},
		{[2]string{"veth", "bond"}, "02:00:00:00:00:02", "mtu-differs a certain"},
		{[2]string{"wireguard", "wireguard"}, "", ""},
		{[2]string{"vxlan", "vxlan"}, "02:00:00:00:00:02", ""},
		{[2]string{"", "tun"}, "02:00:00:00:00:02", ""},
		{[2]string{"", "tun"}, "", ""},
		{[2]string{"", ""}, "", "mtu-differs a certain"}, // whose address is masked
	} {
		a, b := diagnosetest.HostNamed("a", 1), diagnosetest.HostNamed("b", 2)
		for i, s := range []*netstate.HostSnapshot{&a, &b} {
			s.Reading.Snapshot.Interfaces[0].Kind, s.Reading.Snapshot.Interfaces[0].MTU = test.kinds[i],
				[]int{1380, 1420}[i]
		}
		b.Reading.Snapshot.Interfaces[0].MAC = test.mac
		if got := diagnosetest.Names(diagnose.Hosts([]netstate.HostSnapshot{a, b}).Findings); got != test.want {
			t.Errorf("%v: found %q, want %q", test.kinds, got, test.want)
		}
	}
}
