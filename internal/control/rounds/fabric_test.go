package rounds

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/mesh"
	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/model/study"
)

// TestLinks: a mesh whose fabric is known names the link between switches that slow pairs have in common.
func TestLinks(t *testing.T) {
	fabric, err := study.ParseTopology("f.yaml", []byte(`
topology:
  hosts:
    a{i=1..6}: {interfaces: {eth0: {addresses: ["10.0.0.{i}/24"]}}}
    b{i=1..6}: {interfaces: {eth0: {addresses: ["10.0.0.{10+i}/24"]}}}
  switches: {sw1: {}, sw2: {}}
  links:
    - {from: "a{1..6}", to: sw1, rate: 1gbit}
    - {from: "b{1..6}", to: sw2, rate: 1gbit}
    - {from: sw1, to: sw2, rate: 10gbit}
`))
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	plan := mesh.Plan{Schema: mesh.Schema, Pattern: mesh.Shifts}
	for _, side := range []string{"a", "b"} {
		for i := range 6 {
			name := fmt.Sprintf("%s%d", side, i+1)
			names = append(names, name)
			rack := map[string]string{"a": "sw1", "b": "sw2"}[side]
			plan.Hosts = append(plan.Hosts, mesh.Host{Name: name, Rack: rack})
		}
	}
	run := &record.Run{Mesh: &record.Mesh{Metric: metric.Goodput.Name, Fabric: fabric}}
	n := len(names)
	for k := 1; k < n; k++ {
		trial := record.Trial{Order: k}
		var round []mesh.Pair
		for i := range n {
			round = append(round, mesh.Pair{i, (i + k) % n})
			from, to, rate := names[i], names[(i+k)%n], 940e6
			if from[0] == 'a' && to[0] == 'b' {
				rate = 300e6
			}
			trial.Flows = append(trial.Flows, record.Flow{From: from, To: to, GoodputBps: rate - float64(i+k)*1e5,
				ReceivedBytes: 1, Connected: true})
		}
		plan.Rounds, run.Trials = append(plan.Rounds, round), append(run.Trials, trial)
	}
	run.Mesh.Plan = plan
	c := prepare(&run.Mesh.Plan, make([]Host, n), nil, Options{Say: func(text string) { t.Error(text) }})
	c.run = run
	c.conclude()
	if !slices.ContainsFunc(run.Mesh.Conclusion.Suspects, func(s record.MeshSuspect) bool {
		return s.Kind == record.MeshLink && strings.HasPrefix(s.Link, "sw1.") && len(s.Links) == 0
	}) {
		t.Errorf("suspects: %+v", run.Mesh.Conclusion.Suspects)
	}
}
