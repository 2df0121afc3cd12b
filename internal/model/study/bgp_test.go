package study

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/setting"
	"linerate/internal/model/topology"
)

func parsed(t *testing.T, text string) *topology.Topology {
	t.Helper()
	made, err := ParseTopology("fabric.yaml", []byte("topology:"+text))
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// learned spells a host's learned routes: "10.0.0.2/32 by eth0 eth1".
func learned(h *topology.Host) (list []string) {
	for _, r := range h.Routes {
		if !r.Learned {
			continue
		}
		ports := []string{r.Interface}
		if len(r.Nexthops) > 0 {
			ports = nil
		}
		for _, n := range r.Nexthops {
			ports = append(ports, n.Interface)
		}
		list = append(list, r.To+" by "+strings.Join(ports, " "))
	}
	return list
}

// TestLearned: BGP brings a route by every neighbour from which the network is the
// fewest hosts away, and hosts that do not forward pass nothing on.
func TestLearned(t *testing.T) {
	fabric := parsed(t, `
  hosts:
    server{s=1..2}: {interfaces: {eth0: {addresses: ["10.0.0.{s}/32"]}}, bgp: {as: "{65100+s}"}}
    leaf{l=1..2}: {forward: true, interfaces: {down: {}, "up{1..2}": {}}, bgp: {as: "{65200+l}"}}
    spine{p=1..2}: {forward: true, interfaces: {"down{1..2}": {}}, bgp: {as: "{65300+p}"}}
  links:
    - {from: "server{s=1..2}", to: "leaf{s}.down"}
    - {from: "leaf{l=1..2}.up{p=1..2}", to: "spine{p}.down{l}"}
`)
	for host, want := range map[string]string{
		"server1": "10.0.0.2/32 by eth0",
		"leaf1":   "10.0.0.1/32 by down, 10.0.0.2/32 by up1 up2",
		"spine2":  "10.0.0.1/32 by down1, 10.0.0.2/32 by down2",
	} {
		h, _ := fabric.Host(host)
		if got := strings.Join(learned(h), ", "); got != want {
			t.Errorf("%s: %s, want %s", host, got, want)
		}
	}
	server, _ := fabric.Host("server1")
	if got := server.Routes[0]; got.Via != "leaf1.down" || got.Metric != topology.LearnedMetric {
		t.Errorf("the route of server1 is %+v", got)
	}
	before := fmt.Sprint(fabric.Hosts)
	if fabric.Complete(); fmt.Sprint(fabric.Hosts) != before {
		t.Error("completing a topology again changed its routes")
	}
}

// TestNoTransit: of two paths, one leads through a host that does not forward.
func TestNoTransit(t *testing.T) {
	text := `
  hosts:
    a: {interfaces: {eth0: {addresses: [10.0.0.1/32]}, eth1: {}}, bgp: {as: 1}}
    m{m=1..2}: {FORWARD interfaces: {eth0: {}, eth1: {}}, bgp: {as: "{10+m}"}}
    b: {interfaces: {eth0: {addresses: [10.0.0.2/31]}, eth1: {addresses: ["fd00::2/64"]}}, bgp: {as: 2}}
  links:
    - {from: "a.eth{m=0..1}", to: "m{m+1}.eth0"}
    - {from: "b.eth{m=0..1}", to: "m{m+1}.eth1"}
`
	routers := parsed(t, strings.ReplaceAll(text, "FORWARD", "forward: true,"))
	a, _ := routers.Host("a")
	if got, want := learned(a), []string{"10.0.0.2/31 by eth0 eth1", "fd00::/64 by eth0 eth1"}; !slices.Equal(
		got, want) {
		t.Errorf("by two routers: %q, want %q", got, want)
	}
	hosts := parsed(t, strings.ReplaceAll(text, "FORWARD", ""))
	if a, _ := hosts.Host("a"); len(learned(a)) > 0 {
		t.Errorf("by two hosts that are no routers: %q", learned(a))
	}
	// A route of the level's own is another one; one of its metric takes its place.
	own := setting.Route{To: "10.0.0.2/31", Via: "m1.eth0", Interface: "eth0", Metric: topology.LearnedMetric}
	over := routers.With([]setting.Setting{{Host: "a", Route: &own}})
	if a, _ := over.Host("a"); len(a.Routes) != 2 || a.Routes[1].Learned {
		t.Errorf("with a route of the same metric: %+v", a.Routes)
	}
}
