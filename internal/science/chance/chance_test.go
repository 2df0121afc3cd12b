package chance

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/model/study"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
	"linerate/internal/science/limits"
	"linerate/internal/science/sciencetest"
)

const linkBps = 992e6 // of sciencetest.Hashed

// placed is what chance can make of a trial of sciencetest.Hashed, in links.
func placed(trial record.Trial, spines int, policy string) (least, most float64, c *record.Chance) {
	run := &record.Run{Topology: sciencetest.Fabric(spines, policy), Trials: []record.Trial{trial}}
	Fill(run)
	if c = run.Trials[0].Chance; c == nil {
		return 0, 0, nil
	}
	return c.LeastBps / linkBps, c.MostBps / linkBps, c
}

// spread has so many flows on so many links in turn.
func spread(flows, links int) (on []int) {
	for i := range flows {
		on = append(on, i%links)
	}
	return on
}

// TestEqualCostPaths: flows that are hashed by ports carry from what the fewest links do that
// they use with any chance to speak of, to what all do.
func TestEqualCostPaths(t *testing.T) {
	for _, c := range []struct {
		name          string
		links         int
		policy, ports string
		on            []int
		least, most   float64 // in links; 0: nothing is left to chance
	}{
		{"one flow", 2, "1", "drawn", []int{1}, 0, 0},
		{"two flows, two links", 2, "1", "drawn", []int{0, 1}, 1, 2},
		{"on one of them", 2, "1", "drawn", []int{0, 0}, 0.995, 2},
		{"ports by connect(2)", 2, "1", "", []int{0, 1}, 1, 2},
		{"two flows, four links", 4, "1", "drawn", []int{0, 1}, 1, 2},
		{"eight flows, four links: on one with 4^-7", 4, "1", "drawn", spread(8, 4), 2, 4},
		{"sixteen, four links: on two with 6·2^-16", 4, "1", "drawn", spread(16, 4), 3, 4},
		{"eleven, two links: on one with 2^-10", 2, "1", "drawn", spread(11, 2), 0, 0},
		{"ten, two links: on one with 2^-9", 2, "1", "drawn", spread(10, 2), 1, 2},
		{"32, four links: on three with 4e-4", 4, "1", "drawn", spread(32, 4), 0, 0},
		{"by addresses", 2, "0", "drawn", []int{0, 0}, 0, 0},
		{"by addresses, the kernel's default", 2, "", "drawn", []int{0, 0}, 0, 0},
		{"ports chosen to spread", 2, "1", "even", []int{0, 1}, 0, 0},
		{"fields without ports", 2, "3", "drawn", []int{0, 0}, 0, 0},
	} {
		least, most, chance := placed(sciencetest.Hashed("x", c.links, c.ports, c.on...), c.links, c.policy)
		if math.Abs(least-c.least) > 1e-6 || math.Abs(most-c.most) > 1e-6 {
			t.Errorf("%s: %g to %g links, want %g to %g", c.name, least, most, c.least, c.most)
		}
		if chance != nil && !strings.HasSuffix(chance.By, " equal-cost paths") {
			t.Errorf("%s: by %q", c.name, chance.By)
		}
	}
}

// TestDemands: flows with a rate of their own carry as much on one link as these ask for, and
// next hops' weights count.
func TestDemands(t *testing.T) {
	capped := func(flows int, bps float64) record.Trial {
		on := make([]int, flows)
		for i := range on {
			on[i] = i % 2
		}
		trial := sciencetest.Hashed("x", 2, "drawn", on...)
		for i := range trial.Flows {
			trial.Flows[i].WriteCapBps = bps
		}
		trial.GoodputBps = min(2*linkBps, float64(flows)*bps)
		trial.LimitBps = trial.GoodputBps
		return trial
	}
	if _, _, c := placed(capped(4, 100e6), 2, "1"); c != nil {
		t.Errorf("four flows of 100 Mbit/s fit on one link: %+v", c)
	}
	least, most, c := placed(capped(4, 400e6), 2, "1")
	if c == nil || math.Abs(least-1) > 0.002 || math.Abs(most*linkBps-1600e6) > 1e6 {
		t.Errorf("four flows of 400 Mbit/s: %g to %g", least, most)
	}
	// 20 flows: all on one link with 2^-19; 17 or more with 2·(C(20,17)+…)/2^20 = 0.0026,
	// 18 or more with 4e-4. Three of 100 Mbit/s are on the other one.
	least, _, c = placed(capped(20, 100e6), 2, "1")
	if c == nil || math.Abs(least*linkBps-linkBps-300e6) > 3e6 {
		t.Errorf("twenty flows of 100 Mbit/s: least %g Mbit/s", least*linkBps/1e6)
	}

	weighted := sciencetest.Fabric(2, "1")
	weighted.Hosts[0].Routes[0].Nexthops[1].Weight = 200
	on := make([]int, 20)
	on[0] = 1
	trial := sciencetest.Hashed("x", 2, "drawn", on...)
	if c := of(&trial, &weighted, map[string]bounds{}); c == nil || c.LeastBps > 1.01*linkBps {
		t.Errorf("20 flows of which one in 201 goes by the first link: %+v", c)
	}
}

