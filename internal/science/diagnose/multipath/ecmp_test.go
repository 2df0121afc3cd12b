package multipath_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"

	"linerate/internal/science/diagnose"
	"linerate/internal/science/diagnose/diagnosetest"
)

// split is a trial over a router, leaf, that has two links to spine1 and spine2,
// of which each has two to the server. The flows' paths are given as the interfaces that
// leaf and the spine send them by: "up1 up0".
type split struct {
	policy  [2]string // of leaf, and of the spines
	paths   []string
	weights [2]int // of leaf's next hops
	rates   [2]unit.BitRate
	goodput float64 // bit/s of each flow
	limit   float64
	labels  string // not empty: the flows are of IPv6, and this is the client's auto_flowlabels
}

func (s split) topology() *topology.Topology {
	t := &topology.Topology{Hosts: []topology.Host{
		{Name: "client", Interfaces: []topology.Interface{{Name: "eth0"}}},
		{Name: "leaf", Forward: true, Interfaces: []topology.Interface{{Name: "down"}, {Name: "up1"}, {Name: "up2"}}},
	}}
	join := func(from, fromPort, to, toPort string, rate unit.BitRate) {
		l := topology.Link{From: topology.End{Node: from, Interface: fromPort},
			To: topology.End{Node: to, Interface: toPort}}
		l.Rate = rate
		t.Links = append(t.Links, l)
	}
	join("client", "eth0", "leaf", "down", 1e9)
	server := topology.Host{Name: "server"}
	for p := 1; p <= 2; p++ {
		spine := fmt.Sprintf("spine%d", p)
		t.Hosts = append(t.Hosts, topology.Host{Name: spine, Forward: true, Interfaces: []topology.Interface{
			{Name: "down"}, {Name: "up0"}, {Name: "up1"}}})
		join("leaf", fmt.Sprintf("up%d", p), spine, "down", s.rates[p-1])
		for u := range 2 {
			port := fmt.Sprintf("eth%d", 2*(p-1)+u)
			server.Interfaces = append(server.Interfaces, topology.Interface{Name: port})
			join(spine, fmt.Sprintf("up%d", u), "server", port, 1e9)
		}
	}
	t.Hosts = append(t.Hosts, server)
	return t
}

func (s split) trial(over *topology.Topology) record.Trial {
	t := record.Trial{LimitBps: s.limit, WindowS: 1}
	sent := map[string]float64{}
	for i, path := range s.paths {
		first, second, _ := strings.Cut(path, " ")
		spine := "spine" + first[2:]
		out := topology.End{Node: spine, Interface: second}
		link, _ := over.LinkAt(out)
		f := record.Flow{
			ID: fmt.Sprintf("f%d", i+1), From: "client", To: "server", OpenedBy: "client", Connected: true, Paths: 4,
			Source: fmt.Sprintf("10.0.200.1:%d", 40000+i), Destination: "10.0.200.2:5201",
			ReceivedBytes: int64(s.goodput / 8), GoodputBps: s.goodput,
			Path: []string{"client.eth0", "leaf.down", "leaf." + first, spine + ".down", out.String(),
				link.Other(out).String()},
		}
		f.Predicted, f.Observed = f.Path, []string{f.Path[1], f.Path[3], f.Path[5]}
		t.GoodputBps += s.goodput
		for _, end := range []string{f.Path[2], f.Path[4]} {
			sent[end] += s.goodput / 8
		}
		t.Flows = append(t.Flows, f)
	}
	for i, name := range []string{"leaf", "spine1", "spine2"} {
		h := netstate.HostReading{Host: name, Snapshot: netstate.Snapshot{Host: name, Sysctls: map[string]string{
			"net.ipv4.fib_multipath_hash_policy": s.policy[min(i, 1)], "net.ipv4.fib_multipath_hash_fields": "55",
			"net.ipv4.fib_multipath_use_neigh": "0",
		}}}
		route := netstate.RouteEntry{Table: 254, To: "10.0.200.2/32"}
		ports := []string{"up0", "up1"}
		if name == "leaf" {
			ports = []string{"up1", "up2"}
		}
		for k, p := range ports {
			weight := 1
			if name == "leaf" && s.weights[k] > 0 {
				weight = s.weights[k]
			}
			route.Nexthops = append(route.Nexthops, netstate.RouteNexthop{Interface: p, Via: fmt.Sprintf("fe80::%d:%d",
				i,
				k), Weight: weight})
			h.Begin.Interfaces = append(h.Begin.Interfaces, netstate.InterfaceCounters{Interface: p})
			h.End.Interfaces = append(h.End.Interfaces, netstate.InterfaceCounters{Interface: p,
				TxBytes: uint64(sent[name+"."+p]), AtNs: 1e9})
		}
		h.Snapshot.Routes = []netstate.RouteEntry{{Table: 254, To: "0.0.0.0/0"}, route}
		t.Hosts = append(t.Hosts, h)
	}
	return t
}

