package run

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"linerate/internal/control/trial"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/study"
	"linerate/internal/model/topology"
	"linerate/internal/science/limits"
)

const forkStudy = `
study: fork
topology:
  hosts:
    "server{s=1..2}":
      interfaces: {eth0: {addresses: ["10.0.200.{s}/32"]}, eth1: {}}
      routes: [{to: "10.0.200.{3-s}/32", nexthops: [{via: "spine{p=1..2}.down{s}", interface: "eth{p-1}"}]}]
    "spine{p=1..2}":
      forward: true
      interfaces: {"down{1..2}": {}}
      routes: [{to: "10.0.200.{s=1..2}/32", via: "server{s}.eth{p-1}", interface: "down{s}"}]
  links:
    - {from: "server{s=1..2}.eth{p=0..1}", to: "spine{p+1}.down{s}", rate: 1gbit}
workload: {flows: [{from: server1, to: server2}, {from: server1, to: server2, protocol: rr}]}
`

func fork(t *testing.T) (*topology.Topology, []*trial.Flow) {
	t.Helper()
	p := treatments(t, forkStudy)
	flows := trial.Planned(p.Treatments[0].Flows, &p.Study.Topology)
	for _, f := range flows {
		f.Opened, f.Accepted = netip.MustParseAddrPort("10.0.200.1:40000"), netip.MustParseAddrPort("10.0.200.2:5201")
	}
	return &p.Study.Topology, flows
}

// TestMultipath: flows of bulk data that have more than one path are followed.
func TestMultipath(t *testing.T) {
	over, flows := fork(t)
	if found := multipath(over, flows); len(found) != 1 || len(found[flows[0]]) != 2 {
		t.Errorf("paths %v, want 2 of the first flow alone", found)
	}
	pair := treatments(t, strings.ReplaceAll(pairStudy, "VIA ", ""))
	if found := multipath(&pair.Study.Topology, trial.Planned(pair.Treatments[0].Flows, &pair.Study.Topology)); len(
		found) != 0 {
		t.Errorf("one link makes several paths: %v", found)
	}
}

// TestStep: a flow is followed from answer to answer, and stops where one is not
// to be had or not to be relied on.
func TestStep(t *testing.T) {
	over, flows := fork(t)
	begin := func() *trace {
		f := traces(multipath(over, flows))[flows[0]]
		f.at = f.sender
		return f
	}
	f := begin()
	f.unsure = "" // as if linerate had chosen the interface
	if q := f.question(); q.Source != "10.0.200.1" || q.SourcePort != 40000 || q.DestinationPort != 5201 ||
		q.Protocol != "tcp" || q.In != "" {
		t.Errorf("asked %+v", q)
	}
	if !f.step(over, netstate.RouteLookup{Interface: "eth1", Gateway: "fe80::1", Nexthops: 2}, nil) ||
		f.at != "spine2" ||
		f.in != "down1" {
		t.Errorf("after server1: %+v", f)
	}
	if f.question().In != "down1" {
		t.Errorf("asked a router without the interface of entry")
	}
	if f.step(over, netstate.RouteLookup{Interface: "down2", Gateway: "fe80::2", Nexthops: 1}, nil) || f.note != "" {
		t.Errorf("at the receiver: %+v", f)
	}
	if got := strings.Join(trial.Texts(f.path), " "); got != "server1.eth1 spine2.down1 spine2.down2 server2.eth1" {
		t.Errorf("path %s", got)
	}
	for want, answer := range map[string]netstate.RouteLookup{
		"connect(2)":    {Interface: "eth1", Gateway: "fe80::1", Nexthops: 2},
		"unreachable":   {Error: "network is unreachable"},
		"not asked for": {Interface: "eth1", Unsure: "not asked for"},
		"topology":      {Interface: "eth7", Nexthops: 1},
	} {
		f := begin()
		if f.step(over, answer, nil) || !strings.Contains(f.note, want) || len(f.path) != 0 {
			t.Errorf("%+v: %+v, want that it ends because of %q", answer, f, want)
		}
	}
	if f := begin(); !f.step(over, netstate.RouteLookup{Interface: "eth1", Gateway: "fe80::1", Nexthops: 1}, nil) {
		t.Errorf("one next hop is no choice: %+v", f)
	}
}