// TestOpposite: flows in two directions share no link, so that each direction keeps one.
func TestOpposite(t *testing.T) {
	trial, back := sciencetest.Hashed("x", 2, "drawn", 0, 1), sciencetest.Hashed("x", 2, "drawn", 0, 1)
	for _, f := range back.Flows {
		f.From, f.To, f.Source, f.Destination = f.To, f.From, "10.0.200.2:5201", f.Source
		f.Path = []string{f.Path[3], f.Path[2], f.Path[1], f.Path[0]}
		f.Predicted, f.Observed = f.Path, nil
		trial.Flows = append(trial.Flows, f)
	}
	trial.LimitBps, trial.GoodputBps = 4*linkBps, 4*0.995*linkBps
	least, most, _ := placed(trial, 2, "1")
	if math.Abs(least-2) > 1e-6 || math.Abs(most-4) > 1e-6 {
		t.Errorf("%g to %g links, want 2 to 4", least, most)
	}
	// 30 flows each way use both links, all but surely; three more of another host's hash
	// by addresses change nothing.
	many := trial
	many.Flows = nil
	for range 15 {
		many.Flows = append(many.Flows, trial.Flows...)
	}
	if c := of(&many, ptr(sciencetest.Fabric(2, "1")), map[string]bounds{}); c != nil {
		t.Errorf("30 flows each way: %+v", c)
	}
}

func ptr[T any](v T) *T { return &v }

// TestBeyondTheory: flows that did not connect may all be lost by their path, events leave
// what theory does not say, and what is held back by something else has no such bounds.
func TestBeyondTheory(t *testing.T) {
	dead := sciencetest.Hashed("x", 2, "drawn", 0, 1, 1)
	dead.Flows[1].Error, dead.Flows[1].Connected = "connection timed out", false
	if least, most, _ := placed(dead, 2, "1"); least != 0 || math.Abs(most-2) > 1e-6 {
		t.Errorf("a flow did not connect: %g to %g links", least, most)
	}
	withdrawn := sciencetest.Hashed("x", 2, "drawn", 0, 1, 1)
	withdrawn.WindowS, withdrawn.Events = 4, []record.Event{{BeganS: 1}}
	if least, most, _ := placed(withdrawn, 2, "1"); math.Abs(least-0.25) > 1e-6 || math.Abs(most-2) > 1e-6 {
		t.Errorf("an event after a quarter: %g to %g links", least, most)
	}
	many := sciencetest.Hashed("x", 2, "drawn", 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1)
	many.WindowS, many.Events = 4, []record.Event{{BeganS: 1}}
	if _, _, c := placed(many, 2, "1"); c != nil {
		t.Errorf("flows that use both links whatever happens then: %+v", c)
	}
	slow := sciencetest.Hashed("x", 2, "drawn", 0, 1, 1)
	slow.GoodputBps = 0.5 * linkBps
	if _, _, c := placed(slow, 2, "1"); c != nil {
		t.Errorf("half a link's goodput, whatever the paths: %+v", c)
	}
	run := &record.Run{Topology: sciencetest.Fabric(2, "1"),
		Trials: []record.Trial{slow, sciencetest.Hashed("x", 2, "drawn", 0, 1, 1)}}
	Fill(run)
	if c := run.Trials[0].Chance; c == nil || c.LeastBps != slow.GoodputBps {
		t.Errorf("only one of two trials is held back: %+v", c)
	}
	above := sciencetest.Hashed("x", 4, "drawn", spread(32, 4)...)
	above.GoodputBps = 1.05 * above.LimitBps
	if _, _, c := placed(above, 4, "1"); c != nil {
		t.Errorf("flows that use all links, in a window that counted what came before it: %+v", c)
	}
	unknown := sciencetest.Hashed("x", 2, "drawn", 0, 1, 1)
	unknown.LimitBps = 0
	if _, _, c := placed(unknown, 2, "1"); c != nil {
		t.Errorf("no limit: %+v", c)
	}
}

