package sciencetest

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"linerate/internal/model/record"
)

// Few is a run of only some levels of fix, in one direction, without the factor
// direction.
func Few(blocks int, fixes ...int) *record.Run {
	run := Run(1, 0)
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
			trial := Trial(Fixes[i], "writes", block, len(run.Trials)+1, random)
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

// Listed is a run of a list of two on one path, with the levels of its plan.
func Listed(path string, levels ...string) *record.Run {
	f := record.Factor{Name: "settings", Role: "compare", Baseline: "as it is", Ablate: "the list", Levels: []record.Level{{Name: "as it is"}}}
	for _, name := range levels {
		l := record.Level{Name: name, Settings: 1}
		switch word, part, _ := strings.Cut(name, " net."); {
		case name == "the list":
			l.Settings = 2
		case word == "without":
			l.Part, l.Against = "net."+part, "the list"
		case word == "only":
			l.Part = "net." + part
		}
		f.Levels = append(f.Levels, l)
	}
	run := &record.Run{
		Margin:  0.03,
		Factors: []record.Factor{{Name: "path", Role: "condition", Levels: []record.Level{{Name: path}}}, f},
	}
	for block := 1; block <= 3; block++ {
		for i, l := range f.Levels {
			mbps := 400 * (1 + 0.001*float64((block+i)%3))
			if l.Name == "the list" || l.Name == "only net.a" {
				mbps *= 2
			}
			run.Trials = append(run.Trials, record.Trial{
				Treatment: l.Name + ", " + path, Levels: map[string]string{"settings": l.Name, "path": path},
				Block: block, GoodputBps: mbps * 1e6, LimitBps: 956.4e6, WindowS: 3.5,
			})
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
