package topology_test

import (
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	. "linerate/internal/model/topology"

	"linerate/internal/model/setting"
)

func address(text string) Address {
	prefix := netip.MustParsePrefix(text)
	return Address{First: prefix.Addr(), Last: prefix.Addr(), Bits: prefix.Bits()}
}

func port(name string, addresses ...string) Interface {
	p := Interface{Name: name}
	for _, a := range addresses {
		p.Addresses = append(p.Addresses, address(a))
	}
	return p
}

func link(from, to string) Link {
	return Link{From: end(from), To: end(to)}
}

func end(text string) End {
	node, port, _ := strings.Cut(text, ".")
	return End{Node: node, Interface: port}
}

// nas is a server with four interfaces on one subnet and two clients, behind two
// switches in a row.
func nas() *Topology {
	return &Topology{
		Hosts: []Host{
			{Name: "server", Interfaces: []Interface{
				port("eth0", "192.168.1.15/24"), port("eth1", "192.168.1.16/24"),
				port("eth2", "192.168.1.17/24"), port("eth3", "192.168.1.18/24"),
			}},
			{Name: "client1", Interfaces: []Interface{port("eth0", "192.168.1.101/24")}},
			{Name: "client2", Interfaces: []Interface{port("eth0", "192.168.1.102/24")}},
		},
		Switches: []Switch{{Name: "switch"}, {Name: "far"}},
		Links: []Link{
			link("server.eth0", "switch.server-eth0"), link("server.eth1", "switch.server-eth1"),
			link("server.eth2", "switch.server-eth2"), link("switch.server-eth3", "server.eth3"),
			link("client1.eth0", "switch.client1-eth0"), link("switch.far", "far.switch"),
			link("client2.eth0", "far.client2-eth0"),
		},
	}
}

// fabric has two servers with an address on a loopback interface, each cabled to two
// spines by links without addresses, as with BGP unnumbered.
func fabric() *Topology {
	server := func(name, addr string) Host {
		return Host{
			Name:       name,
			Interfaces: []Interface{port("up0"), port("up1"), port("lo1", addr+"/32")},
			Routes: []setting.Route{{To: "default", Nexthops: []setting.Nexthop{
				{Via: "inet6 fe80::1", Interface: "up0"}, {Via: "inet6 fe80::2", Interface: "up1"},
			}}},
		}
	}
	spine := func(name string) Host {
		return Host{
			Name: name, Forward: true, Interfaces: []Interface{port("a"), port("b")},
			Routes: []setting.Route{{To: "10.0.200.1/32", Interface: "a"}, {To: "10.0.200.2/32", Interface: "b"}},
		}
	}
	return &Topology{
		Hosts: []Host{server("s1", "10.0.200.1"), server("s2", "10.0.200.2"), spine("spine1"), spine("spine2")},
		Links: []Link{link("s1.up0", "spine1.a"), link("s2.up0", "spine1.b"), link("s1.up1", "spine2.a"),
			link("s2.up1", "spine2.b")},
	}
}

// routed has a router between two subnets, and a second, longer path to one of
// its addresses.
func routed() *Topology {
	return &Topology{
		Hosts: []Host{
			{Name: "a", Interfaces: []Interface{port("eth0", "10.0.1.1/24"), port("eth1", "10.0.3.1/24")},
				Routes: []setting.Route{{To: "default", Via: "r.eth0"}, {To: "10.0.2.9/32", Via: "10.0.3.2"}}},
			{Name: "r", Forward: true, Interfaces: []Interface{port("eth0", "10.0.1.254/24"),
				port("eth1", "10.0.2.254/24")}},
			{Name: "q", Interfaces: []Interface{port("eth0", "10.0.3.2/24")}},
			{Name: "b", Interfaces: []Interface{port("eth0", "10.0.2.1/24", "10.0.2.9/24", "fd00::2/64")}},
		},
		Links: []Link{link("a.eth0", "r.eth0"), link("r.eth1", "b.eth0"), link("a.eth1", "q.eth0")},
	}
}