// TestInterfacesByARP: the study's treatments, each in both directions: ARP decides only
// where what is sent to the server comes in, and only where some of its peers may learn
// another interface's MAC address.
func TestInterfacesByARP(t *testing.T) {
	run := sciencetest.Run(7, 3)
	Fill(run)
	port := sciencetest.Limit / 4
	for _, trial := range run.Trials {
		want := map[string]string{
			"writes, " + sciencetest.Fixes[0]: "8 flows over 4 interfaces of server by ARP",
			"writes, " + sciencetest.Fixes[1]: "6 flows over 4 interfaces of server by ARP",
		}[trial.Treatment]
		switch c := trial.Chance; {
		case want == "" && c != nil:
			t.Errorf("%s: %+v", trial.Treatment, c)
		case want == "":
		case c == nil || c.By != want || c.LeastBps > trial.GoodputBps || c.LeastBps < 0.99*port ||
			math.Abs(c.MostBps-4*port) > 1:
			t.Errorf("%s: %+v, want %s", trial.Treatment, c, want)
		}
	}
}

// TestSpan: a treatment's bounds have all that was measured, also in a trial that has none
// of its own.
func TestSpan(t *testing.T) {
	trials := []record.Trial{
		{GoodputBps: 5, Chance: &record.Chance{LeastBps: 4, MostBps: 8, By: "x"}},
		{GoodputBps: 3, Chance: &record.Chance{LeastBps: 3, MostBps: 7}},
		{GoodputBps: 1},
	}
	if c := Span(trials); c == nil || *c != (record.Chance{LeastBps: 1, MostBps: 8, By: "x"}) {
		t.Errorf("%+v", c)
	}
	if c := Span(trials[2:]); c != nil {
		t.Errorf("%+v", c)
	}
	if trials[0].Chance.LeastBps != 4 {
		t.Error("a trial's own bounds changed")
	}
}

// TestUnion: a link that paths share is there once, one that a path crosses twice is there twice.
func TestUnion(t *testing.T) {
	end := func(node string) topology.End { return topology.End{Node: node} }
	shared, twice := []topology.End{end("a"), end("b")}, []topology.End{end("c"), end("d"), end("e"), end("f"),
		end("c"), end("d")}
	got := union([]path{{ends: slices.Concat(shared, twice)}, {ends: slices.Concat(shared, twice[:4])}})
	if want := slices.Concat(shared, twice); !slices.Equal(got.ends, want) {
		t.Errorf("%v, want %v", got.ends, want)
	}
	// The shaper of a bond is before each of its members, those of two VLANs are before one link.
	wrap := func(from string, shapers ...string) topology.Wrap {
		w := topology.Wrap{From: end(from)}
		for _, s := range shapers {
			w.Shapers = append(w.Shapers, topology.Shaper{At: end(s)})
		}
		return w
	}
	for name, c := range map[string]struct{ paths, want []path }{
		"bond": {[]path{{twice[:2], []topology.Wrap{wrap("c", "bond")}},
			{twice[2:4], []topology.Wrap{wrap("e", "bond")}}},
			[]path{{twice[:4], []topology.Wrap{wrap("c", "bond"), wrap("e")}}}},
		"VLANs": {[]path{{shared, []topology.Wrap{wrap("a", "5")}}, {shared, []topology.Wrap{wrap("a", "6")}}},
			[]path{{shared, []topology.Wrap{wrap("a", "5", "6")}}}},
	} {
		if got := union(c.paths); fmt.Sprint(got) != fmt.Sprint(c.want[0]) {
			t.Errorf("%s: %v, want %v", name, got, c.want[0])
		}
	}
}

