package wording

import (
	"fmt"
	"strings"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"

	"linerate/internal/science/diagnose"
)

// twoSubnets is a client with two links to a server, a subnet for each, and flows that
// it opened, each given as "address's link, link that it left by".
func twoSubnets(object bool, flows ...[2]int) (record.Trial, *topology.Topology) {
	over := &topology.Topology{Hosts: []topology.Host{{Name: "client"}, {Name: "server"}}}
	h := netstate.HostReading{Host: "client"}
	text := "10.9.0.1 proto static"
	if object {
		text += " nhid 10"
	}
	route := netstate.ParseRoute(254, "10.9.0.1/32", text)
	for p := range 2 {
		name := fmt.Sprintf("eth%d", p)
		for i := range over.Hosts {
			over.Hosts[i].Interfaces = append(over.Hosts[i].Interfaces, topology.Interface{Name: name})
		}
		over.Links = append(over.Links, topology.Link{From: topology.End{Node: "client", Interface: name},
			To: topology.End{Node: "server", Interface: name}})
		h.Snapshot.Interfaces = append(h.Snapshot.Interfaces, netstate.InterfaceSnapshot{Interface: name, Up: true,
			Addresses: []string{fmt.Sprintf("10.1.%d.1/24", p)}})
		route.Nexthops = append(route.Nexthops, netstate.RouteNexthop{Interface: name, Via: fmt.Sprintf("10.1.%d.2", p),
			Weight: 1})
	}
	h.Snapshot.Routes = []netstate.RouteEntry{{Table: 254, To: "10.1.0.0/24"}, route}
	t := record.Trial{Hosts: []netstate.HostReading{h}}
	for i, f := range flows {
		left, in := fmt.Sprintf("client.eth%d", f[1]), fmt.Sprintf("server.eth%d", f[1])
		t.Flows = append(t.Flows, record.Flow{
			ID: fmt.Sprintf("f%d", i), From: "client", To: "server", OpenedBy: "client", Connected: true,
			ReceivedBytes: 1e6,
			Source:        fmt.Sprintf("10.1.%d.1:%d", f[0], 40000+i), Destination: "10.9.0.1:5201",
			Paths: 2, Path: []string{left, in}, Observed: []string{in},
		})
	}
	return t, over
}

// Flows with one link's address by another are found, with who does so and how many;
// not where they keep to their link, nor where addresses belong to no link.
func TestSourceMismatch(t *testing.T) {
	straight, crossed := [2]int{0, 0}, [2]int{1, 0}
	find := func(object bool, change func(*record.Trial), flows ...[2]int) string {
		trial, over := twoSubnets(object, flows...)
		change(&trial)
		var list []string
		for _, f := range Findings(diagnose.Diagnose(trial, over), false) {
			text := strings.Join(append(append([]string{f.ID, f.Confidence}, f.Evidence...), f.Fix...), "\n")
			list = append(list, text)
		}
		return strings.Join(list, "\n")
	}
	as := func(*record.Trial) {}
	for name, c := range map[string]struct {
		got  string
		want []string // none: nothing is found
	}{
		"by a group of objects": {find(true, as, straight, crossed, crossed), []string{
			"ecmp-source-mismatch\ncertain", "of 3 flows to 10.9.0.1/32, 2 left client",
			"2 flows from 10.1.1.1, which is eth1's, by eth0", "nexthop objects",
			"\non client: ip route replace 10.9.0.1/32 via 10.1.1.2 dev eth1 table 101\non client: ip rule add " +
				"from 10.1.1.1 lookup 101\n",
			"on client: ip route replace 10.9.0.1/32 nexthop via 10.1.0.2 dev eth0 weight 1 nexthop via 10.1.1.2 " +
				"dev eth1 weight 1",
		}},
		"by next hops of its own": {find(false, as, straight, crossed), []string{"ecmp-source-mismatch\nlikely",
			"of 2 flows"}},
		"each keeps to its own link": {find(true, as, straight, [2]int{1, 1}), nil},
		"only predicted": {find(true, func(t *record.Trial) {
			for i := range t.Flows {
				t.Flows[i].Predicted, t.Flows[i].Observed = t.Flows[i].Path, nil
			}
		}, crossed), []string{"ecmp-source-mismatch\nlikely"}},
		"the path is not known": {find(true, func(t *record.Trial) { t.Flows[0].Observed = nil }, crossed), nil},
		"the server opened it":  {find(true, func(t *record.Trial) { t.Flows[0].OpenedBy = "server" }, crossed), nil},
		// As routers with BGP unnumbered have it: the address is no link's, the next
		// hops are link-local.
		"unnumbered": {find(true, func(t *record.Trial) {
			for i := range 2 {
				t.Hosts[0].Snapshot.Interfaces[i].Addresses = []string{fmt.Sprintf("10.1.%d.1/32", i),
					fmt.Sprintf("fe80::%d/64", i)}
				t.Hosts[0].Snapshot.Routes[1].Nexthops[i].Via = fmt.Sprintf("fe80::1:%d", i)
			}
		}, crossed), nil},
		"tables that are taken": {find(true, func(t *record.Trial) {
			s := &t.Hosts[0].Snapshot
			s.Rules = append(s.Rules, netstate.RuleEntry{Table: 101})
			s.Routes = append(s.Routes, netstate.RouteEntry{Table: 102, To: "10.0.0.0/8"})
		}, crossed),
			[]string{
				"ip route replace 10.9.0.1/32 via 10.1.1.2 dev eth1 table 103\non client: ip rule add from " +
					"10.1.1.1 lookup 103"}},
		"IPv6": {find(true, func(t *record.Trial) {
			s := &t.Hosts[0].Snapshot
			for i := range 2 {
				s.Interfaces[i].Addresses = []string{fmt.Sprintf("fd00:%d::1/64", i)}
				s.Routes[1].Nexthops[i].Via = fmt.Sprintf("fd00:%d::2", i)
			}
			s.Routes[1].To = "fd00:9::1/128"
			t.Flows[0].Source, t.Flows[0].Destination = "[fd00:1::1]:40000", "[fd00:9::1]:5201"
		}, crossed),
			[]string{
				"ip -6 route replace fd00:9::1/128 via fd00:1::2 dev eth1 table 101\non client: ip -6 rule add " +
					"from fd00:1::1 lookup 101"}},
		// Which interface answers for an address there is ARP's question.
		"two interfaces on one subnet": {find(true, func(t *record.Trial) {
			s := &t.Hosts[0].Snapshot
			for i := range 2 {
				s.Interfaces[i].Addresses = []string{fmt.Sprintf("10.1.0.%d/24", 11+i)}
				s.Routes[1].Nexthops[i].Via = "10.1.0.1"
			}
			t.Flows[0].Source = "10.1.0.12:40000"
		}, crossed), nil},
		"an address that no link has": {find(true, func(t *record.Trial) {
			ports := t.Hosts[0].Snapshot.Interfaces
			ports[1].Addresses = append(ports[1].Addresses, "10.9.9.9/32")
			t.Flows[0].Source = "10.9.9.9:40000"
		}, crossed), nil},
	} {
		if len(c.want) == 0 && c.got != "" {
			t.Errorf("%s: found\n%s", name, c.got)
		}
		for _, want := range c.want {
			if !strings.Contains(c.got, want) {
				t.Errorf("%s: no %q in\n%s", name, want, c.got)
			}
		}
	}
}
