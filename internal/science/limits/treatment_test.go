package limits

import (
	"math"
	"net/netip"
	"strings"
	"testing"

	"linerate/internal/model/setting"
	"linerate/internal/model/study"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
)

// What a treatment changes changes its limit: the limit follows the topology
// with the treatment's settings.
func TestLimitFollowsSettings(t *testing.T) {
	sysctl := func(host, key, value string) setting.Setting {
		return setting.Setting{Host: host, Sysctl: []setting.Sysctl{{Key: key, Value: value}}}
	}
	mtu := func(host string, bytes int) setting.Setting {
		return setting.Setting{Host: host, Link: &setting.Link{Interface: "eth0", MTU: bytes}}
	}
	queue := func(host, kind string, rate unit.BitRate) setting.Setting {
		return setting.Setting{Host: host, Qdisc: &setting.Qdisc{Interface: "eth0", Kind: kind, Rate: rate}}
	}
	real := nas(1e9, 1e9)
	for i := range real.Hosts {
		real.Hosts[i].Via = []string{"env"}
	}
	unmanaged, trunk := nas(1e9, 1e9), nas(1e9, 1e9)
	for i := range trunk.Switches {
		unmanaged.Switches[i].Unmanaged, trunk.Switches[i].Unmanaged = true, true
	}
	trunk.Switches = append(trunk.Switches, topology.Switch{Name: "far", Unmanaged: true})
	for i, l := range trunk.Links {
		if l.From.Node == "client1" {
			trunk.Links[i].To = topology.End{Node: "far", Interface: "p1"}
		}
	}
	join := topology.Link{From: topology.End{Node: "far", Interface: "up"},
		To: topology.End{Node: trunk.Links[0].To.Node, Interface: "down"}}
	join.MTU = 4000
	trunk.Links = append(trunk.Links, join)
	plain, noTimestamps := 1448.0, 1460.0
	for _, test := range []struct {
		name     string
		top      *topology.Topology
		settings []setting.Setting
		want     float64
	}{
		{"nothing", nas(1e9, 1e9), nil, 1e9 * plain / 1514},
		{"timestamps on", nas(1e9, 1e9), []setting.Setting{sysctl("server", "net.ipv4.tcp_timestamps", "1")},
			1e9 * plain / 1514},
		{"the receiver without timestamps", nas(1e9, 1e9),
			[]setting.Setting{sysctl("server", "net.ipv4.tcp_timestamps", "0")}, 1e9 * noTimestamps / 1514},
		{"the sender without timestamps", nas(1e9, 1e9),
			[]setting.Setting{sysctl("client1", "net.ipv4.tcp_timestamps", "0")}, 1e9 * noTimestamps / 1514},
		{"another host without timestamps", nas(1e9, 1e9),
			[]setting.Setting{sysctl("client2", "net.ipv4.tcp_timestamps", "0")}, 1e9 * plain / 1514},
		{"jumbo frames at both ends of an unmanaged switch", unmanaged,
			[]setting.Setting{mtu("server", 9000), mtu("client1", 9000)}, 1e9 * 8948 / 9038},
		{"jumbo frames at both ends, but not at the ports between", nas(1e9, 1e9),
			[]setting.Setting{mtu("server", 9000), mtu("client1", 9000)}, 1e9 * plain / 1514},
		{"jumbo frames at one end", nas(1e9, 1e9), []setting.Setting{mtu("client1", 9000)}, 1e9 * plain / 1514},
		{"what the file says of a trunk holds", trunk, []setting.Setting{mtu("server", 9000), mtu("client1", 9000)},
			1e9 * 3948 / 4038},
		{"a bucket", nas(1e9, 1e9), []setting.Setting{queue("client1", "tbf", 5e8)}, 5e8 * plain / 1514},
		{"a bucket in front of an Ethernet", real, []setting.Setting{queue("client1", "tbf", 5e8)}, 5e8 * plain / 1514},
		{"fq before the bucket", nas(1e9, 1e9), []setting.Setting{queue("client1", "fq", 0)}, 1e9 * plain / 1514},
		{"fq before a lab's slowest link", nas(0, 1e9), []setting.Setting{queue("client1", "fq", 0)},
			1e9 * plain / 1514},
		{"cake slower than the link", nas(0, 1e9), []setting.Setting{queue("client1", "cake", 9e8)},
			9e8 * plain / 1514},
	} {
		f := study.PlannedFlow{ID: "f1", Opener: "client1", Acceptor: "server", OpenerSends: true,
			Destination: netip.MustParseAddr("10.0.0.15")}
		got := Network{Topology: test.top.With(test.settings)}.Planned([]study.PlannedFlow{f})
		if math.Abs(got.Bps-test.want) > 1 {
			t.Errorf("%s: %.0f (%s), want %.0f", test.name, got.Bps, spelled(got), test.want)
		}
	}
}

