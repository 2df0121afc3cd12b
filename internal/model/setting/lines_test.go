package setting

import (
	"net/netip"
	"slices"
	"testing"
)

func TestLines(t *testing.T) {
	up := false
	for _, test := range []struct {
		setting Setting
		want    []string
	}{
		{Setting{Sysctl: []Sysctl{{"a.b", "1"}, {"c.d", "2 3"}}}, []string{"h: sysctl a.b=1", "h: sysctl c.d=2 3"}},
		{Setting{Neighbour: &Neighbour{"eth0", netip.MustParseAddr("10.0.0.1"), "server.eth0"}},
			[]string{"h: neighbour 10.0.0.1 at server.eth0 on eth0"}},
		{Setting{Address: &Address{Interface: "eth0", Address: netip.MustParsePrefix("10.0.0.1/24")}},
			[]string{"h: address 10.0.0.1/24 on eth0"}},
		{Setting{Address: &Address{"eth0", netip.MustParsePrefix("10.0.0.254/16"), 3}},
			[]string{"h: address 10.0.0.254/16 to 10.0.1.0/16 on eth0"}},
		{Setting{Route: &Route{To: "10.0.0.0/8", Interface: "eth0", Source: netip.MustParseAddr("10.0.0.1"),
			Table: 100}}, []string{"h: route 10.0.0.0/8 on eth0 from 10.0.0.1 in table 100"}},
		{Setting{Route: &Route{To: "default", Metric: 5, Nexthops: []Nexthop{{Via: "inet6 fe80::1", Interface: "eth0"},
			{Via: "r.eth1", Weight: 2}}}},
			[]string{"h: route default metric 5 nexthop via inet6 fe80::1 on eth0 nexthop via r.eth1 weight 2"}},
		{Setting{Nexthop: &NexthopObject{ID: 7, Via: "r.eth1", Interface: "eth0"}},
			[]string{"h: nexthop 7 via r.eth1 on eth0"}},
		{Setting{Nexthop: &NexthopObject{ID: 8, Group: []Member{{ID: 7, Weight: 3}, {ID: 6}},
			Resilient: &Resilient{Buckets: 32}}}, []string{"h: nexthop 8 group of 7 weight 3 6 resilient buckets 32"}},
		{Setting{Route: &Route{To: "10.0.0.0/8", Object: 8}}, []string{"h: route 10.0.0.0/8 by nexthop 8"}},
		{Setting{Rule: &Rule{From: "10.0.0.1", Table: 100, Priority: 7}},
			[]string{"h: rule from 10.0.0.1 look in table 100 priority 7"}},
		{Setting{Link: &Link{Interface: "eth0", MTU: 9000, Up: &up}}, []string{"h: link eth0 mtu 9000 state down"}},
		{Setting{Qdisc: &Qdisc{Interface: "eth0", Kind: "tbf", Rate: 1e9, Burst: 65536}},
			[]string{"h: qdisc eth0 to tbf rate 1gbit burst 64KiB"}},
	} {
		test.setting.Host = "h"
		if got := test.setting.Lines(); !slices.Equal(got, test.want) {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

func TestKinds(t *testing.T) {
	if got := (Setting{}).Kind(); got != "" {
		t.Errorf("nothing is %q", got)
	}
	s := Setting{Sysctl: []Sysctl{{}}, Qdisc: &Qdisc{}}
	if got := s.Kinds(); !slices.Equal(got, []string{"sysctl", "qdisc"}) || s.Kind() != "sysctl" {
		t.Errorf("kinds are %q", got)
	}
}