// overIPv6 gives the flows and routes addresses of IPv6.
func (s split) overIPv6(t *record.Trial) {
	for i := range t.Flows {
		f := &t.Flows[i]
		f.Source, f.Destination = strings.Replace(f.Source, "10.0.200.1", "[fd00::1]", 1),
			strings.Replace(f.Destination, "10.0.200.2", "[fd00::2]", 1)
	}
	for i := range t.Hosts {
		h := &t.Hosts[i].Snapshot
		h.Routes[1].To, h.Sysctls["net.ipv6.fib_multipath_hash_policy"] = "fd00::2/128",
			h.Sysctls["net.ipv4.fib_multipath_hash_policy"]
	}
	t.Hosts = append(t.Hosts, netstate.HostReading{Host: "client", Snapshot: netstate.Snapshot{Host: "client",
		Sysctls: map[string]string{"net.ipv6.auto_flowlabels": s.labels}}})
}

func (s split) find() string {
	over := s.topology()
	var list []string
	trial := s.trial(over)
	if s.labels != "" {
		s.overIPv6(&trial)
	}
	for _, f := range diagnose.Diagnose(trial, over) {
		list = append(list, fmt.Sprintf("%s %s %s", f.ID, f.Host, f.Confidence))
		if len(f.Facts) < 2 {
			list = append(list, "incomplete")
		}
	}
	return strings.Join(list, ", ")
}

