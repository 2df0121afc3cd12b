package conclude

import (
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/science/sciencetest"
)

// TestHashingLevels: a level leaves all flows on one link, or fills the links from so
// many flows on, or never; what is not about equal paths is concluded as all else is.
func TestHashingLevels(t *testing.T) {
	flows := []int{1, 2, 3, 8}
	for name, c := range map[string]struct {
		idle []int
		want record.HashingLevel
	}{
		"both by chance":                      {[]int{0, 2, 1, 0}, record.HashingLevel{GoodputBps: 2e8, FullFrom: 8, Idle: 3, IdleOf: 8}},
		"never enough":                        {[]int{0, 2, 1, 1}, record.HashingLevel{GoodputBps: 1.75e8, Idle: 4, IdleOf: 12}},
		"a link that eight flows never reach": {[]int{0, 2, 1, 3}, record.HashingLevel{GoodputBps: 1.25e8, Idle: 6, IdleOf: 12, Excess: true}},
	} {
		run := sciencetest.OverTwoLinks(map[string][]int{"policy 0": {0, 4, 4, 4}, "policy 1": c.idle}, flows, 4)
		Conclude(run)
		h := run.Conclusion.Hashing
		c.want.Label, c.want.Links, c.want.Flows, c.want.LimitBps, c.want.Several = "policy 1", 2, 8, 2e8, true
		one := record.HashingLevel{Label: "policy 0", Links: 2, Flows: 8, GoodputBps: 1e8, LimitBps: 2e8, OneLink: true, Several: true}
		if h == nil || len(h.Levels) != 2 || h.Levels[0] != one || h.Levels[1] != c.want || h.Known != 112 || h.Took != 112 {
			t.Errorf("%s: %+v", name, h)
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
	if h == nil || h.Cases != 6 || h.Inside != 5 || len(h.Outside) != 1 || h.Outside[0] != "4 links, 3 flows" || h.IdleAsExpected != 6 || h.Known != 112 || h.Took != 112 || h.Levels != nil {
		t.Errorf("%+v", h)
	}
	if len(h.Full) != 2 || h.Full[0].Links != 2 || h.Full[0].Trials != 12 || h.Full[0].Least < 1.98 || h.Full[1].Links != 4 || h.Full[1].Trials != 4 || h.Full[1].Least < 3.97 {
		t.Errorf("%+v", h.Full)
	}
	if len(run.Hashing) != 8 || run.Hashing[0].ByChance || !run.Hashing[1].ByChance || run.Hashing[1].Replicates != 4 {
		t.Errorf("%+v", run.Hashing)
	}
}
