package lab

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/bus/hub"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
	"linerate/internal/model/setting"
	"linerate/internal/model/study"
	"linerate/internal/model/topology"
)

// parse reads a topology as a file has it, flush left.
func parse(t *testing.T, text string) *topology.Topology {
	t.Helper()
	over, err := study.ParseTopology("test.yaml",
		[]byte("topology:\n  "+strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ")+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	return over
}

// labOf is a lab that is not up, of hosts that have said hello.
func labOf(over *topology.Topology, hellos ...message.Hello) *Lab {
	l := &Lab{topology: over, hellos: map[string]message.Hello{}}
	for _, h := range hellos {
		l.hellos[h.Node] = h
	}
	return l
}

func TestPlan(t *testing.T) {
	over := parse(t, `
hosts:
  server: {interfaces: {eth0: {addresses: [10.0.0.1/24]}, eth1: {addresses: ["fd00::1/64"], mac: "02:aa:00:00:00:01"}}}
  client: {interfaces: {eth0: {addresses: [10.0.0.2/24]}}}
  nas: {via: [ssh, nas], interfaces: {eno1: {addresses: [10.9.0.1/24]}}}
  far: {via: [ssh, far], interfaces: {eno1: {addresses: [10.9.0.2/24]}}}
switches:
  sw: {}
  rack: {unmanaged: true}
links:
  - {from: server.eth0, to: sw, rate: 100mbit, delay: 1ms, mtu: 9000}
  - {from: client.eth0, to: sw}
  - {from: server.eth1, to: sw}
  - {from: nas.eno1, to: rack}
  - {from: far.eno1, to: rack}
`)
	p := planOf(over)
	want := []planNode{{Name: "server", IPv6: true}, {Name: "client"}, {Name: "sw", Switch: true}}
	if !reflect.DeepEqual(p.Nodes, want) {
		t.Errorf("nodes %+v, want %+v: what is real is not made", p.Nodes, want)
	}
	if len(p.Links) != 3 {
		t.Fatalf("%d links, want the three between what is made", len(p.Links))
	}
	for i, want := range []string{"server.eth0", "client.eth0", "server.eth1"} {
		c := p.Links[i]
		if got := p.Nodes[c[0].Node].Name + "." + c[0].Interface; got != want || p.Nodes[c[1].Node].Name != "sw" {
			t.Errorf("link %d: %s to %s, want %s to sw", i, got, p.Nodes[c[1].Node].Name, want)
		}
	}
	for _, e := range p.Links[0] {
		if i := e.Impairment; i.Rate != 100e6 || i.Delay != 1e6 || i.MTU != 9000 {
			t.Errorf("impaired end %+v", e)
		}
	}
	if e := p.Links[1][0]; e.Impairment != (topology.Impairment{MTU: topology.DefaultMTU}) ||
		e.MAC != over.MAC(topology.End{Node: "client", Interface: "eth0"}) {
		t.Errorf("plain end %+v", e)
	}
	// The init process gets the same values as JSON.
	if text, err := json.Marshal(p); err != nil {
		t.Error(err)
	} else if again := (plan{}); json.Unmarshal(text, &again) != nil || !reflect.DeepEqual(again, p) {
		t.Errorf("the plan became %+v", again)
	}
	if mac := p.Links[2][0].MAC; mac != "02:aa:00:00:00:01" {
		t.Errorf("the given MAC address became %s", mac)
	}
}

// A host without IPv6 must not announce itself on links that are measured; one
// that uses it anywhere must have it.
func TestUsesIPv6(t *testing.T) {
	v4 := topology.Interface{Name: "eth0", Addresses: []topology.Address{mustAddress(t, "10.0.0.1/24")}}
	for name, c := range map[string]struct {
		host topology.Host
		want bool
	}{
		"IPv4": {topology.Host{Interfaces: []topology.Interface{v4},
			Routes: []setting.Route{{To: "default", Via: "router.eth0"}}}, false},
		"address": {topology.Host{
			Interfaces: []topology.Interface{
				v4, {Name: "eth1", Addresses: []topology.Address{mustAddress(t, "fd00::1/64")}}}}, true},
		"destination": {topology.Host{Routes: []setting.Route{{To: "fd00::/8", Interface: "eth0"}}}, true},
		"one address": {topology.Host{Routes: []setting.Route{{To: "fd00::1", Interface: "eth0"}}}, true},
		"next hop": {topology.Host{
			Routes: []setting.Route{{To: "10.9.0.0/16", Via: "inet6 fe80::1", Interface: "eth0"}}}, true},
		"one of a few": {topology.Host{
			Routes: []setting.Route{
				{To: "10.9.0.0/16", Nexthops: []setting.Nexthop{{Via: "10.0.0.2"}, {Via: "inet6 fe80::1"}}}}}, true},
	} {
		if got := usesIPv6(&c.host); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}

// Where two hosts share no prefix, a route between them goes by the link-local
// address of the far interface, and both ends need IPv6 for that.
func TestWithIPv6(t *testing.T) {
	over := parse(t, `
hosts:
  server:
    interfaces: {eth0: {addresses: [10.0.200.1/32]}, eth1: {addresses: [10.1.0.1/24]}}
    routes: [{to: 10.0.200.2/32, nexthops: [{via: spine.down, interface: eth0}, {via: old.eth0}]}]
  spine:
    interfaces: {down: {}}
  old:
    interfaces: {eth0: {addresses: [10.1.0.2/24]}}
links:
  - {from: server.eth0, to: spine.down}
  - {from: server.eth1, to: old.eth0}
`)
	got := withIPv6(over)
	for host, want := range map[string]bool{"server": true, "spine": true, "old": false} {
		if got[host] != want {
			t.Errorf("%s: IPv6 is %t, want %t", host, got[host], want)
		}
	}
}

func mustAddress(t *testing.T, text string) topology.Address {
	t.Helper()
	a, err := topology.ParseAddress(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestLinkLocal(t *testing.T) {
	// RFC 4291, appendix A: the universal/local bit is inverted.
	for mac, want := range map[string]string{
		"02:00:00:01:00:02": "fe80::ff:fe01:2",
		"34:56:78:9a:bc:de": "fe80::3656:78ff:fe9a:bcde",
	} {
		got, err := topology.LinkLocal(mac)
		if err != nil || got.String() != want {
			t.Errorf("%s: %v, %v; want %s", mac, got, err, want)
		}
	}
	if _, err := topology.LinkLocal("not a MAC"); err == nil {
		t.Error("no error for what is not a MAC address")
	}
}

func TestBaseSettings(t *testing.T) {
	over := parse(t, `
hosts:
  router:
    forward: true
    sysctls: {net.ipv4.tcp_sack: 0}
    interfaces:
      wan: {addresses: [10.0.0.1/24, 10.0.0.7-8/24]}
      lan: {addresses: ["fd00::1/64"]}
    routes: [{to: default, via: far.eth0}]
    rules: [{from: 10.0.0.7, table: 7}]
  far: {interfaces: {eth0: {addresses: [10.0.0.2/24, "fd00::2/64"]}, eth1: {}}}
links:
  - {from: router.wan, to: far.eth0}
  - {from: router.lan, to: far.eth1}
`)
	router, _ := over.Host("router")
	lines := func(h topology.Host) string {
		var all []string
		for _, s := range baseSettings(&h, false) {
			all = append(all, s.Lines()...)
		}
		return strings.Join(all, "\n")
	}
	shared := []string{
		"router: sysctl net.ipv4.tcp_sack=0", "router: sysctl net.ipv4.ip_forward=1",
		"router: sysctl net.ipv6.conf.all.forwarding=1",
		"router: route default via far.eth0", "router: rule from 10.0.0.7 look in table 7",
	}
	made := slices.Insert(slices.Clone(shared), 3, "router: address 10.0.0.1/24 on wan",
		"router: address 10.0.0.7/24 to 10.0.0.8/24 on wan",
		"router: address fd00::1/64 on lan")
	if got, want := lines(*router), strings.Join(made, "\n"); got != want {
		t.Errorf("of a host that is made:\n%s\nwant:\n%s", got, want)
	}
	router.Via = []string{"ssh", "router"}
	if got, want := lines(*router), strings.Join(shared, "\n"); got != want {
		t.Errorf("of a real host, which has its addresses:\n%s\nwant:\n%s", got, want)
	}
	if len(router.Sysctls) != 1 {
		t.Errorf("the topology itself was changed: %v", router.Sysctls)
	}
	far, _ := over.Host("far")
	if got := lines(*far); strings.Contains(got, "forward") {
		t.Errorf("an endpoint forwards:\n%s", got)
	}
}

func TestResolve(t *testing.T) {
	over := parse(t, `
hosts:
  h: {interfaces: {eth0: {addresses: [10.1.0.1/24, "fd00:1::1/64"]}, eth1: {addresses: [10.2.0.1/24]}, eth2: {addresses: ["fd00:3::1/64"]}}}
  r: {interfaces: {a: {addresses: [10.9.0.1/24, 10.1.0.254/24, "fd00:1::ff/64"]}, b: {mac: "02:00:00:00:00:99"}, c: {addresses: ["fd00:3::ff/64"]}}}
links:
  - {from: h.eth0, to: r.a}
  - {from: h.eth1, to: r.b}
  - {from: h.eth2, to: r.c}
`)
	l := labOf(over)
	route := func(to, via string, more ...string) setting.Setting {
		r := setting.Route{To: to, Via: via}
		for _, v := range more {
			r.Nexthops = append(r.Nexthops, setting.Nexthop{Via: v, Interface: "eth1"})
		}
		return setting.Setting{Host: "h", Route: &r}
	}
	given := []setting.Setting{
		route("10.7.0.0/16", "r.a"),      // the address of the same family on the same prefix
		route("fd00:7::/64", "r.a"),      // of the other family
		route("10.7.0.0/16", "r.b"),      // no address: the link-local one
		route("fd00:7::/64", "r.b"),      //
		route("10.7.0.0/16", "10.1.0.9"), // an address stays
		route("10.7.0.0/16", "", "r.b", "10.2.0.9", "inet6 fe80::7"),
		{Host: "h", Neighbour: &setting.Neighbour{LLAddr: "r.b"}},
		{Host: "h", Neighbour: &setting.Neighbour{LLAddr: "02:00:00:00:00:07"}},
		route("default", "r.a"), // of IPv4, if both families are there
		route("default", "r.b"),
		route("default", "r.c"),
		route("default", "", "r.c", "r.b"),
		route("default", "", "r.a", "r.c"),
	}
	got, err := l.Resolve(given)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"10.1.0.254", "fd00:1::ff", "inet6 fe80::ff:fe00:99", "fe80::ff:fe00:99",
		"10.1.0.9"} {
		if via := got[i].Route.Via; via != want {
			t.Errorf("%s via %s became %s, want %s", given[i].Route.To, given[i].Route.Via, via, want)
		}
	}
	for i, want := range []string{"inet6 fe80::ff:fe00:99", "10.2.0.9", "inet6 fe80::7"} {
		if via := got[5].Route.Nexthops[i].Via; via != want {
			t.Errorf("next hop %d: %s, want %s", i, via, want)
		}
	}
	for i, want := range []string{"10.1.0.254", "inet6 fe80::ff:fe00:99", "fd00:3::ff"} {
		if via := got[8+i].Route.Via; via != want {
			t.Errorf("default via %s became %s, want %s", given[8+i].Route.Via, via, want)
		}
	}
	for i, want := range []string{"fd00:3::ff", "fe80::ff:fe00:99"} {
		if via := got[11].Route.Nexthops[i].Via; via != want {
			t.Errorf("next hop %d of default: %s, want %s", i, via, want)
		}
	}
	if via := got[12].Route.Nexthops[1].Via; !strings.HasPrefix(via, "inet6 fe80::") {
		t.Errorf("IPv4's default has the next hop %s", via)
	}
	if got[6].Neighbour.LLAddr != "02:00:00:00:00:99" || got[7].Neighbour.LLAddr != "02:00:00:00:00:07" {
		t.Errorf("neighbours at %s and %s", got[6].Neighbour.LLAddr, got[7].Neighbour.LLAddr)
	}
	if given[0].Route.Via != "r.a" || given[5].Route.Nexthops[0].Via != "r.b" || given[6].Neighbour.LLAddr != "r.b" {
		t.Error("the given settings were changed themselves")
	}

	// A real host has the MAC address it says it has.
	r, _ := over.Host("r")
	r.Via = []string{"ssh", "r"}
	if _, err := l.Resolve(given[2:3]); err == nil || !strings.Contains(err.Error(), "r.b") {
		t.Errorf("a real host that has not said its MAC address: %v", err)
	}
	l = labOf(over, message.Hello{Node: "r", Interfaces: []netstate.InterfaceSnapshot{
		{Interface: "b", MAC: "34:56:78:9a:bc:de"}}})
	if got, err := l.Resolve(given[6:7]); err != nil || got[0].Neighbour.LLAddr != "34:56:78:9a:bc:de" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestVerify(t *testing.T) {
	over := parse(t, `
hosts:
  nas: {via: [ssh, nas], interfaces: {eno1: {addresses: [10.0.0.1/24, 10.0.0.5/24]}, eno2: {addresses: [10.0.1.1/24]}}}
  pc: {via: [env], interfaces: {eno1: {addresses: [10.0.0.2/24]}}}
switches: {rack: {unmanaged: true}}
links:
  - {from: nas.eno1, to: rack}
  - {from: nas.eno2, to: rack}
  - {from: pc.eno1, to: rack}
`)
	l := labOf(over,
		message.Hello{Node: "nas", Interfaces: []netstate.InterfaceSnapshot{
			{Interface: "eno1", Addresses: []string{"10.0.0.1/24"}}}},
		message.Hello{Node: "pc", Interfaces: []netstate.InterfaceSnapshot{
			{Interface: "eno1", Up: true, Addresses: []string{"10.0.0.2/24", "10.3.0.1/8"}}}})
	nas, _ := over.Host("nas")
	err := fmt.Sprint(l.verify(nas))
	for _, want := range []string{"nas.eno1 is down", "nas.eno1 does not have 10.0.0.5/24; it has 10.0.0.1/24",
		"nas has no interface eno2; it has eno1"} {
		if !strings.Contains(err, want) {
			t.Errorf("%q is missing in:\n%s", want, err)
		}
	}
	pc, _ := over.Host("pc")
	if err := l.verify(pc); err != nil {
		t.Errorf("a host as it should be: %v", err)
	}
}

// A lab whose agents do not connect reports what each command has printed.
func TestAwaitAll(t *testing.T) {
	b, err := hub.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	over := parse(t, `
hosts:
  a: {via: [sh, -c, "cat >/dev/null; :"], interfaces: {eno1: {}}}
  b: {via: [sh, -c, "echo no way >&2; exit 127"], interfaces: {eno1: {}}}
links: [{from: a.eno1, to: b.eno1}]
`)
	began := time.Now()
	_, err = Up(t.Context(), over, b, Options{})
	// The first one never comes and never goes; the second one's end is the news.
	for _, want := range []string{"b: there is no sh", "no way", "status 127"} {
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "a: ") {
			t.Errorf("after %v: %v\nwant %q in it", time.Since(began), err, want)
		}
	}
}
