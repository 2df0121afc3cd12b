package run

import (
	"math"
	"net/netip"
	"strings"
	"testing"

	"linerate/internal/control/trial"
	"linerate/internal/model/message"
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

// came is a treatment's flows as they came about, and the trial they make.
func came(t *study.Treatment, source string, options uint8) ([]*trial.Flow, *record.Trial) {
	var flows []*trial.Flow
	made := &record.Trial{}
	for _, f := range t.Flows {
		flows = append(flows, &trial.Flow{PlannedFlow: f, Opened: netip.MustParseAddrPort(source + ":999")})
		made.Flows = append(made.Flows, record.Flow{ID: f.ID, Connected: true, SenderInfo: &record.TCPInfo{Options: options}})
	}
	return flows, made
}

// TestGround: each treatment has its own limit and its own ways; none of it can
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
		g := groundOf(treatment, &p.Study.Topology, nil)
		flows, made := came(treatment, "10.0.0.1", test.options)
		g.hold(made, flows)
		f := made.Flows[0]
		if math.Abs(made.LimitBps-1e9*test.want) > 1 || math.Abs(f.LimitBps-1e9*test.want) > 1 || strings.Join(f.Path, " ") != "a.eth0 b.eth0" {
			t.Errorf("%s: limit %.0f (%s), of the flow %.0f on %v; want %.0f", treatment.Name, made.LimitBps, made.LimitWhy, f.LimitBps, f.Path, 1e9*test.want)
		}
		if changed := g.over != &p.Study.Topology; changed != (i > 0) {
			t.Errorf("%s: topology changed: %t", treatment.Name, changed)
		}
	}
	// A way that nobody drew.
	lost := p.Treatments[1]
	lost.Settings = nil
	g := groundOf(&lost, &p.Study.Topology, nil)
	flows, made := came(&lost, "10.0.0.1", timestamps)
	g.hold(made, flows)
	if made.LimitBps != 0 || !strings.HasPrefix(made.LimitWhy, "unknown: flow f1: no way from a") || made.Flows[0].Path != nil {
		t.Errorf("no way: limit %.0f (%s), path %v", made.LimitBps, made.LimitWhy, made.Flows[0].Path)
	}
}

// TestAsFound: a real host's interfaces have the MTU that its agent says.
func TestAsFound(t *testing.T) {
	for via, want := range map[string]int{"via: [env], ": 9000, "": 1500} {
		p := treatments(t, strings.ReplaceAll(pairStudy, "VIA", via))
		base, kinds := asFound(&p.Study.Topology, []message.Hello{
			{Node: "a", Interfaces: []record.InterfaceSnapshot{{Interface: "eth0", MTU: 9000, Kind: "veth"}}},
			{Node: "b", Interfaces: []record.InterfaceSnapshot{{Interface: "eth0", MTU: 9000}, {Interface: "docker0", MTU: 1400}}},
		})
		for _, end := range []topology.End{{Node: "a", Interface: "eth0"}, {Node: "b", Interface: "eth0"}} {
			if got := base.MTUAt(end); got != want {
				t.Errorf("%q: MTU of %s is %d, want %d", via, end, got, want)
			}
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

// TestOfBridge: another bridge of the same machine is not the switch.
func TestOfBridge(t *testing.T) {
	top := &topology.Topology{Switches: []topology.Switch{{Name: "sw", Via: []string{"env"}, Bridge: "br0"}, {Name: "lab"}}}
	reading := func(host string) record.HostReading {
		table := []record.FDBEntry{{MAC: "1", Interface: "p1"}, {MAC: "2", Interface: "c1"}, {MAC: "3", Interface: "br0"}, {MAC: "4", Interface: "docker0"}}
		return record.HostReading{Host: host, Before: record.Tables{FDB: table}, Snapshot: record.Snapshot{
			Interfaces: []record.InterfaceSnapshot{{Interface: "br0"}, {Interface: "p1", Master: "br0"}, {Interface: "docker0"}, {Interface: "c1", Master: "docker0"}},
			Tables:     record.Tables{FDB: table},
		}}
	}
	for host, want := range map[string]int{"sw": 2, "lab": 4, "unknown": 4} {
		h := reading(host)
		ofBridge(&h, top)
		if len(h.Snapshot.FDB) != want || len(h.Before.FDB) != want || len(h.Snapshot.Missing) != 0 {
			t.Errorf("%s: %v, %v", host, h.Snapshot.FDB, h.Before.FDB)
		}
	}
	top.Switches[0].Bridge = "br1"
	h := reading("sw")
	ofBridge(&h, top)
	if len(h.Snapshot.FDB) != 0 || len(h.Snapshot.Missing) != 1 {
		t.Errorf("a bridge that is not there: %v, missing %v", h.Snapshot.FDB, h.Snapshot.Missing)
	}
}
