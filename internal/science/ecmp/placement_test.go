package ecmp

import (
	"math"
	"math/rand/v2"
	"testing"

	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/topology"
	"linerate/internal/science/sciencetest"
)

func runOf(over topology.Topology, trials ...record.Trial) *record.Run {
	run := &record.Run{Topology: over, Trials: trials, Margin: 0.02, Confidence: 0.95}
	seen := map[string]bool{}
	for _, t := range trials {
		if !seen[t.Treatment] {
			run.Treatments = append(run.Treatments, record.Treatment{Name: t.Treatment})
			seen[t.Treatment] = true
		}
	}
	return run
}

// TestGroups: what placed the flows decides what is expected of them.
func TestGroups(t *testing.T) {
	byPorts := sciencetest.Fabric(2, "1")
	byAddresses := sciencetest.Hashed("addresses", 2, "drawn", 1, 1, 1)
	defaults := sciencetest.Fabric(2, "")
	byAddresses.Topology = &defaults
	groups := Placements(runOf(byPorts,
		sciencetest.Hashed("three", 2, "drawn", 0, 0, 1), sciencetest.Hashed("three", 2, "drawn", 1, 1, 1),
		sciencetest.Hashed("three", 2, "drawn", 1, 0, 1), sciencetest.Hashed("three", 2, "drawn", 0, 1, 0),
		byAddresses,
		sciencetest.Hashed("even", 2, "even", 0, 1, 0)))
	if len(groups) != 3 {
		t.Fatalf("%+v", groups)
	}
	if groups[0].MeasuredHighLinks != 0 {
		t.Errorf("an interval that the treatment does not have: %+v", groups[0])
	}
	three, addresses, even := groups[0], groups[1], groups[2]
	if three.Treatment != "three" || three.Host != "server1" || three.Links != 2 || three.Flows != 3 ||
		three.Placements != 3 || !three.ByChance ||
		three.ExpectedLinks != 1.75 || three.Replicates != 4 || three.IdleTrials != 1 || three.IdleChance != 0.25 ||
		!three.Inside || math.Abs(three.MeasuredLinks-0.995*1.75) > 1e-9 {
		t.Errorf("%+v", three)
	}
	if addresses.Placements != 1 || addresses.ByChance || addresses.ExpectedLinks != 1 || !addresses.Inside ||
		addresses.IdleTrials != 1 {
		t.Errorf("%+v", addresses)
	}
	if !even.Chosen || even.ByChance || even.ExpectedLinks != 2 || even.ExpectedLowLinks != 2 || !even.Inside {
		t.Errorf("%+v", even)
	}
	// Two pairs of addresses have two hashes, and the same two in every trial.
	pairs := sciencetest.Hashed("pairs", 2, "drawn", 0, 1)
	pairs.Topology, pairs.Flows[1].Source = &defaults, "10.1.0.1:40001"
	if h := Placements(runOf(byPorts, pairs)); len(h) != 1 || h[0].Placements != 2 || h[0].ByChance {
		t.Errorf("%+v", h)
	}
	// Two trials of sixteen flows on one link are no chance.
	same := make([]int, 16)
	stuck := Placements(runOf(byPorts, sciencetest.Hashed("stuck", 2, "drawn", same...),
		sciencetest.Hashed("stuck", 2, "drawn", same...)))
	if len(stuck) != 1 || stuck[0].Inside || stuck[0].IdleTrials != 2 || stuck[0].IdleHighTrials != 0 {
		t.Errorf("%+v", stuck)
	}
	// The measured mean has the treatment's interval, as far as there are links.
	run := runOf(byPorts, sciencetest.Hashed("three", 2, "drawn", 0, 0, 1),
		sciencetest.Hashed("three", 2, "drawn", 1, 1, 1))
	run.Treatments[0].Goodput = record.Estimate{LowBps: 0.5 * 992e6, HighBps: 2.5 * 992e6, Confidence: 0.95}
	if h := Placements(run)[0]; math.Abs(h.MeasuredLowLinks-0.5) > 1e-9 || h.MeasuredHighLinks != 2 {
		t.Errorf("%+v", h)
	}
	if wide := Placements(runOf(sciencetest.Fabric(4, "1"), sciencetest.Hashed("wide", 4, "", 0, 1, 3, 2, 2))); len(
		wide) != 1 || wide[0].Links != 4 || wide[0].MeasuredLinks < 3.9 {
		t.Errorf("%+v", wide)
	}
}