// TestPaths: of what hosts saw, the interface with most packets counts, and interfaces
// are put in the order of the path.
func TestPaths(t *testing.T) {
	over, flows := fork(t)
	found := traces(multipath(over, flows))
	hosts := []netstate.HostReading{
		{Host: "server2", Arrivals: []netstate.Arrival{{Flow: "f1", Interface: "eth1", Packets: 9},
			{Flow: "f1", Interface: "eth0", Packets: 2}}},
		{Host: "spine2", Arrivals: []netstate.Arrival{{Flow: "f1", Interface: "down1", Packets: 8}}},
	}
	planned := make([]study.PlannedFlow, len(flows))
	for i, f := range flows {
		planned[i] = f.PlannedFlow
	}
	n := network{&treatmentNetwork{over: over}, planned, found}
	got := n.Paths(flows, []record.Flow{{ID: "f1", Source: "10.0.200.1:40000"}, {ID: "f2"}}, hosts)
	path := got.Flows[0]
	if want := []string{"spine2.down1", "server2.eth1"}; !slices.Equal(path.Observed, want) {
		t.Errorf("observed %v, want %v", path.Observed, want)
	}
	if len(path.Paths) != 2 || path.Taken == nil || path.Taken[0].Interface != "eth1" {
		t.Errorf("taken %v of %v", path.Taken, path.Paths)
	}
	paths, err := over.Paths("server1", netip.Addr{}, netip.MustParseAddr("10.0.200.2"))
	if err != nil {
		t.Fatal(err)
	}
	half := trial.Path{Flow: limits.Flow{Paths: paths}, Predicted: []string{"server1.eth0"}, Note: "spine1: unknown"}
	if path := taken(half); path != nil {
		t.Errorf("half a prediction became %v", path)
	}
	// Seen at the far end of a stretch that two paths have in common.
	end := func(port string) topology.End { return topology.End{Node: "x", Interface: port} }
	apart := [][]topology.End{{end("a"), end("b")}, {end("a"), end("c")}}
	seen := trial.Path{Flow: limits.Flow{Paths: apart}, Observed: []string{"x.a"}}
	if path := taken(seen); path != nil {
		t.Errorf("what two paths have in common became %v", path)
	}
	seen.Predicted = []string{"x.a", "x.c"}
	if path := taken(seen); path == nil || path[1].Interface != "c" {
		t.Errorf("predicted %v, taken %v", seen.Predicted, path)
	}
}

// TestEvenly: a flow takes the path with the fewest flows for the links' rates; a
// link of half the rate counts twice. It is not settled while some known path has
// fewer than those that were found for it, nor while one that the topology has was not
// seen, until it would have been.
func TestEvenly(t *testing.T) {
	over, _ := fork(t)
	by := func(port string) *trace {
		return &trace{sender: "server1", receiver: "server2", path: []topology.End{{Node: "server1", Interface: port}}}
	}
	e := evenly{over: over, load: map[topology.End]float64{}, paths: map[[2]string][][]topology.End{},
		asked: map[[2]string]int{}}
	e.learn([]*trace{by("eth0"), by("eth1"), by("eth0")})
	if found := e.paths[[2]string{"server1", "server2"}]; len(found) != 2 {
		t.Errorf("paths %v, want two", found)
	}
	try := func(wantBest int, wantSettled bool, among ...*trace) {
		t.Helper()
		if best, settled := e.choose(among, 2); best != wantBest || settled != wantSettled {
			t.Errorf("with %v: chose %d, settled %t, want %d, %t", e.load, best, settled, wantBest, wantSettled)
		}
	}
	try(0, true, by("eth1"), by("eth0"))
	e.take(by("eth1").path)
	try(1, true, by("eth1"), by("eth0"))
	try(0, false, by("eth1"), by("eth1"))
	over.Links[0].Rate /= 2 // eth0's
	try(0, true, by("eth1"), by("eth0"))
	e.take(by("eth1").path)
	try(1, true, by("eth1"), by("eth0"))

	e = evenly{over: over, load: map[topology.End]float64{}, paths: map[[2]string][][]topology.End{},
		asked: map[[2]string]int{}}
	for e.asked[[2]string{"server1", "server2"}] < rounds*candidates*2 {
		e.learn([]*trace{by("eth0"), by("eth0")})
		settled := e.asked[[2]string{"server1", "server2"}] == rounds*candidates*2
		try(0, settled, by("eth0"), by("eth0"))
	}
}