func TestPaths(t *testing.T) {
	source := nas()
	source.Hosts[0].Rules = []setting.Rule{{From: "192.168.1.15", Table: 7}}
	source.Hosts[0].Routes = []setting.Route{{To: "192.168.1.0/24", Interface: "eth2", Table: 7}}
	aliases := nas()
	aliases.Hosts[0].Interfaces[1].Addresses[0] = Address{
		First: netip.MustParseAddr("192.168.1.30"), Last: netip.MustParseAddr("192.168.1.60"), Bits: 24,
	}

	priorities := routed()
	priorities.Hosts[0].Routes = []setting.Route{
		{To: "fd00::/64", Interface: "eth1"}, {To: "fd00::/64", Via: "r.eth0", Metric: LearnedMetric},
		{To: "10.0.2.1/32", Via: "r.eth0"}, {To: "10.0.2.1/32", Interface: "eth1", Metric: LearnedMetric},
	}
	router := &priorities.Hosts[1].Interfaces[1]
	router.Addresses = append(router.Addresses, address("fd00::fe/64"))
	six := routed()
	six.Hosts[0].Interfaces[0] = port("eth0", "fd01::1/64")
	six.Hosts[1].Interfaces = []Interface{port("eth0", "fd01::fe/64"), port("eth1", "fd00::fe/64")}
	overConnected := nas()
	for i, h := range overConnected.Hosts {
		overConnected.Hosts[i].Interfaces[0].Addresses = append(h.Interfaces[0].Addresses,
			address(fmt.Sprintf("fd00::%d/64", i+1)))
	}
	overConnected.Hosts[0].Routes = []setting.Route{{To: "fd00::/64", Interface: "eth2", Metric: 100}}

	for _, test := range []struct {
		name                      string
		topology                  *Topology
		from, source, destination string
		want                      []string
	}{
		{"write goes to the interface that holds the address", nas(), "client1", "", "192.168.1.17",
			[]string{"client1.eth0 switch.client1-eth0 switch.server-eth2 server.eth2"}},
		{"read leaves by the interface that holds the source", nas(), "server", "192.168.1.16", "192.168.1.101",
			[]string{"server.eth1 switch.server-eth1 switch.client1-eth0 client1.eth0"}},
		{"a link may be written the other way round", nas(), "server", "192.168.1.18", "192.168.1.101",
			[]string{"server.eth3 switch.server-eth3 switch.client1-eth0 client1.eth0"}},
		{"two switches in a row", nas(), "client2", "192.168.1.102", "192.168.1.15",
			[]string{"client2.eth0 far.client2-eth0 far.switch switch.far switch.server-eth0 server.eth0"}},
		{"without a source every interface on the prefix will do", nas(), "server", "", "192.168.1.101", []string{
			"server.eth0 switch.server-eth0 switch.client1-eth0 client1.eth0",
			"server.eth1 switch.server-eth1 switch.client1-eth0 client1.eth0",
			"server.eth2 switch.server-eth2 switch.client1-eth0 client1.eth0",
			"server.eth3 switch.server-eth3 switch.client1-eth0 client1.eth0"}},
		{"aliases", aliases, "client1", "", "192.168.1.44",
			[]string{"client1.eth0 switch.client1-eth0 switch.server-eth1 server.eth1"}},
		{"a rule's table decides before the interfaces' prefixes", source, "server", "192.168.1.15", "192.168.1.101",
			[]string{"server.eth2 switch.server-eth2 switch.client1-eth0 client1.eth0"}},
		{"equal-cost multipath, unnumbered", fabric(), "s1", "10.0.200.1", "10.0.200.2", []string{
			"s1.up0 spine1.a spine1.b s2.up0", "s1.up1 spine2.a spine2.b s2.up1"}},
		{"an IPv6 route without a metric has 1024", priorities, "a", "", "fd00::2",
			[]string{"a.eth0 r.eth0 r.eth1 b.eth0"}},
		{"an IPv4 route without a metric has 0", priorities, "a", "", "10.0.2.1",
			[]string{"a.eth0 r.eth0 r.eth1 b.eth0"}},
		{"default by an interface that has addresses of IPv6 alone", six, "a", "", "fd00::2",
			[]string{"a.eth0 r.eth0 r.eth1 b.eth0"}},
		{"the route of an IPv6 address has 256", overConnected, "server", "", "fd00::2",
			[]string{"server.eth2 switch.server-eth2 switch.client1-eth0 client1.eth0"}},
		{"through a router", routed(), "a", "", "10.0.2.1",
			[]string{"a.eth0 r.eth0 r.eth1 b.eth0"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var from netip.Addr
			if test.source != "" {
				from = netip.MustParseAddr(test.source)
			}
			paths, err := test.topology.Paths(test.from, from, netip.MustParseAddr(test.destination))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, path := range paths {
				got = append(got, strings.Trim(fmt.Sprint(path), "[]"))
			}
			if strings.Join(got, "\n") != strings.Join(test.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

func TestPathsErrors(t *testing.T) {
	cut := nas()
	cut.Links = append(cut.Links[:3], cut.Links[4])
	loop := routed()
	loop.Hosts[1].Interfaces[1] = port("eth1", "10.0.9.254/24")
	loop.Hosts[1].Routes = []setting.Route{{To: "default", Via: "10.0.1.1"}}
	loop.Hosts[0].Forward = true

	// A default route of one family is none of the other.
	byObject := routed()
	byObject.Hosts[1].Interfaces[1].Addresses = []Address{address("fd00::fe/64")}
	byObject.Hosts[0].Nexthops = []setting.NexthopObject{{ID: 1, Via: "fd01::fe", Interface: "eth0"}}
	byObject.Hosts[0].Routes = []setting.Route{{To: "default", Object: 1}, {To: "default", Interface: "eth0"},
		{To: "default", Via: "r.eth0"}}
	six := routed()
	six.Hosts[0].Interfaces[0].Addresses = []Address{address("fd01::1/64")}
	six.Hosts[1].Interfaces[0].Addresses = []Address{address("fd01::fe/64")}
	for _, test := range []struct {
		name                      string
		topology                  *Topology
		from, source, destination string
		want                      string
	}{
		{"unknown host", nas(), "absent", "", "192.168.1.15", `no host "absent"`},
		{"unassigned address", nas(), "client1", "", "192.168.1.99", "no interface holds 192.168.1.99"},
		{"own address", nas(), "server", "", "192.168.1.16", "is an address of server itself"},
		{"cable cut", cut, "client1", "", "192.168.1.18", "no path from client1 to 192.168.1.18: "},
		{"cable cut, at the interface", cut, "server", "192.168.1.15", "192.168.1.102",
			"192.168.1.102 is not reachable from server.eth0"},
		{"no route", routed(), "b", "", "10.0.1.1", "b has neither an interface on its prefix nor a route"},
		{"longest prefix leads to no router", routed(), "a", "", "10.0.2.9", "q does not forward"},
		{"other family has no route", routed(), "r", "", "fd00::2", "r has neither"},
		{"default of IPv4", byObject, "a", "", "fd00::2", "a has neither"},
		{"default of IPv6", six, "a", "", "10.0.2.1", "a has neither"},
		{"loop", loop, "a", "", "10.0.2.1", "lead back to a"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var from netip.Addr
			if test.source != "" {
				from = netip.MustParseAddr(test.source)
			}
			paths, err := test.topology.Paths(test.from, from, netip.MustParseAddr(test.destination))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("paths %v, error %v; want an error with %q", paths, err, test.want)
			}
		})
	}
}

// A fabric whose paths multiply must not exhaust memory.
func TestPathsAreBounded(t *testing.T) {
	const tiers, wide = 6, 4 // 4^6 paths
	var top Topology
	for tier := range tiers + 1 {
		h := Host{Name: fmt.Sprint("r", tier), Forward: true}
		for k := range wide {
			h.Interfaces = append(h.Interfaces, port(fmt.Sprint("d", k), fmt.Sprintf("10.%d.%d.1/24", tier, k)),
				port(fmt.Sprint("u", k), fmt.Sprintf("10.%d.%d.2/24", tier-1+100*(1/(tier+1)), k)))
		}
		if tier < tiers {
			var hops []setting.Nexthop
			for k := range wide {
				hops = append(hops, setting.Nexthop{Via: fmt.Sprintf("r%d.u%d", tier+1, k),
					Interface: fmt.Sprint("d", k)})
				top.Links = append(top.Links, link(fmt.Sprintf("r%d.d%d", tier, k), fmt.Sprintf("r%d.u%d", tier+1, k)))
			}
			h.Routes = []setting.Route{{To: "172.16.0.1/32", Nexthops: hops}}
		} else {
			h.Interfaces = append(h.Interfaces, port("lo1", "172.16.0.1/32"))
		}
		top.Hosts = append(top.Hosts, h)
	}
	paths, err := top.Paths("r0", netip.Addr{}, netip.MustParseAddr("172.16.0.1"))
	if err != nil || len(paths) != 1024 {
		t.Errorf("%d paths, error %v; want 1024", len(paths), err)
	}
}

// TestRulesWithoutPriority: they are looked up as the kernel numbers them, the last one added
// first, behind those that the file gives a lower priority.
func TestRulesWithoutPriority(t *testing.T) {
	from, to := netip.MustParseAddr("192.168.1.15"), netip.MustParseAddr("192.168.1.101")
	rule := func(table, priority int) setting.Rule {
		return setting.Rule{From: "192.168.1.15", Table: table, Priority: priority}
	}
	for name, c := range map[string]struct {
		rules []setting.Rule
		table int
	}{
		"the later of two":            {[]setting.Rule{rule(1, 0), rule(2, 0)}, 2},
		"before one with a priority":  {[]setting.Rule{rule(1, 100), rule(2, 0)}, 2},
		"behind one that is added":    {[]setting.Rule{rule(1, 0), rule(2, 100)}, 2},
		"one that is there":           {[]setting.Rule{rule(1, 0), rule(2, 0), rule(1, 0)}, 2},
		"one that is IPv6's":          {[]setting.Rule{rule(1, 0), {From: "fd00::1", Table: 2}}, 1},
		"equal priorities, in order":  {[]setting.Rule{rule(1, 5), rule(2, 5)}, 1},
		"without prefixes it is IPv4": {[]setting.Rule{rule(1, 0), {Table: 2}}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			top := nas()
			top.Hosts[0].Routes = []setting.Route{{To: "192.168.1.0/24", Interface: "eth1", Table: 1},
				{To: "192.168.1.0/24", Interface: "eth2", Table: 2}}
			var settings []setting.Setting
			for i := range c.rules {
				settings = append(settings, setting.Setting{Host: "server", Rule: &c.rules[i]})
			}
			with := top.With(settings)
			top.Hosts[0].Rules = c.rules
			for how, top := range map[string]*Topology{"in the file": top, "by settings": with} {
				paths, err := top.Paths("server", from, to)
				if want := fmt.Sprint("eth", c.table); err != nil || len(paths) != 1 || paths[0][0].Interface != want {
					t.Errorf("%s: %v, %v; want a path by %s", how, paths, err, want)
				}
			}
		})
	}
}

// TestMainTableByNumber: a rule for table 254 looks in the main table, before later rules.
func TestMainTableByNumber(t *testing.T) {
	top := nas()
	server, _ := top.Host("server")
	server.Rules = []setting.Rule{{Table: 254, Priority: 1}, {Table: 100, Priority: 2}}
	server.Routes = []setting.Route{{To: "192.168.1.0/24", Interface: "eth1", Table: 100}}
	from, to := netip.MustParseAddr("192.168.1.15"), netip.MustParseAddr("192.168.1.101")
	got, err := top.Paths("server", from, to)
	want, _ := nas().Paths("server", from, to)
	if err != nil || len(want) == 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}

// TestPathsOfRealSwitches: between leaves and spines, whose links form loops, packets take the shortest
// paths.
func TestPathsOfRealSwitches(t *testing.T) {
	fabric := &Topology{}
	const leaves, spines, hosts = 4, 2, 20
	for l := range leaves {
		leaf := fmt.Sprint("leaf", l)
		fabric.Switches = append(fabric.Switches, Switch{Name: leaf, Unmanaged: true})
		for h := range hosts {
			name := fmt.Sprint("h", l, "-", h)
			address := Address{netip.AddrFrom4([4]byte{10, 0, byte(l), byte(h + 1)}),
				netip.AddrFrom4([4]byte{10, 0, byte(l), byte(h + 1)}), 16}
			fabric.Hosts = append(fabric.Hosts, Host{Name: name, Via: []string{"ssh", name},
				Interfaces: []Interface{{Name: "eth0", Addresses: []Address{address}}}})
			fabric.Links = append(fabric.Links, Link{From: End{name, "eth0"}, To: End{leaf, fmt.Sprint("p", h)}})
		}
		for s := range spines {
			fabric.Links = append(fabric.Links, Link{From: End{leaf, fmt.Sprint("up", s)},
				To: End{fmt.Sprint("spine", s), fmt.Sprint("p", l)}})
		}
	}
	for s := range spines {
		fabric.Switches = append(fabric.Switches, Switch{Name: fmt.Sprint("spine", s), Unmanaged: true})
	}
	paths, err := fabric.Paths("h0-0", netip.Addr{}, netip.MustParseAddr("10.0.3.20"))
	if err != nil || len(paths) != spines {
		t.Fatalf("%d paths, %v: %v", len(paths), err, paths)
	}
	for s, p := range paths {
		if len(p) != 8 || p[3].Node != fmt.Sprint("spine", s) {
			t.Errorf("%v", p)
		}
	}
}
