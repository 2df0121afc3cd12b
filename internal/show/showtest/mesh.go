package showtest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"linerate/internal/model/cause"
	"linerate/internal/model/mesh"
	"linerate/internal/model/record"
)

// Mesh returns a mesh of n hosts in racks of 20, each pair of which was measured in shifts. The last but five
// receives at half the rate of the others, and nobody reaches the last but one.
func Mesh(n int) *record.Run {
	random := rand.New(rand.NewPCG(1, uint64(n)))
	plan := mesh.Plan{Schema: mesh.Schema, Pattern: mesh.Shifts, Seed: 7, AtLeast: n - 1}
	for i := range n {
		plan.Hosts = append(plan.Hosts, mesh.Host{Name: fmt.Sprintf("h%d", i+1), Rack: fmt.Sprintf("r%d", i/20+1),
			RateBps: 10e9})
	}
	slow, dead := n-6, n-2
	run := &record.Run{Schema: record.RunSchema, ID: "mesh-7", Study: record.MeshStudy, Seed: 7, Status: "complete",
		Started: time.Date(2026, 3, 1, 2, 0, 0, 0, time.UTC), DurationS: float64(2 * n), Unit: "bit/s",
		Responses: []string{"goodput"}, Again: "linerate mesh --seed 7",
		Environment: record.Environment{Version: "v1", Mode: "real hosts"}}
	for shift := 1; shift < n; shift++ {
		t := record.Trial{Treatment: "round", Block: 1, Order: shift, WindowS: 1, Started: run.Started}
		var round []mesh.Pair
		for from := range n {
			to := (from + shift) % n
			round = append(round, mesh.Pair{from, to})
			f := record.Flow{ID: fmt.Sprintf("p%d-%d", from, to), From: plan.Hosts[from].Name, To: plan.Hosts[to].Name,
				GoodputBps: 9.41e9 * (1 - 0.01*random.Float64()), Connected: true, Alive: true, LimitBps: 9.41e9}
			switch {
			case to == dead:
				f.GoodputBps, f.Error, f.Connected, f.Alive = 0, "connection refused", false, false
			case to == slow:
				f.GoodputBps *= 0.5
			}
			f.ReceivedBytes = int64(f.GoodputBps / 8)
			t.Flows = append(t.Flows, f)
		}
		plan.Rounds, run.Trials = append(plan.Rounds, round), append(run.Trials, t)
	}
	finding := record.Finding{ID: cause.SpeedBelowBest.Code, Host: plan.Hosts[slow].Name,
		Confidence: record.Likely, About: record.Subject{Interface: "eth0"},
		Args: cause.Speed{Mbps: 5000, BestMbps: 10000}}
	run.Mesh = &record.Mesh{Plan: plan, Metric: "goodput", Again: [][]mesh.Pair{{{0, slow}}},
		Lost: []record.MeshLost{{Host: plan.Hosts[dead].Name, Round: 3, Reason: "ended", Error: "h: the agent ended"}},
		Conclusion: &record.MeshConclusion{Pairs: n * (n - 1), Wanted: n * (n - 1), Typical: 9.36e9,
			TypicalHosts: n - 2,
			Hosts:        n, Suspects: []record.MeshSuspect{
				{Kind: record.MeshReceives, Host: plan.Hosts[slow].Name, Value: 4.7e9, Ratio: 0.5, Low: 0.49,
					High: 0.51,
					P:    1e-9, Pairs: n - 1, Confirmed: true, Findings: []record.Finding{finding}},
				{Kind: record.MeshReceives, Host: plan.Hosts[dead].Name, Pairs: n - 1, P: 1e-9},
			}}}
	return run
}
