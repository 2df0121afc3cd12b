package sciencetest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"linerate/internal/model/record"
)

// Aliases returns a run about the surplus that programs report which count at the sender. Its
// factors connections and aliases are varied one at a time and together. Each connection adds a
// surplus of perConnection bit/s, and aliases add nothing. predicted is the share of the surplus
// that the trials predict.
func Aliases(seed uint64, blocks int, perConnection, predicted float64) *record.Run {
	random := rand.New(rand.NewPCG(seed, 0))
	levels := []record.Level{{Name: "1"}, {Name: "32"}, {Name: "254"}}
	run := &record.Run{
		Schema: record.RunSchema, ID: "aliases", Study: "aliases", Seed: seed, Started: started, Status: "complete",
		Unit:      "bit/s",
		Responses: []string{"goodput", "surplus"}, Design: record.Design{Replicates: blocks, Partial: true},
		Factors: []record.Factor{
			{Name: "connections", Role: "compare", Baseline: "1", Levels: levels},
			{Name: "aliases", Role: "compare", Baseline: "1", Levels: levels},
			{Name: "queue", Role: "compare", Baseline: "short", Levels: []record.Level{{Name: "short"},
				{Name: "long"}}},
		},
		Published: []record.Published{{
			Name: "a-table", Origin: "a blog", Factor: "aliases", Seconds: 60, LinkBps: 1e9,
			Series: []record.PublishedSeries{
				{Name: "tcp", Points: []record.PublishedPoint{{Level: "1", Bps: 920e6}, {Level: "128", Bps: 970e6},
					{Level: "254", Bps: 991e6}}}},
		}},
	}
	for block := range blocks {
		for _, c := range [][3]string{
			{"1", "1", "short"}, {"254", "1", "short"}, {"1", "254", "short"}, {"32", "32", "short"},
			{"254", "254", "short"}, {"254", "254", "long"},
		} {
			n := map[string]float64{"1": 1, "32": 32, "254": 254}[c[0]]
			goodput := Limit * (1 - 0.001*random.Float64())
			surplus := n * perConnection * (1 + 0.01*random.Float64())
			s := &record.ToolReported{
				SumBps: goodput + surplus, GoodputBps: goodput, SurplusBps: surplus, PredictedBps: predicted * surplus,
				Tool:      "iperf",
				CountedBy: record.CountedBySender, Processes: int(n),
				Method: fmt.Sprintf("the sum of what %.0f iperf clients print", n),
			}
			run.Trials = append(run.Trials, record.Trial{
				Treatment: fmt.Sprintf("connections %s, aliases %s, %s", c[0], c[1], c[2]),
				Levels:    map[string]string{"connections": c[0], "aliases": c[1], "queue": c[2]},
				Block:     block + 1, Order: len(run.Trials) + 1,
				Started: started.Add(time.Duration(len(run.Trials)) * 12 * time.Second), WindowS: windowS,
				GoodputBps: goodput, LimitBps: Limit, LimitWhy: "1 link", SenderReportedBps: goodput + 1.2*surplus,
				ToolReported: s,
				Tools:        []record.ToolRun{{ID: "p1w", Tool: "iperf", Client: "client", Server: "server"}},
			})
		}
	}
	return run
}

// Lottery adds 7 % of goodput to the surplus and to its prediction in every second trial with 254
// connections and 254 aliases, as if one client had the link to itself at the end.
func Lottery(run *record.Run) *record.Run {
	for i := range run.Trials {
		t := &run.Trials[i]
		if t.Levels["aliases"] == "254" && t.Levels["connections"] == "254" && t.Block%2 == 0 {
			s := *t.ToolReported
			s.SurplusBps, s.SumBps, s.PredictedBps = s.SurplusBps+0.07*s.GoodputBps, s.SumBps+0.07*s.GoodputBps,
				s.PredictedBps+0.07*s.GoodputBps
			t.ToolReported = &s
		}
	}
	return run
}
