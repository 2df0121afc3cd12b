package topology_test

import (
	"fmt"
	"net/netip"
	"testing"

	"linerate/internal/model/setting"
)

// TestOnward: from an interface to the next host, over a cable or through switches.
func TestOnward(t *testing.T) {
	for _, c := range []struct {
		over, from, nextHop, want string
	}{
		{"nas", "server.eth0", "192.168.1.102",
			"[server.eth0 switch.server-eth0 switch.far far.switch far.client2-eth0 client2.eth0]"},
		{"nas", "client1.eth0", "192.168.1.99", "[]"},
		{"nas", "absent.eth0", "192.168.1.102", "[]"},
		{"fabric", "s1.up1", "fe80::1", "[s1.up1 spine2.a]"},
		{"fabric", "spine2.b", "10.0.200.2", "[spine2.b s2.up1]"},
	} {
		over := nas()
		if c.over == "fabric" {
			over = fabric()
		}
		if got := fmt.Sprint(over.PathToNextHop(end(c.from), netip.MustParseAddr(c.nextHop))); got != c.want {
			t.Errorf("%s: %s to %s: %s, want %s", c.over, c.from, c.nextHop, got, c.want)
		}
	}
}

// TestAdjacent: on one cable, or behind the same switches.
func TestAdjacent(t *testing.T) {
	for _, c := range []struct {
		host, far string
		want      bool
	}{{"client2", "server.eth3", true}, {"server", "client1.eth0", true}, {"absent", "client1.eth0", false}} {
		if got := nas().Adjacent(c.host, end(c.far)); got != c.want {
			t.Errorf("%s beside %s: %t", c.host, c.far, got)
		}
	}
	if fabric().Adjacent("s1", end("s2.up0")) {
		t.Error("s1 is beside s2, across a spine")
	}
}

// TestPathsByNexthopObjects: a route by a group has its members' paths.
func TestPathsByNexthopObjects(t *testing.T) {
	over := fabric()
	over.Hosts[0].Nexthops = []setting.NexthopObject{
		{ID: 1, Via: "inet6 fe80::1", Interface: "up0"}, {ID: 2, Via: "inet6 fe80::2", Interface: "up1"},
		{ID: 3, Group: []setting.Member{{ID: 1}, {ID: 2}}},
	}
	for object, want := range map[int]int{2: 1, 3: 2} {
		over.Hosts[0].Routes = []setting.Route{{To: "default", Object: object}}
		paths, err := over.Paths("s1", netip.Addr{}, netip.MustParseAddr("10.0.200.2"))
		if err != nil || len(paths) != want {
			t.Errorf("by object %d: %v, %v", object, paths, err)
		}
	}
	one := over.With([]setting.Setting{
		{Host: "s1", Nexthop: &setting.NexthopObject{ID: 3, Group: []setting.Member{{ID: 2}}}}})
	one.Hosts[0].Routes[0].Object = 3
	if paths, err := one.Paths("s1", netip.Addr{}, netip.MustParseAddr("10.0.200.2")); err != nil || len(paths) != 1 ||
		paths[0][0].Interface != "up1" {
		t.Errorf("a setting took a member away: %v, %v", paths, err)
	}
}

// TestPathShares: next hops get shares by their weights, and interfaces on one subnet none,
// since the kernel has a route by each and takes one.
func TestPathShares(t *testing.T) {
	over, to := fabric(), netip.MustParseAddr("10.0.200.2")
	over.Hosts[0].Routes = []setting.Route{{To: "10.0.200.2/32", Nexthops: []setting.Nexthop{
		{Via: "inet6 fe80::1", Interface: "up0"}, {Via: "inet6 fe80::2", Interface: "up1", Weight: 3},
	}}}
	if paths, shares, err := over.PathShares("s1", netip.Addr{}, to); err != nil || len(paths) != 2 ||
		fmt.Sprint(shares) != "[0.25 0.75]" {
		t.Errorf("%v %v %v", paths, shares, err)
	}
	if paths, shares, err := nas().PathShares("server", netip.Addr{},
		netip.MustParseAddr("192.168.1.102")); err != nil || len(paths) < 2 || shares != nil {
		t.Errorf("%v %v %v", paths, shares, err)
	}
}