// TestCurve: of an honest hash, at least nine of ten means lie inside their bands,
// and links stay idle as often as chance has it; of one that never reaches the last
// link, they don't. What was predicted is kept apart from what was observed.
func TestCurve(t *testing.T) {
	source := rand.New(rand.NewPCG(3, 4))
	links, flows := []int{2, 4, 8}, []int{1, 2, 3, 4, 8, 16, 32}
	judge := func(place func(int) int) (cases, inside, often int, groups []record.Hashing) {
		groups = Placements(sciencetest.Curve(links, flows, 20, place))
		if len(groups) != len(links)*len(flows) {
			t.Fatalf("%d groups", len(groups))
		}
		for _, g := range groups {
			if !g.EachPlaced() || g.ByChance != (g.Flows > 1) {
				t.Errorf("%+v", g)
			}
			if g.ByChance {
				if cases++; g.Inside {
					inside++
				}
				if g.IdleAsExpected {
					often++
				}
			}
		}
		return cases, inside, often, groups
	}
	cases, inside, often, groups := judge(func(n int) int { return source.IntN(n) })
	if cases != 18 || inside < 17 || often < 17 {
		t.Errorf("of %d cases %d are inside, %d idle as often as expected", cases, inside, often)
	}
	for _, g := range groups {
		if on := g.PerLink[0].Flows; g.Flows == 32 && (on < 32*20/g.Links/2 || on > 32*20*3/g.Links/2) {
			t.Errorf("%d flows on the first of %d links", on, g.Links)
		}
		if g.FullTrials > 0 && math.Abs(g.FullLeastLinks-0.995*float64(min(g.Links, g.Flows))) > 1e-9 ||
			math.Abs(g.LeastOfPredicted-0.995) > 1e-9 {
			t.Errorf("%+v", g)
		}
	}
	if _, inside, often, _ := judge(func(n int) int { return source.IntN(n - 1) }); inside > 12 || often > 12 {
		t.Errorf("a hash without the last link: %d inside, %d idle as often as expected", inside, often)
	}
	// Predicted to use both links, but one of them slow.
	slow := sciencetest.Hashed("slow", 2, "drawn", 0, 1, 1)
	slow.GoodputBps /= 2
	blind := sciencetest.Hashed("slow", 2, "drawn", 0, 0, 1)
	blind.Flows[2].Predicted = nil
	one := Placements(runOf(sciencetest.Fabric(2, "1"), slow, blind))
	if len(one) != 1 || one[0].FullTrials != 1 || math.Abs(one[0].FullLeastLinks-0.995) > 1e-9 {
		t.Errorf("%+v", one)
	}
	if link := one[0].PerLink[1]; link.Interface != "server1.eth1" || link.Flows != 3 {
		t.Errorf("%+v", link)
	}
}

// TestGroupsSilent: where the theory has nothing to say, nothing is said.
func TestGroupsSilent(t *testing.T) {
	spoil := func(change func(*record.Trial)) record.Trial {
		made := sciencetest.Hashed("three", 2, "drawn", 0, 0, 1)
		change(&made)
		return made
	}
	weighted := sciencetest.Fabric(2, "1")
	weighted.Hosts[0].Routes[0].Nexthops[1].Weight = 3
	// byGroup has its hops in nexthop objects, of which one may have another weight.
	byGroup := func(weight int) *topology.Topology {
		over := sciencetest.Fabric(2, "1")
		h := &over.Hosts[0]
		group := setting.NexthopObject{ID: 10}
		for i, hop := range h.Routes[0].Nexthops {
			h.Nexthops = append(h.Nexthops, setting.NexthopObject{ID: i + 1, Via: hop.Via, Interface: hop.Interface})
			group.Group = append(group.Group, setting.Member{ID: i + 1})
		}
		group.Group[1].Weight = weight
		h.Nexthops = append(h.Nexthops, group)
		h.Routes[0].Nexthops, h.Routes[0].Object = nil, group.ID
		return &over
	}
	if groups := Placements(runOf(*byGroup(1), sciencetest.Hashed("three", 2, "drawn", 0, 1, 1))); len(groups) != 1 {
		t.Errorf("a group of equal weights: %+v", groups)
	}
	for name, made := range map[string]record.Trial{
		"no flow": {Treatment: "three"},
		"a link that goes": spoil(func(t *record.Trial) {
			t.Events = []record.Event{{Host: "server1", What: "link eth0 state down", AtS: 1}}
		}),
		"one path":           spoil(func(t *record.Trial) { t.Flows[0].Paths = 0 }),
		"a flow that failed": spoil(func(t *record.Trial) { t.Flows[1].Error = "refused" }),
		"a flow with a cap":  spoil(func(t *record.Trial) { t.Flows[1].RateCapBps = 1e6 }),
		"transactions":       spoil(func(t *record.Trial) { t.Flows[2].Protocol = flow.RR }),
		"another sender": spoil(func(t *record.Trial) {
			t.Flows[1].From, t.Flows[1].To = "server2", "server1"
		}),
		"unequal links":           spoil(func(t *record.Trial) { t.Flows[1].LimitBps *= 10 }),
		"a narrower link for all": spoil(func(t *record.Trial) { t.LimitBps /= 2 }),
		"a path that is not known": spoil(func(t *record.Trial) {
			t.Flows[1].Observed, t.Flows[1].Predicted = nil, nil
		}),
		"a path elsewhere":           spoil(func(t *record.Trial) { t.Flows[1].Path = []string{"server1.eth9"} }),
		"an address that is none":    spoil(func(t *record.Trial) { t.Flows[2].Source = "" }),
		"weights":                    spoil(func(t *record.Trial) { t.Topology = &weighted }),
		"weights in a group":         spoil(func(t *record.Trial) { t.Topology = byGroup(3) }),
		"unknown limit of the links": spoil(func(t *record.Trial) { t.Flows[0].LimitBps = 0 }),
	} {
		if groups := Placements(runOf(sciencetest.Fabric(2, "1"), sciencetest.Hashed("three", 2, "drawn", 0, 1, 1),
			made)); len(groups) != 0 {
			t.Errorf("%s: %+v", name, groups)
		}
	}
	if groups := Placements(&record.Run{}); len(groups) != 0 {
		t.Errorf("%+v", groups)
	}
}
