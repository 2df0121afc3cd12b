package tomography

import (
	"linerate/internal/model/lists"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
)

// Mesh returns suspects as a mesh has them, without their values in the unit of the metric. Slow links of
// hosts are left out: the mesh has the hosts themselves as suspects.
func Mesh(list []Suspect) (made []record.MeshSuspect) {
	for _, s := range list {
		if s.Host != "" {
			continue
		}
		one := record.MeshSuspect{Kind: record.MeshLink, Link: s.Links[0].String(), Certainty: s.Certainty,
			Ratio: s.Ratio,
			Low:   s.Ratio, High: s.Ratio, P: 1 - s.Certainty, Pairs: s.Pairs}
		if len(s.Links) > 1 {
			one.Links = lists.Map(s.Links, topology.End.String)
		}
		if s.Count > 1 {
			one.LinkCount = s.Count
		}
		made = append(made, one)
	}
	return made
}
