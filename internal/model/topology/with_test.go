package topology_test

import (
	"encoding/json"
	"net/netip"
	"testing"

	"linerate/internal/model/setting"
	. "linerate/internal/model/topology"
	"linerate/internal/model/unit"
)

// office is two hosts behind a switch, and a third that is reached over its own
// network.
func office() *Topology {
	at := func(text string) Address {
		p := netip.MustParsePrefix(text)
		return Address{First: p.Addr(), Last: p.Addr(), Bits: p.Bits()}
	}
	return &Topology{
		Hosts: []Host{
			{Name: "a", Interfaces: []Interface{{Name: "eth0", Addresses: []Address{at("10.0.0.1/24")}}}},
			{Name: "b", Interfaces: []Interface{{Name: "eth0", Addresses: []Address{at("10.0.0.2/24")}},
				{Name: "eth1", Addresses: []Address{at("10.1.0.2/24")}}}},
			{Name: "c", Interfaces: []Interface{{Name: "eth0", Addresses: []Address{at("10.1.0.3/24")}}}},
			{Name: "real", Via: []string{"env"},
				Interfaces: []Interface{{Name: "eth0", Addresses: []Address{at("10.0.0.9/24")}}}},
		},
		Switches: []Switch{{Name: "sw"}},
		Links: []Link{
			{From: End{"a", "eth0"}, To: End{"sw", "p1"}, Impairment: Impairment{Rate: 1e9}},
			{From: End{"sw", "p2"}, To: End{"b", "eth0"}, Impairment: Impairment{Rate: 1e9}},
			{From: End{"b", "eth1"}, To: End{"c", "eth0"}, Impairment: Impairment{Rate: 1e8, Delay: 5}},
			{From: End{"real", "eth0"}, To: End{"sw", "p3"}, Impairment: Impairment{Rate: 1e9}},
		},
	}
}

func on(host string, s setting.Setting) setting.Setting { s.Host = host; return s }

func TestWith(t *testing.T) {
	top := office()
	before, _ := json.Marshal(top)
	paths := func(over *Topology, from, to string) int {
		found, _ := over.Paths(from, netip.Addr{}, netip.MustParseAddr(to))
		return len(found)
	}
	alias := on("b", setting.Setting{Address: &setting.Address{Interface: "eth0",
		Address: netip.MustParsePrefix("10.0.0.7/24")}})
	forward := on("b", setting.Setting{Sysctl: []setting.Sysctl{{Key: "net.ipv4.ip_forward", Value: "1"}}})
	out := on("a", setting.Setting{Route: &setting.Route{To: "10.1.0.0/24", Via: "10.0.0.2"}})
	inTable := on("a", setting.Setting{Route: &setting.Route{To: "10.1.0.0/24", Via: "10.0.0.2", Table: 100}})
	rule := on("a", setting.Setting{Rule: &setting.Rule{To: "10.1.0.0/24", Table: 100}})
	for _, test := range []struct {
		name     string
		settings []setting.Setting
		from, to string
		want     int
	}{
		{"nothing", nil, "a", "10.0.0.7", 0},
		{"an address", []setting.Setting{alias}, "a", "10.0.0.7", 1},
		{"a route without forwarding", []setting.Setting{out}, "a", "10.1.0.3", 0},
		{"a route and forwarding", []setting.Setting{out, forward}, "a", "10.1.0.3", 1},
		{"a table without a rule", []setting.Setting{inTable, forward}, "a", "10.1.0.3", 0},
		{"a rule", []setting.Setting{inTable, rule, forward}, "a", "10.1.0.3", 1},
		{"a host that is not there", []setting.Setting{on("x", alias)}, "a", "10.0.0.7", 0},
	} {
		if got := paths(top.With(test.settings), test.from, test.to); got != test.want {
			t.Errorf("%s: %d paths, want %d", test.name, got, test.want)
		}
	}
	replaced := top.With([]setting.Setting{
		out, on("a", setting.Setting{Route: &setting.Route{To: "10.1.0.0/24", Via: "10.0.0.9", Table: 254}})})
	if r := replaced.Hosts[0].Routes; len(r) != 1 || r[0].Via != "10.0.0.9" {
		t.Errorf("a route is replaced, not doubled: %v", r)
	}
	six := func(via string, metric int) setting.Setting {
		return on("a", setting.Setting{Route: &setting.Route{To: "fd00::/64", Via: via, Metric: metric}})
	}
	if r := top.With([]setting.Setting{six("fd01::1", 0), six("fd01::2", 1024)}).Hosts[0].Routes; len(r) != 1 ||
		r[0].Via != "fd01::2" {
		t.Errorf("an IPv6 route without a metric has 1024, and is replaced by one: %v", r)
	}
	if after, _ := json.Marshal(top); string(after) != string(before) {
		t.Errorf("the topology itself was changed\n%s\n%s", before, after)
	}
	up := true
	if same := top.With([]setting.Setting{on("a", setting.Setting{Neighbour: &setting.Neighbour{}}),
		on("a", setting.Setting{Link: &setting.Link{Interface: "eth0", Up: &up}})}); same != top {
		t.Error("what changes nothing in the topology makes a copy of it")
	}
}

