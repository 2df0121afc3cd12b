package suspects

import (
	plan "linerate/internal/model/mesh"
	"linerate/internal/model/record"
)

// OfStudy returns what a run of a study observed whose flows name pairs of hosts (Design.Pairs), each trial as a
// round. Limits are not regarded: what differs from the other hosts is looked for, whether or not the topology says
// so. Other runs have no hosts.
func OfStudy(run *record.Run) (in Input) {
	if !run.Design.Pairs {
		return in
	}
	tested := map[string]bool{}
	for _, t := range run.Trials {
		for _, f := range t.Flows {
			tested[f.From], tested[f.To] = true, true
		}
	}
	places := map[string]int{}
	for _, h := range run.Topology.Hosts {
		if tested[h.Name] {
			places[h.Name] = len(in.Hosts)
			in.Hosts = append(in.Hosts, plan.Host{Name: h.Name})
		}
	}
	for k := range run.Trials {
		for _, o := range observe(&run.Trials[k], places, false) {
			o.Round, o.Limit = k, 0
			in.Observations = append(in.Observations, o)
		}
	}
	return in
}
