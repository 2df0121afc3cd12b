package suspects

import (
	"slices"

	plan "linerate/internal/model/mesh"
	"linerate/internal/model/metric"
	"linerate/internal/model/record"
)

// Of returns what a run of a mesh observed, in the rounds that were planned and in those that were
// added: its trials in their order, of which the first are those of the plan. A run of another kind
// has no hosts.
func Of(run *record.Run) (planned, added Input) {
	if run.Mesh == nil {
		return planned, added
	}
	p := run.Mesh.Plan
	planned = Input{Hosts: p.Hosts, Latency: run.Mesh.Metric != "" && run.Mesh.Metric != metric.Goodput.Name}
	for _, round := range p.Rounds {
		planned.Wanted = append(planned.Wanted, round...)
	}
	added = planned
	added.Wanted = nil
	for _, round := range run.Mesh.Again {
		added.Wanted = append(added.Wanted, round...)
	}
	places := map[string]int{}
	for i, h := range p.Hosts {
		places[h.Name] = i
	}
	for i := range run.Trials {
		t := &run.Trials[i]
		into := &planned
		if t.Order > len(p.Rounds) {
			into = &added
		}
		into.Observations = append(into.Observations, observe(t, places, planned.Latency)...)
	}
	return planned, added
}

// observe returns what the pairs of a round had, but for those whose round cannot be judged
// (record.Flow.Doubt). A pair fails of which no flow connected, or carried anything.
func observe(t *record.Trial, places map[string]int, latency bool) (list []Observation) {
	flows := map[plan.Pair][]record.Flow{}
	var pairs []plan.Pair
	for _, f := range t.Flows {
		from, ok := places[f.From]
		to, also := places[f.To]
		if p := (plan.Pair{from, to}); ok && also && f.Doubt == "" {
			if flows[p] == nil {
				pairs = append(pairs, p)
			}
			flows[p] = append(flows[p], f)
		}
	}
	for _, p := range pairs {
		o := Observation{Round: t.Order - 1, From: p[0], To: p[1]}
		for _, f := range flows[p] {
			o.Limit = max(o.Limit, f.LimitBps)
			o.Value += f.GoodputBps
		}
		if latency {
			o.Value, o.Limit = 0, 0
			for _, f := range flows[p] { // of which a round has one
				if x := f.Transactions; x != nil && x.Latency != nil {
					o.Value = x.Latency.P50Us
				}
			}
		}
		o.Failed = !(o.Value > 0) || !slices.ContainsFunc(flows[p], func(f record.Flow) bool { return f.Connected })
		list = append(list, o)
	}
	return list
}