// TestECMPSettings: what removes a cause is settings of its host, too: weights by the
// links' rates, and another seed for each router.
func TestECMPSettings(t *testing.T) {
	both := [2]unit.BitRate{1e9, 1e9}
	for name, c := range map[string]struct {
		split
		want []string
	}{
		"weights": {split{policy: [2]string{"1", "1"}, paths: many(8, "up1 up0", "up2 up1", "up1 up1", "up2 up0"),
			weights: [2]int{1, 1}, rates: [2]unit.BitRate{200e6, 1e9}, goodput: 48e6, limit: 900e6},
			[]string{"leaf: metric 20 dev up1 weight 4 dev up2 weight 20"}},
		"seeds": {split{policy: [2]string{"1", "1"}, paths: many(24, "up1 up0", "up2 up1"), rates: both, goodput: 80e6,
			limit: 2e9},
			[]string{"spine1: policy=3 fields=55 seed=3", "spine2: policy=3 fields=55 seed=4"}},
	} {
		over := c.topology()
		var got []string
		trial := c.trial(over)
		for i := range trial.Hosts[0].Snapshot.Routes {
			trial.Hosts[0].Snapshot.Routes[i].Metric = 20
		}
		for _, f := range diagnose.Diagnose(trial, over) {
			for _, s := range f.Changes() {
				text := s.Host + ":"
				for _, one := range s.Sysctl {
					text += " " + one.Key[strings.LastIndex(one.Key, "_")+1:] + "=" + one.Value
				}
				if s.Route != nil {
					text += fmt.Sprintf(" metric %d", s.Route.Metric)
					for _, n := range s.Route.Nexthops {
						text += fmt.Sprintf(" dev %s weight %d", n.Interface, n.Weight)
					}
				}
				got = append(got, text)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// many repeats paths.
func many(n int, paths ...string) (list []string) {
	for i := range n {
		list = append(list, paths[i%len(paths)])
	}
	return list
}

// Each cause by itself, and beside it what looks like it and is not.
func TestECMP(t *testing.T) {
	both := [2]unit.BitRate{1e9, 1e9}
	for name, c := range map[string]struct {
		split
		want string
	}{
		"by addresses": {split{policy: [2]string{"0", "0"}, paths: many(4, "up1 up0"), rates: both, goodput: 250e6,
			limit: 2e9},
			"ecmp-l3-hash leaf certain, ecmp-l3-hash spine1 certain"},
		"by addresses and flow labels, one link by chance": {
			split{policy: [2]string{"0", "0"}, paths: []string{"up1 up0", "up1 up1", "up1 up0"}, rates: both,
				goodput: 330e6, limit: 2e9, labels: "1"},
			"ecmp-few-flows leaf certain"},
		"by flow labels alike at both tiers": {split{policy: [2]string{"0", "0"}, paths: many(24, "up1 up0", "up2 up1"),
			rates: both, goodput: 80e6, limit: 2e9, labels: "1"},
			"ecmp-polarization spine1 certain, ecmp-polarization spine2 certain"},
		"by inner addresses and flow labels, one link by chance": {
			split{policy: [2]string{"2", "2"}, paths: []string{"up1 up0", "up1 up1", "up1 up0"}, rates: both,
				goodput: 330e6, limit: 2e9, labels: "1"},
			"ecmp-few-flows leaf certain"},
		"by addresses of IPv6 without flow labels": {split{policy: [2]string{"0", "0"}, paths: many(4, "up1 up0"),
			rates: both, goodput: 250e6, limit: 2e9, labels: "0"},
			"ecmp-l3-hash leaf certain, ecmp-l3-hash spine1 certain"},
		"by addresses, and no more is asked for": {split{policy: [2]string{"0", "0"}, paths: many(4, "up1 up0"),
			rates: both, goodput: 50e6, limit: 200e6}, ""},
		"by interfaces, all links": {
			split{policy: [2]string{"1", "1"}, paths: many(8, "up1 up0", "up2 up1", "up1 up1", "up2 up0"), rates: both,
				goodput: 240e6, limit: 2e9}, ""},
		"by ports, one link by chance": {
			split{policy: [2]string{"1", "1"}, paths: []string{"up1 up0", "up1 up1", "up1 up0"}, rates: both,
				goodput: 330e6, limit: 2e9},
			"ecmp-few-flows leaf certain"},
		"one flow has one link": {split{policy: [2]string{"1", "1"}, paths: []string{"up1 up0"}, rates: both,
			goodput: 990e6, limit: 1e9}, ""},
		"alike at both tiers": {split{policy: [2]string{"1", "1"}, paths: many(24, "up1 up0", "up2 up1"), rates: both,
			goodput: 80e6, limit: 2e9},
			"ecmp-polarization spine1 certain, ecmp-polarization spine2 certain"},
		"alike at one tier, by another hash": {split{policy: [2]string{"1", "3"}, paths: many(24, "up1 up0", "up2 up1"),
			rates: both, goodput: 80e6, limit: 2e9}, ""},
		"weights do not fit": {split{policy: [2]string{"1", "1"}, paths: many(8, "up1 up0", "up2 up1", "up1 up1",
			"up2 up0"), weights: [2]int{1, 1}, rates: [2]unit.BitRate{200e6, 1e9}, goodput: 48e6, limit: 900e6},
			"ecmp-weight-mismatch leaf certain"},
		"weights fit": {split{policy: [2]string{"1", "1"}, paths: many(8, "up1 up0", "up2 up1", "up1 up1", "up2 up0"),
			weights: [2]int{1, 5}, rates: [2]unit.BitRate{200e6, 1e9}, goodput: 48e6, limit: 900e6}, ""},
	} {
		if got := c.find(); got != c.want {
			t.Errorf("%s: found %q, want %q", name, got, c.want)
		}
	}
}

// A next hop that is not answered for is found where flows did not get through,
// and not where the kernel is set to leave it out.
func TestDeadNexthop(t *testing.T) {
	s := split{policy: [2]string{"1", "1"}, paths: many(4, "up1 up0"), rates: [2]unit.BitRate{1e9, 1e9}, goodput: 240e6,
		limit: 1e9}
	over := s.topology()
	find := func(change func(leaf *netstate.Snapshot, t *record.Trial)) string {
		trial := s.trial(over)
		change(&trial.Hosts[0].Snapshot, &trial)
		return diagnosetest.Names(diagnose.Diagnose(trial, over))
	}
	fail := func(t *record.Trial) {
		f := &t.Flows[1]
		*f = record.Flow{ID: f.ID, From: f.From, To: f.To, OpenedBy: f.OpenedBy, Destination: f.Destination,
			Error: "connection timed out"}
	}
	dead := netstate.Neighbour{Interface: "up2", Address: "fe80::0:1", State: "FAILED"}
	dead.Address = netip.MustParseAddr(dead.Address).String()
	hop := func(s *netstate.Snapshot) *netstate.RouteNexthop { return &s.Routes[1].Nexthops[1] }
	leaf, _ := over.Host("leaf")
	leaf.Nexthops = []setting.NexthopObject{{ID: 10, Group: []setting.Member{{ID: 1}, {ID: 2}}},
		{ID: 11, Resilient: &setting.Resilient{}}}
	byGroup := func(id int) func(*netstate.Snapshot, *record.Trial) {
		return func(s *netstate.Snapshot, t *record.Trial) {
			hop(s).Down, s.Sysctls["net.ipv4.fib_multipath_use_neigh"] = true, "1"
			s.Routes[1].Object = id
			fail(t)
		}
	}
	for name, c := range map[string]struct {
		change func(*netstate.Snapshot, *record.Trial)
		want   string
	}{
		"no answer": {func(s *netstate.Snapshot, t *record.Trial) {
			hop(s).Via = dead.Address
			s.Neighbours = append(s.Neighbours, dead)
			fail(t)
		}, "ecmp-dead-nexthop leaf certain"},
		"its interface is down": {func(s *netstate.Snapshot, t *record.Trial) {
			hop(s).Down = true
			fail(t)
		}, "ecmp-dead-nexthop leaf certain"},
		"it answers, and a flow fails all the same": {func(s *netstate.Snapshot, t *record.Trial) {
			hop(s).Via, dead.State, dead.MAC = dead.Address, "REACHABLE", "02:00:00:00:00:01"
			s.Neighbours = append(s.Neighbours, dead)
			fail(t)
		}, "unreachable client possible"},
		"it stopped answering": {func(s *netstate.Snapshot, t *record.Trial) {
			hop(s).Via = dead.Address
			s.Neighbours = append(s.Neighbours, dead)
			alive := dead
			alive.State, alive.MAC = "REACHABLE", "02:00:00:00:00:01"
			t.Hosts[0].Before.Neighbours = append(t.Hosts[0].Before.Neighbours, alive)
			t.Flows[1].Outages = []record.Outage{{AtS: 0.5, LostS: 0.4, Withdrawn: true}}
		}, "ecmp-dead-nexthop leaf certain"},
		"it stopped answering, and flows moved": {func(s *netstate.Snapshot, t *record.Trial) {
			hop(s).Via = dead.Address
			s.Neighbours = append(s.Neighbours, dead)
			t.Flows[1].Outages = []record.Outage{{AtS: 0.5, LostS: 0.4, Withdrawn: true, Resumed: true, Moved: true}}
		}, ""},
		"it is left out of routes, and this goes by some group":      {byGroup(9), "ecmp-dead-nexthop leaf likely"},
		"it is left out of routes, and this goes by a resilient one": {byGroup(11), "ecmp-dead-nexthop leaf certain"},
		"an ordinary group leaves it out by itself": {func(s *netstate.Snapshot, t *record.Trial) {
			byGroup(10)(s, t)
			s.Sysctls["net.ipv4.fib_multipath_use_neigh"] = "0"
		}, "unreachable client possible"},
		"nothing fails": {func(s *netstate.Snapshot, t *record.Trial) { hop(s).Down = true }, ""},
		"it is left out": {func(s *netstate.Snapshot, t *record.Trial) {
			hop(s).Down, s.Sysctls["net.ipv4.fib_multipath_use_neigh"] = true, "1"
			fail(t)
		}, "unreachable client possible"},
	} {
		if got := find(c.change); got != c.want {
			t.Errorf("%s: found %q, want %q", name, got, c.want)
		}
		dead.State, dead.MAC = "FAILED", ""
	}
}
