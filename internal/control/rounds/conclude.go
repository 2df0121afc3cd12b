package rounds

import (
	"context"

	"linerate/internal/model/record"
	"linerate/internal/science/stats"
)

// conclude fills in what the rounds say.
func (c *conductor) conclude() {
	m := c.run.Mesh
	m.Conclusion = nil
	wanted, measured := map[[2]string]bool{}, map[[2]string][]float64{}
	for _, round := range c.plan.Rounds {
		for _, p := range round {
			wanted[[2]string{c.hosts[p[0]].Name, c.hosts[p[1]].Name}] = true
		}
	}
	hosts := map[string]bool{}
	var values []float64
	for _, t := range c.run.Trials {
		for _, f := range t.Flows {
			if f.Doubt != "" {
				continue
			}
			pair := [2]string{f.From, f.To}
			measured[pair] = append(measured[pair], f.GoodputBps)
			values = append(values, f.GoodputBps)
			hosts[f.From], hosts[f.To] = true, true
		}
	}
	if len(measured) == 0 {
		return
	}
	m.Conclusion = &record.MeshConclusion{Pairs: len(measured), Wanted: len(wanted), Hosts: len(hosts),
		Typical: stats.Median(values)}
}

// again adds rounds in which suspects are tested again, and reports whether there are any.
func (c *conductor) again(context.Context) (more bool, _ error) { return false, nil }
