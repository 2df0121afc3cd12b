package sciencetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"linerate/internal/model/record"
)

// Few is a run in the study's lab of only some levels of fix, in one direction,
// without the factor direction.
func Few(blocks int, fixes ...int) *record.Run { return Study.Few(blocks, fixes...) }

// Few is such a run in this lab.
func (l Lab) Few(blocks int, fixes ...int) *record.Run {
	run := l.run(1, 0)
	random := rand.New(rand.NewPCG(2, 2))
	f := run.Factors[1]
	f.Levels = nil
	for _, i := range fixes {
		f.Levels = append(f.Levels, run.Factors[1].Levels[i])
	}
	f.Baseline = f.Levels[0].Name
	run.Factors = []record.Factor{f}
	if len(fixes) == 1 {
		run.Factors = nil
	}
	for block := 1; block <= blocks; block++ {
		for _, i := range fixes {
			trial := l.Trial(Fixes[i], "writes", block, len(run.Trials)+1, random)
			trial.Treatment = Fixes[i]
			run.Trials = append(run.Trials, trial)
		}
	}
	return run
}

// OverTwoLinks is a run over two links of 100 Mbit/s: by label and number of flows,
// how many of the trials leave one idle.
func OverTwoLinks(idle map[string][]int, flows []int, trials int) *record.Run {
	run := &record.Run{Factors: []record.Factor{
		{Name: "hash", Baseline: "policy 0", Levels: []record.Level{{Name: "policy 0"}, {Name: "policy 1"}}},
		{Name: "flows", Role: "condition"},
	}}
	for _, label := range []string{"policy 0", "policy 1"} {
		for i, n := range flows {
			levels := map[string]string{"hash": label, "flows": fmt.Sprint(n)}
			run.Treatments = append(run.Treatments, record.Treatment{Name: fmt.Sprint(label, n), Levels: levels})
			for k := range trials {
				t := record.Trial{Treatment: fmt.Sprint(label, n), Levels: levels, Order: len(run.Trials) + 1, Block: k + 1, WindowS: 1, LimitBps: 2e8, PlacementLimitBps: 2e8}
				if n == 1 {
					t.LimitBps, t.PlacementLimitBps = 1e8, 1e8
				} else if k < idle[label][i] {
					t.PlacementLimitBps = 1e8
				}
				t.GoodputBps = t.PlacementLimitBps
				for range n {
					t.Flows = append(t.Flows, record.Flow{Connected: true, Alive: true, Paths: 2, LimitBps: 1e8, Predicted: []string{"a.b"}, Observed: []string{"a.b"}})
				}
				run.Trials = append(run.Trials, t)
			}
		}
	}
	return run
}

// Listed is a run of a list of settings, with the levels of its plan beside "as it is":
// "the list", "only KEY", "without KEY" or others; mbps gives what a level carries on a path.
func Listed(paths, levels []string, mbps func(path, level string) float64) *record.Run {
	path := record.Factor{Name: "path", Role: "condition"}
	for _, name := range paths {
		path.Levels = append(path.Levels, record.Level{Name: name})
	}
	f := record.Factor{Name: "settings", Role: "compare", Baseline: "as it is", Ablate: "the list", Levels: []record.Level{{Name: "as it is"}}}
	keys := map[string]bool{}
	for _, name := range levels {
		l := record.Level{Name: name}
		if word, key, part := strings.Cut(name, " net."); part {
			l.Part, l.Settings, keys[key] = "net."+key, 1, true
			if word == "without" {
				l.Against = "the list"
			}
		}
		f.Levels = append(f.Levels, l)
	}
	for i := range f.Levels {
		if f.Levels[i].Name == "the list" {
			f.Levels[i].Settings = len(keys)
		}
	}
	run := &record.Run{Schema: record.RunSchema, ID: "lists-3", Study: "lists", Seed: 3, Status: "complete", Margin: 0.03, Factors: []record.Factor{path, f}}
	for block := 1; block <= 4; block++ {
		for i, l := range f.Levels {
			noise := 1 + 0.001*math.Sin(float64(7*block+3*i))
			for _, path := range paths {
				run.Trials = append(run.Trials, record.Trial{
					Treatment: l.Name + ", " + path, Levels: map[string]string{"settings": l.Name, "path": path},
					Block: block, Order: len(run.Trials) + 1, GoodputBps: mbps(path, l.Name) * noise * 1e6, LimitBps: 956.4e6, WindowS: 3.5,
					Flows: []record.Flow{{Connected: true, Alive: true}},
				})
			}
		}
	}
	return run
}

// Lottery adds to the surplus of every other trial at all aliases what a client adds
// that has the link to itself at its end.
func Lottery(run *record.Run) *record.Run {
	for i := range run.Trials {
		t := &run.Trials[i]
		if t.Levels["aliases"] == "254" && t.Levels["connections"] == "254" && t.Block%2 == 0 {
			s := *t.ToolReported
			s.SurplusBps, s.SumBps, s.PredictedBps = s.SurplusBps+0.07*s.GoodputBps, s.SumBps+0.07*s.GoodputBps, s.PredictedBps+0.07*s.GoodputBps
			t.ToolReported = &s
		}
	}
	return run
}
