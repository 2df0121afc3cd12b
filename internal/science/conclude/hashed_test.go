package conclude

import (
	"fmt"
	"strings"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/science/sciencetest"
)

// overTwoLinks is a run over two links of 100 Mbit/s: by label and number of flows,
// how many of the trials leave one idle.
func overTwoLinks(idle map[string][]int, flows []int, trials int) *record.Run {
	run := &record.Run{Factors: []record.Factor{
		{Name: "hash", Baseline: "policy 0", Levels: []record.Level{{Name: "policy 0"}, {Name: "policy 1"}}},
		{Name: "flows", Role: "condition"},
	}}
	for _, label := range []string{"policy 0", "policy 1"} {
		for i, n := range flows {
			levels := map[string]string{"hash": label, "flows": fmt.Sprint(n)}
			run.Treatments = append(run.Treatments, record.Treatment{Name: fmt.Sprint(label, n), Levels: levels})
			for k := range trials {
				t := record.Trial{Levels: levels, LimitBps: 2e8, PlacementLimitBps: 2e8}
				if n == 1 {
					t.LimitBps, t.PlacementLimitBps = 1e8, 1e8
				} else if k < idle[label][i] {
					t.PlacementLimitBps = 1e8
				}
				t.GoodputBps = t.PlacementLimitBps
				for range n {
					t.Flows = append(t.Flows, record.Flow{Paths: 2, LimitBps: 1e8, Predicted: []string{"a.b"}, Observed: []string{"a.b"}})
				}
				run.Trials = append(run.Trials, t)
			}
		}
	}
	return run
}

func TestOverLinks(t *testing.T) {
	flows := []int{1, 2, 3, 8}
	for name, c := range map[string]struct {
		idle map[string][]int
		want string
	}{
		"one link, or both by chance": {map[string][]int{"policy 0": {0, 4, 4, 4}, "policy 1": {0, 2, 1, 0}},
			"With policy 0 all flows share one link, 100.0 Mbit/s, however many they are. " +
				"With policy 1 they fill both links, 200.0 Mbit/s, from 8 on; fewer left a link idle by chance in 3 of 8 trials. " +
				"All 112 flows whose link the kernels had named beforehand took it."},
		"never enough": {map[string][]int{"policy 0": {0, 4, 4, 4}, "policy 1": {0, 2, 1, 1}},
			"With policy 0 all flows share one link, 100.0 Mbit/s, however many they are. " +
				"With policy 1 8 flows carry 175.0 of 200.0 Mbit/s: a link was left idle by chance in 4 of 12 trials. " +
				"All 112 flows whose link the kernels had named beforehand took it."},
		"a link that eight flows never reach": {map[string][]int{"policy 0": {0, 4, 4, 4}, "policy 1": {0, 2, 1, 3}},
			"With policy 0 all flows share one link, 100.0 Mbit/s, however many they are. " +
				"With policy 1 8 flows carry 125.0 of 200.0 Mbit/s: a link was left idle, more often than by chance, in 6 of 12 trials. " +
				"All 112 flows whose link the kernels had named beforehand took it."},
	} {
		if got := strings.Join(overLinks(overTwoLinks(c.idle, flows, 4)), " "); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
	// What is not about equal ways is answered as everything else is.
	run := overTwoLinks(map[string][]int{"policy 0": {0}, "policy 1": {0}}, []int{4}, 2)
	run.Trials[0].Flows[0].Paths = 0
	if got := overLinks(run); got != nil {
		t.Errorf("a flow with one way: %q", got)
	}
}

// TestAlongCurve: a study of nothing but hashed flows is answered by what chance
// makes of them, and what is outside is named.
func TestAlongCurve(t *testing.T) {
	next := 0
	run := sciencetest.Curve([]int{2, 4}, []int{1, 2, 3, 8}, 4, func(links int) int { next++; return next % links })
	Conclude(run)
	want := "In 5 of 6 cases the mean lies inside the 95 % band of what chance lets flows carry (not: 4 links, 3 flows); in 6 of 6 cases a link was idle in as many trials as chance has it."
	if !strings.Contains(run.Answer, want) {
		t.Errorf("answer %q, want %q", run.Answer, want)
	}
	for _, want := range []string{"at least 1.99 of 2 (12 trials) and 3.98 of 4 (4) links' worth", "On two links, 2 and 3 flows were all on one in 0 and 0 of 4 trials (chance: 0–4 and 0–3).", "All 112 flows"} {
		if !strings.Contains(run.Answer, want) {
			t.Errorf("answer %q, want %q", run.Answer, want)
		}
	}
	if len(run.Hashing) != 8 || run.Hashing[0].ByChance || !run.Hashing[1].ByChance || run.Hashing[1].Replicates != 4 {
		t.Errorf("%+v", run.Hashing)
	}
}
