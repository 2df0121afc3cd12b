package run

import (
	"math"
	"net/netip"
	"strings"
	"testing"

	"linerate/internal/control/trial"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/study"
	"linerate/internal/model/topology"
)

const pairStudy = `
study: pair
topology:
  hosts:
    a: {VIA interfaces: {eth0: {addresses: [10.0.0.1/24]}}}
    b: {VIA interfaces: {eth0: {addresses: [10.0.0.2/24]}}}
  links: [{from: a, to: b, rate: 1gbit}]
workload:
  flows: [{from: a, to: b}]
factors:
  f:
    levels:
      plain:
      alias:
        settings: [{host: b, address: {interface: eth0, address: 10.0.0.7/24}}]
        workload: {flows: [{from: a, to: b, destination: 10.0.0.7}]}
      jumbo:
        settings: [{host: a, link: {interface: eth0, mtu: 9000}}, {host: b, link: {interface: eth0, mtu: 9000}}]
`

func treatments(t *testing.T, text string) *study.Plan {
	t.Helper()
	s, err := study.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	p, err := study.NewPlan(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// came is a treatment's flows as they came about, and what was counted of them.
func came(t *study.Treatment, source string, options uint8) (flows []*trial.Flow, counted []record.Flow) {
	for _, f := range t.Flows {
		flows = append(flows, &trial.Flow{PlannedFlow: f, Opened: netip.MustParseAddrPort(source + ":999")})
		counted = append(counted, record.Flow{ID: f.ID, Connected: true,
			SenderInfo: &netstate.TCPInfo{Options: options}})
	}
	return flows, counted
}

// TestGround: each treatment has its own limit and its own paths; none of it can
// end a run.
func TestGround(t *testing.T) {
	p := treatments(t, strings.ReplaceAll(pairStudy, "VIA", ""))
	const timestamps = 1
	for i, test := range []struct {
		options uint8
		want    float64
	}{
		{timestamps, 1448.0 / 1514}, {timestamps, 1448.0 / 1514}, {0, 8960.0 / 9014},
	} {
		treatment := &p.Treatments[i]
		g := networkOf(treatment, &p.Study.Topology, nil)
		flows, counted := came(treatment, "10.0.0.1", test.options)
		n := network{treatmentNetwork: g, planned: treatment.Flows}
		paths := n.Paths(flows, counted, nil)
		limit := n.Limits(counted, nil, paths)
		path := strings.Join(trial.Texts(paths.Flows[0].Paths[0]), " ")
		if math.Abs(limit.Bps-1e9*test.want) > 1 || math.Abs(limit.Flows[0]-1e9*test.want) > 1 ||
			path != "a.eth0 b.eth0" {
			t.Errorf("%s: limit %.0f (%+v), of the flow %.0f on %v; want %.0f", treatment.Name, limit.Bps, limit.Terms,
				limit.Flows[0], path, 1e9*test.want)
		}
		if changed := g.over != &p.Study.Topology; changed != (i > 0) {
			t.Errorf("%s: topology changed: %t", treatment.Name, changed)
		}
	}
	// A path that was not drawn.
	lost := p.Treatments[1]
	lost.Settings = nil
	g := networkOf(&lost, &p.Study.Topology, nil)
	flows, counted := came(&lost, "10.0.0.1", timestamps)
	n := network{treatmentNetwork: g, planned: lost.Flows}
	paths := n.Paths(flows, counted, nil)
	if limit := n.Limits(counted, nil, paths); limit.Bps != 0 ||
		limit.None != record.NoLimitPath || !strings.HasPrefix(limit.Of, "flow f1: no ") ||
		paths.Flows[0].Paths != nil {
		t.Errorf("no path: limit %.0f (%+v), paths %v", limit.Bps, limit.Limit, paths.Flows[0].Paths)
	}
}

// TestAsFound: a real host's interfaces have the MTU and the shaper that its agent says.
func TestAsFound(t *testing.T) {
	for via, want := range map[string]int{"via: [env], ": 9000, "": 1500} {
		p := treatments(t, strings.ReplaceAll(pairStudy, "VIA", via))
		base, kinds := asFound(&p.Study.Topology, []message.Hello{
			{Node: "a", Interfaces: []netstate.InterfaceSnapshot{{Interface: "eth0", MTU: 9000, Kind: "veth",
				Shaper: &netstate.Shaper{Kind: "tbf", RateBps: 5e8, BurstBytes: 100_000, OverheadBytes: 4}}}},
			{Node: "b", Interfaces: []netstate.InterfaceSnapshot{{Interface: "eth0", MTU: 9000},
				{Interface: "docker0", MTU: 1400}}},
		})
		for _, end := range []topology.End{{Node: "a", Interface: "eth0"}, {Node: "b", Interface: "eth0"}} {
			if got := base.MTUAt(end); got != want {
				t.Errorf("%q: MTU of %s is %d, want %d", via, end, got, want)
			}
		}
		link, _ := base.LinkAt(topology.End{Node: "a", Interface: "eth0"})
		out := link.Towards(link.From)
		if read := out.Rate == 5e8 && out.Burst == 100_000 && out.Overhead == 4 &&
			out.Shaper == "tbf"; read != (via != "") {
			t.Errorf("%q: out of a.eth0 %+v", via, out)
		}
		if kinds[topology.End{Node: "a", Interface: "eth0"}] != "veth" {
			t.Errorf("kinds %v", kinds)
		}
		// What a treatment sets comes after what was found.
		small := base.With([]setting.Setting{{Host: "a", Link: &setting.Link{Interface: "eth0", MTU: 1400}}})
		if got := small.MTUAt(topology.End{Node: "a", Interface: "eth0"}); got != 1400 {
			t.Errorf("MTU of the treatment: %d", got)
		}
	}
}