// TestShaperOfDevice: where the shaper of a bond holds all flows, the member that each takes
// leaves nothing to chance; where it does not, what the members carry does.
func TestShaperOfDevice(t *testing.T) {
	s, problems := study.Parse("bond.yaml", []byte(`study: bond
question: x
topology:
  hosts:
    a: {interfaces: {eth0: {}, eth1: {}, bond0: {bond: {members: [eth0, eth1], mode: balance-xor, xmit_hash_policy: layer3+4}, addresses: [10.0.0.1/24]}}}
    b: {interfaces: {eth0: {}, eth1: {}, bond0: {bond: {members: [eth0, eth1], mode: balance-xor}, addresses: [10.0.0.2/24]}}}
  links: [{from: a.eth0, to: b.eth0, rate: 1gbit}, {from: a.eth1, to: b.eth1, rate: 1gbit}]
workload: {flows: [{from: a, to: b, streams: 2}]}
`))
	if problems != nil {
		t.Fatal(problems)
	}
	for _, c := range []struct {
		rate        unit.BitRate
		least, most float64 // 0: nothing is left to chance
	}{{500e6, 0, 0}, {1500e6, 1e9, 1500e6}, {0, 1e9, 2e9}} {
		over := &s.Topology
		if c.rate > 0 {
			over = over.WithShaper(topology.End{Node: "a", Interface: "bond0"},
				topology.Shaper{Kind: "tbf", Rate: c.rate})
		}
		trial := record.Trial{Treatment: "x", WindowS: 1}
		var planned []limits.Flow
		for i := range 2 {
			f := record.Flow{From: "a", To: "b", Connected: true, Paths: 2, SourcePorts: "drawn",
				Source: fmt.Sprint("10.0.0.1:", 40000+i), Destination: "10.0.0.2:5201"}
			trial.Flows = append(trial.Flows, f)
			l, err := limits.NewFlow(over, "a", f.SourceAddr(), f.DestinationAddr(), flow.Spec{Protocol: flow.TCP})
			if err != nil {
				t.Fatal(err)
			}
			planned = append(planned, l)
		}
		trial.LimitBps = limits.Network{Topology: over}.Aggregate(planned).Bps
		got := of(&trial, over, map[string]bounds{})
		if (got == nil) != (c.most == 0) {
			t.Errorf("%v: %+v", c.rate, got)
		} else if got != nil && (math.Abs(got.LeastBps-c.least*1448/1538) > 5e6+c.least*0.03 ||
			math.Abs(got.MostBps-trial.LimitBps) > 1) {
			t.Errorf("%v: %+v, limit %g", c.rate, got, trial.LimitBps)
		}
	}
}

// TestNeverAboveTheTruth goes through all placements of some flows: what they carry is below
// the least with less than the negligible chance, and never above the most.
func TestNeverAboveTheTruth(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 1))
	for range 60 {
		spines := 2 + random.IntN(2)
		over := sciencetest.Fabric(spines, "1")
		for h := range 2 {
			for n := range over.Hosts[h].Routes[0].Nexthops {
				over.Hosts[h].Routes[0].Nexthops[n].Weight = 1 + random.IntN(3)
			}
		}
		for l := range over.Links {
			over.Links[l].Rate = unit.BitRate(1+random.IntN(3)) * 1e9
		}
		trial := sciencetest.Hashed("x", spines, "drawn", make([]int, 1+random.IntN(6))...)
		for i := range trial.Flows {
			f := &trial.Flows[i]
			if random.IntN(2) == 0 {
				f.WriteCapBps = float64(1+random.IntN(6)) * 5e8
			}
			if random.IntN(3) == 0 {
				f.From, f.To, f.Source, f.Destination = f.To, f.From, "10.0.200.2:5201", f.Source
				slices.Reverse(f.Path)
				f.Predicted = f.Path
			}
		}
		s := newScene(&trial, &over)
		var routes []route
		for i := range trial.Flows {
			r, _ := s.route(&trial.Flows[i])
			routes = append(routes, r)
		}
		b, below := boundsOf(&over, routes), 0.0
		at := make([]int, len(routes))
		for more := true; more; {
			chance := 1.0
			var flows []limits.Flow
			for i, r := range routes {
				chance *= r.shares[at[i]]
				flows = append(flows, r.over(r.paths[at[i]]))
			}
			carried := limits.Network{Topology: &over}.Aggregate(flows).Bps
			if carried < b.least*(1-1e-6) {
				below += chance
			}
			if carried > b.most*(1+1e-6) {
				t.Errorf("%g bit/s, above %g", carried, b.most)
			}
			more = false
			for i := range at {
				if at[i]++; at[i] < len(routes[i].paths) {
					more = true
					break
				}
				at[i] = 0
			}
		}
		if below > Negligible {
			t.Errorf("below %g bit/s with a chance of %g: %+v", b.least, below, routes)
		}
	}
}
