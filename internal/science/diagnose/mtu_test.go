package diagnose

import (
	"strings"
	"testing"

	"linerate/internal/model/record"
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
		a, b := hostNamed("a", 1), hostNamed("b", 2)
		for i, s := range []*record.HostSnapshot{&a, &b} {
			s.Reading.Snapshot.Interfaces[0].Kind, s.Reading.Snapshot.Interfaces[0].MTU = test.kinds[i],
				[]int{1380, 1420}[i]
		}
		b.Reading.Snapshot.Interfaces[0].MAC = test.mac
		if got := names(Hosts([]record.HostSnapshot{a, b}).Findings); got != test.want {
			t.Errorf("%v: found %q, want %q", test.kinds, got, test.want)
		}
	}
}

// TestSmallMTU: the MTU of a link can be 1500, and that of a tunnel is what its path leaves.
func TestSmallMTU(t *testing.T) {
	for kind, want := range map[string]string{"": "mtu-below-minimum nas likely",
		"veth": "mtu-below-minimum nas likely", "wireguard": "mtu-below-minimum nas possible",
		"gre": "mtu-below-minimum nas possible"} {
		s := hostNamed("nas", 15)
		i := &s.Reading.Snapshot.Interfaces[0]
		if i.Kind, i.MTU = kind, 1200; kind == "wireguard" {
			i.MAC = ""
		}
		list := Hosts([]record.HostSnapshot{s}).Findings
		if got := names(list); got != want || len(list[0].Fix) == 0 ||
			(len(list[0].Settings) > 0) != strings.HasSuffix(want, "likely") {
			t.Errorf("%q: found %s: %+v", kind, got, list)
		}
	}
}