// A flow without a path leaves the limit unknown, with the reason.
func TestPlannedWithoutWay(t *testing.T) {
	top := nas(1e9, 1e9)
	f := study.PlannedFlow{ID: "f1", Opener: "client1", Acceptor: "server", OpenerSends: true,
		Destination: netip.MustParseAddr("10.0.0.19")}
	over := top.With([]setting.Setting{
		{Host: "server", Address: &setting.Address{Interface: "eth0", Address: netip.MustParsePrefix("10.0.0.19/24")}}})
	if got := (Network{Topology: top}).Planned([]study.PlannedFlow{f}); got.Bps != 0 ||
		!strings.HasPrefix(spelled(got), "path: flow f1: no path from client1") {
		t.Errorf("without the address: %+v", got)
	}
	if got := (Network{Topology: over}).Planned([]study.PlannedFlow{f}); got.Bps == 0 {
		t.Errorf("with it: %+v", got)
	}
}

// TestDevicesOfSettings: a VLAN's MTU and the shapers of devices bound a flow, whose frames pass
// a bond's shaper by either member.
func TestDevicesOfSettings(t *testing.T) {
	over, planned := planOf(t, `study: devices
topology:
  hosts:
    a:
      interfaces:
        eth0: {}
        eth1: {}
        bond0: {bond: {members: [eth0, eth1], mode: 802.3ad}}
        bond0.5: {vlan: 5, addresses: [10.0.0.1/24]}
    b: {interfaces: {eth0: {}, eth0.5: {vlan: 5, addresses: [10.0.0.2/24]}}}
  switches: {s: {ports: {p: {bond: {members: [p0, p1], mode: 802.3ad}, tagged: [5]}, q: {tagged: [5]}}}}
  links:
    - {from: a.eth0, to: s.p0, rate: 10gbit, mtu: 9000}
    - {from: a.eth1, to: s.p1, rate: 10gbit, mtu: 9000}
    - {from: s.q, to: b.eth0, rate: 10gbit, mtu: 9000}
workload: {flows: [{from: a, to: b, streams: 2}]}
`)
	tbf := func(host, at string, rate unit.BitRate) setting.Setting {
		return setting.Setting{Host: host, Qdisc: &setting.Qdisc{Interface: at, Kind: "tbf", Rate: rate}}
	}
	for _, c := range []struct {
		settings []setting.Setting
		want     float64
		why      string
	}{
		{nil, 1e10 * 8948 / 9014, "10 Gbit/s × 8948/9014"},
		{[]setting.Setting{{Host: "b", Link: &setting.Link{Interface: "eth0.5", MTU: 1500}}}, 1e10 * 1448 / 1514,
			"10 Gbit/s × 1448/1514"},
		{[]setting.Setting{tbf("a", "bond0.5", 1e9)}, 1e9 * 8948 / 9014, "tbf on a.bond0.5: 1 Gbit/s × 8948/9014"},
		{[]setting.Setting{tbf("a", "bond0.5", 2e9), tbf("a", "bond0", 1e9)}, 1e9 * 8948 / 9014,
			"tbf on a.bond0: 1 Gbit/s × 8948/9014"},
		{[]setting.Setting{tbf("b", "eth0.5", 1e9)}, 1e10 * 8948 / 9014, "10 Gbit/s × 8948/9014"}, // not its direction
		{[]setting.Setting{tbf("a", "bond0", 1e9), {Host: "a", Qdisc: &setting.Qdisc{Interface: "bond0", Kind: "fq"}}},
			1e10 * 8948 / 9014, "10 Gbit/s × 8948/9014"},
	} {
		if got := (Network{Topology: over.With(c.settings)}).Planned(planned); math.Abs(got.Bps-c.want) > 1 ||
			spelled(got) != c.why {
			t.Errorf("%v: %+v, want %.0f: %s", c.settings, got, c.want, c.why)
		}
	}
	read := over.WithShaper(topology.End{Node: "a", Interface: "bond0"}, topology.Shaper{Kind: "htb", Rate: 2e9,
		Overhead: 4})
	if got := (Network{Topology: read}).Planned(planned); math.Abs(got.Bps-2e9*8948/9018) > 1 {
		t.Errorf("with a shaper that was read: %+v", got)
	}
	if got := (Network{Topology: over}).Planned(planned); spelled(got) != "10 Gbit/s × 8948/9014" {
		t.Errorf("the topology itself was changed: %+v", got)
	}
}

// TestMTUOfBond: a bond gives its MTU to its members.
func TestMTUOfBond(t *testing.T) {
	over, planned := planOf(t, `study: bonds
topology:
  hosts:
    h{n=1..2}:
      interfaces:
        eth0: {}
        eth1: {}
        bond0: {bond: {members: [eth0, eth1], mode: balance-xor}, addresses: ["10.0.0.{n}/24"]}
  links: [{from: h1.eth0, to: h2.eth0, rate: 1gbit}, {from: h1.eth1, to: h2.eth1, rate: 1gbit}]
workload: {flows: [{from: h1, to: h2}]}
`)
	var jumbo []setting.Setting
	for _, host := range []string{"h1", "h2"} {
		jumbo = append(jumbo, setting.Setting{Host: host, Link: &setting.Link{Interface: "bond0", MTU: 9000}})
	}
	for _, c := range []struct {
		settings []setting.Setting
		why      string
	}{{nil, "1 Gbit/s × 1448/1514"}, {jumbo, "1 Gbit/s × 8948/9014"}, {jumbo[:1], "1 Gbit/s × 1448/1514"}} {
		if got := (Network{Topology: over.With(c.settings)}).Planned(planned); spelled(got) != c.why {
			t.Errorf("%+v: %+v, want %s", c.settings, got, c.why)
		}
	}
}

