package conclude

import (
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/science/sciencetest"
)

// TestHashingLevels: a level leaves all flows on one link, or uses the links from so many
// flows on, or as chance has it; what is not about equal paths is concluded as all else is.
func TestHashingLevels(t *testing.T) {
	flows := []int{1, 2, 3, 8, 32}
	for name, c := range map[string]struct {
		idle   []int
		excess bool
		all    int // flows from which on
	}{
		"both by chance":                      {[]int{0, 2, 1, 0, 0}, false, 32},
		"two of four in every trial":          {[]int{0, 0, 0, 0, 0}, false, 32}, // and still chance
		"never enough":                        {[]int{0, 2, 1, 1, 1}, false, 0},
		"a link that eight flows never reach": {[]int{0, 2, 1, 3, 0}, true, 32},
	} {
		run := sciencetest.OverTwoLinks(map[string][]int{"policy 0": {0, 4, 4, 4, 4}, "policy 1": c.idle}, flows, 4)
		Conclude(run)
		h := run.Conclusion.Hashing
		if h == nil || len(h.Levels) != 2 || h.Known != 4*2*46 || h.Took != h.Known {
			t.Fatalf("%s: %+v", name, h)
		}
		one, two := h.Levels[0], h.Levels[1]
		if one.Label != "policy 0" || !one.OneLink() || len(one.AllFrom()) > 0 || one.GoodputBps != 1e8 ||
			one.LimitBps != 2e8 || two.OneLink() {
			t.Errorf("%s: %+v", name, one)
		}
		all := 0
		if from := two.AllFrom(); len(from) > 0 {
			all = from[0].Flows
		}
		if all != c.all {
			t.Errorf("%s: all links from %d flows on, want %d", name, all, c.all)
		}
		for i, p := range two.Placed {
			want := record.PlacedFlows{Flows: flows[i+1], Trials: 4, OneLink: c.idle[i+1], Idle: c.idle[i+1],
				ByChance: flows[i+1] < 32, Excess: c.excess && flows[i+1] == 8, Filled: flows[i+1] == 32 &&
					c.idle[i+1] == 0}
			if p.ByChance { // its interval is that of two outcomes
				p.Filled = false
			}
			if p != want {
				t.Errorf("%s: %+v, want %+v", name, p, want)
			}
		}
	}
	run := sciencetest.OverTwoLinks(map[string][]int{"policy 0": {0}, "policy 1": {0}}, []int{4}, 2)
	run.Trials[0].Flows[0].Paths = 0
	Conclude(run)
	if h := run.Conclusion.Hashing; h != nil {
		t.Errorf("a flow with one path: %+v", h)
	}
}

// TestAlongCurve: a study of nothing but hashed flows is answered by what chance
// makes of them, and what is outside is named.
func TestAlongCurve(t *testing.T) {
	next := 0
	run := sciencetest.Curve([]int{2, 4}, []int{1, 2, 3, 8}, 4, func(links int) int { next++; return next % links })
	Conclude(run)
	h := run.Conclusion.Hashing
	if h == nil || h.Cases != 6 || h.Inside != 5 || len(h.Outside) != 1 || h.Outside[0] != "4 links, 3 flows" ||
		h.IdleAsExpected != 6 || h.Known != 112 || h.Took != 112 || h.Levels != nil {
		t.Errorf("%+v", h)
	}
	if len(h.Full) != 2 || h.Full[0].Links != 2 || h.Full[0].Trials != 12 || h.Full[0].Least < 1.98 ||
		h.Full[1].Links != 4 || h.Full[1].Trials != 4 || h.Full[1].Least < 3.97 {
		t.Errorf("%+v", h.Full)
	}
	if len(run.Hashing) != 8 || run.Hashing[0].ByChance || !run.Hashing[1].ByChance || run.Hashing[1].Replicates != 4 {
		t.Errorf("%+v", run.Hashing)
	}
}