func TestWithShapes(t *testing.T) {
	queue := func(host, port, kind string, rate unit.BitRate) setting.Setting {
		return on(host, setting.Setting{Qdisc: &setting.Qdisc{Interface: port, Kind: kind, Rate: rate}})
	}
	for _, test := range []struct {
		name    string
		setting setting.Setting
		end     End
		rate    unit.BitRate
		mtu     int
		bucket  bool
	}{
		{"as drawn", queue("a", "eth9", "tbf", 5e8), End{"a", "eth0"}, 1e9, 1500, false},
		{"a slower bucket", queue("a", "eth0", "tbf", 5e8), End{"a", "eth0"}, 5e8, 1500, true},
		{"the other direction stays", queue("a", "eth0", "tbf", 5e8), End{"sw", "p1"}, 1e9, 1500, false},
		{"a lab's link is no faster with a bucket", queue("b", "eth0", "tbf", 2e9), End{"b", "eth0"}, 1e9, 1500, false},
		{"a lab's link stays behind fq", queue("b", "eth0", "fq", 0), End{"b", "eth0"}, 1e9, 1500, false},
		{"cake with a rate is a shaper", queue("b", "eth0", "cake", 9e8), End{"b", "eth0"}, 9e8, 1500, true},
		{"a real link stays behind fq", queue("real", "eth0", "fq", 0), End{"real", "eth0"}, 1e9, 1500, false},
		{"a real link is no faster with a bucket", queue("real", "eth0", "tbf", 2e9), End{"real", "eth0"}, 1e9,
			1500, false},
		{"a real link is slower with one", queue("real", "eth0", "tbf", 2e8), End{"real", "eth0"}, 2e8, 1500, true},
		{"an MTU", on("a", setting.Setting{Link: &setting.Link{Interface: "eth0", MTU: 9000}}), End{"a", "eth0"}, 1e9,
			9000, false},
		{"and not at the switch", on("a", setting.Setting{Link: &setting.Link{Interface: "eth0", MTU: 9000}}),
			End{"sw", "p1"}, 1e9, 1500, false},
	} {
		over := office().With([]setting.Setting{test.setting})
		l, _ := over.LinkAt(test.end)
		if s := l.Towards(test.end); s.Rate != test.rate || over.MTUAt(test.end) != test.mtu ||
			s.Bucket != test.bucket {
			t.Errorf("%s: %+v, MTU %d", test.name, s, over.MTUAt(test.end))
		}
	}
	l, _ := office().With([]setting.Setting{queue("b", "eth1", "tbf", 5e7)}).LinkAt(End{"b", "eth1"})
	if got := l.Towards(End{"c", "eth0"}); got.Rate != 1e8 || got.Delay != 5 {
		t.Errorf("the reverse direction became %+v", got)
	}
}

func TestHostSysctl(t *testing.T) {
	over := office().With([]setting.Setting{
		on("a", setting.Setting{Sysctl: []setting.Sysctl{{Key: "x.y", Value: "1"}, {Key: "x.y", Value: " 0 "}}})})
	if got := over.Hosts[0].Sysctl("x.y"); got != "0" || over.Hosts[1].Sysctl("x.y") != "" {
		t.Errorf("x.y is %q: the last value holds, on its host alone", got)
	}
}
