package suspects_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	plan "linerate/internal/model/mesh"
	"linerate/internal/model/record"
	"linerate/internal/science/suspects"
	"linerate/internal/science/suspects/meshtest"
)

// meshRun is a run with what a mesh measured, as it is stored.
func meshRun(m meshtest.Mesh, seed uint64, rounds [][]plan.Pair) *record.Run {
	random := rand.New(rand.NewPCG(seed, 9))
	in := m.Measure(random, m.Draw(random), rounds)
	run := &record.Run{Mesh: &record.Mesh{Plan: plan.Plan{Hosts: in.Hosts, Rounds: rounds}, Metric: "goodput"}}
	run.Trials = make([]record.Trial, len(rounds))
	for i := range run.Trials {
		run.Trials[i].Order = i + 1
	}
	for _, o := range in.Observations {
		t := &run.Trials[o.Round]
		t.Flows = append(t.Flows, record.Flow{From: in.Hosts[o.From].Name, To: in.Hosts[o.To].Name, GoodputBps: o.Value,
			LimitBps: o.Limit, Connected: !o.Failed})
	}
	planned, _ := suspects.Of(run)
	c := suspects.Conclude(planned)
	run.Mesh.Conclusion = &c
	return run
}

func TestCompare(t *testing.T) {
	healthy := meshtest.Mesh{Hosts: 24, PerRack: 6, Noise: 0.01, HostNoise: 0.01}
	always, now, dead := healthy, healthy, healthy
	old := slow(record.MeshSends, "h3", 0.5)
	always.Faults = []meshtest.MeshFault{old}
	now.Faults = []meshtest.MeshFault{old, slow(record.MeshReceives, "h7", 0.5)}
	dead.Faults = []meshtest.MeshFault{old, slow(record.MeshReceives, "h7", 0)}
	random := rand.New(rand.NewPCG(1, 1))
	for name, rounds := range map[string]func() [][]plan.Pair{
		"shifts": func() [][]plan.Pair { return healthy.Shifts(1) },
		"triage": func() [][]plan.Pair { return healthy.Triage(random, 5) }, // other pairs each time
	} {
		a, b := meshRun(always, 1, rounds()), meshRun(now, 2, rounds())
		c := suspects.Compare(a, b)
		if len(c.Worse) != 1 || c.Worse[0].Host != "h7" || c.Worse[0].Kind != record.MeshReceives ||
			math.Abs(c.Worse[0].Ratio-0.5) > 0.05 || len(c.Better) != 0 || c.Hosts != 24 {
			t.Errorf("%s: %+v", name, c)
		}
		c = suspects.Compare(b, a)
		if len(c.Better) != 1 || c.Better[0].Host != "h7" || math.Abs(c.Better[0].Ratio-2) > 0.2 || len(c.Worse) != 0 {
			t.Errorf("%s, the other way: %+v", name, c)
		}
	}
	a, b := meshRun(always, 3, healthy.Shifts(1)), meshRun(dead, 4, healthy.Shifts(1))
	if c := suspects.Compare(a, b); len(c.Worse) != 1 || c.Worse[0].Host != "h7" || c.Worse[0].Ratio != 0 {
		t.Errorf("fails: %+v", c)
	}
	if c := suspects.Compare(b, a); len(c.Better) != 1 || c.Better[0].Host != "h7" || c.Better[0].Ratio != 0 {
		t.Errorf("failed: %+v", c)
	}
}

// TestCompareAlike: two meshes without a change, and with hosts of their own.
func TestCompareAlike(t *testing.T) {
	m := meshtest.Mesh{Hosts: 16, Noise: 0.01, HostNoise: 0.01}
	more := m
	more.Hosts = 20
	wrong := 0
	for seed := range uint64(50) {
		c := suspects.Compare(meshRun(m, 2*seed, m.Shifts(1)), meshRun(more, 2*seed+1, more.Shifts(1)))
		if len(c.Worse)+len(c.Better) > 0 {
			wrong++
		}
		if c.Hosts != 16 || fmt.Sprint(c.OnlyTo) != "[h17 h18 h19 h20]" || c.Pairs != 240 || c.Low > 1.02 ||
			c.High < 0.98 {
			t.Fatalf("%+v", c)
		}
	}
	if wrong > 3 {
		t.Errorf("%d of 50 say that something changed", wrong)
	}
	latency := meshRun(m, 1, m.Shifts(1))
	latency.Mesh.Metric = "latency_p50"
	if c := suspects.Compare(meshRun(m, 1, m.Shifts(1)), latency); c.Untold != record.MeshMetricUntold {
		t.Errorf("%q", c.Untold)
	}
}