// TestShaperBeneathTunnel: a flow through a tunnel and one beside it share the shaper of the
// device that both leave by.
func TestShaperBeneathTunnel(t *testing.T) {
	over, planned := planOf(t, `study: tunnel
topology:
  hosts:
    a:
      interfaces:
        eth0: {}
        bond0: {bond: {members: [eth0], mode: active-backup}, addresses: [10.0.0.1/24]}
        vx: {vxlan: {id: 7, local: 10.0.0.1, remote: 10.0.0.2}, addresses: [10.7.0.1/24]}
    b:
      interfaces:
        eth0: {addresses: [10.0.0.2/24]}
        vx: {vxlan: {id: 7, local: 10.0.0.2, remote: 10.0.0.1}, addresses: [10.7.0.2/24]}
  links: [{from: a.eth0, to: b.eth0, rate: 10gbit}]
workload: {flows: [{from: a, to: b, destination: 10.0.0.2}, {from: a, to: b, destination: 10.7.0.2}]}
`)
	network := Network{Topology: over.WithShaper(topology.End{Node: "a", Interface: "bond0"},
		topology.Shaper{Kind: "tbf", Rate: 1e9})}
	beside, through := network.Planned(planned[:1]), network.Planned(planned[1:])
	if through.Bps >= beside.Bps || through.Bps == 0 {
		t.Errorf("%+v through the tunnel, %+v beside it", through, beside)
	}
	// The flow with fewer headers has the most goodput.
	if got := network.Planned(planned); math.Abs(got.Bps-beside.Bps) > 1 {
		t.Errorf("both together %+v, want %+v", got, beside)
	}
}

// TestShapersOfPaths: each of several paths over one interface has the shapers of its own VLAN.
func TestShapersOfPaths(t *testing.T) {
	over, planned := planOf(t, `study: paths
topology:
  hosts:
    a:
      interfaces: {eth0: {}, eth0.10: {vlan: 10, addresses: [10.0.10.1/24]}, eth0.20: {vlan: 20, addresses: [10.0.20.1/24]}}
      routes: [{to: 10.9.0.0/24, nexthops: [{via: 10.0.10.2}, {via: 10.0.20.2}]}]
    b:
      interfaces:
        eth0: {addresses: [10.9.0.2/24]}
        eth1: {}
        eth0.10: {vlan: 10, addresses: [10.0.10.2/24]}
        eth1.20: {vlan: 20, addresses: [10.0.20.2/24]}
  switches: {s: {}}
  links: [{from: a, to: s, rate: 1gbit}, {from: b.eth0, to: s, rate: 1gbit}, {from: b.eth1, to: s, rate: 1gbit}]
workload: {flows: [{from: a, to: b, destination: 10.9.0.2, streams: 2}]}
`)
	const frame = 1448.0 / 1514
	for name, c := range map[string]struct {
		rates            map[string]unit.BitRate
		all, ten, twenty float64
	}{
		"both":   {map[string]unit.BitRate{"eth0.10": 1e8, "eth0.20": 2e8}, 3e8, 1e8, 2e8},
		"first":  {map[string]unit.BitRate{"eth0.10": 1e8}, 1e9, 1e8, 1e9},
		"second": {map[string]unit.BitRate{"eth0.20": 2e8}, 1e9, 1e9, 2e8},
	} {
		n := Network{Topology: over}
		for device, rate := range c.rates {
			n.Topology = n.Topology.WithShaper(topology.End{Node: "a", Interface: device},
				topology.Shaper{Kind: "tbf", Rate: rate})
		}
		flows, err := n.Flows(planned)
		if err != nil || len(flows) != 2 || len(flows[0].Paths) != 2 {
			t.Fatalf("%+v, %v", flows, err)
		}
		if got := n.Aggregate(flows); math.Abs(got.Bps-c.all*frame) > 1 {
			t.Errorf("%s: %+v, want %.0f", name, got, c.all*frame)
		}
		for i, want := range []float64{c.ten, c.twenty} {
			if got := n.Flow(flows[0].On(flows[0].Paths[i])); math.Abs(got.Bps-want*frame) > 1 {
				t.Errorf("%s: on path %d %+v, want %.0f", name, i, got, want*frame)
			}
		}
	}
}

// planOf is the topology of a study, and the flows of its only treatment.
func planOf(t *testing.T, text string) (*topology.Topology, []study.PlannedFlow) {
	t.Helper()
	s, err := study.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := study.NewPlan(s)
	if err != nil {
		t.Fatal(err)
	}
	return &s.Topology, plan.Treatments[0].Flows
}
