package tomography

import (
	"slices"

	"linerate/internal/model/lists"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/suspects"
)

// cuts are the ratios to the median of their kind below which pairs are taken for slow: that with the most
// evidence is decisive. Where flows share links by chance, half of what is usual is nothing special.
var cuts = []float64{0.8, 0.6, 0.45, 0.3, 0.2, 0.1}

// Mesh returns the links between switches or routers that explain slow pairs of a mesh, besides its suspects:
// what hosts that are suspects send or receive is left out. It returns an error if the topology does not
// have a host of the mesh, or no path between two of them.
func Mesh(t *topology.Topology, in suspects.Input, c record.MeshConclusion) (made []record.MeshSuspect, err error) {
	pairs, values := judged(in, c)
	var list []Suspect
	g, most := newGraph(t), 0.0
	for _, cut := range cuts {
		for i := range pairs {
			pairs[i].Slow = pairs[i].Ratio < cut
		}
		found, err := links(g, pairs, len(cuts))
		if err != nil {
			return nil, err
		}
		if sum := lists.Sum(found, func(s Suspect) float64 { return s.Evidence }); sum > most {
			list, most = found, sum
		}
	}
	for _, s := range list {
		if s.Host != "" { // the mesh has its hosts as suspects
			continue
		}
		one := record.MeshSuspect{Kind: record.MeshLink, Link: s.Links[0].String(), Certainty: s.Certainty,
			Ratio: s.Ratio, Low: s.Ratio, High: s.Ratio, Value: s.Ratio * values, P: 1 - s.Certainty, Pairs: s.Pairs}
		if in.Latency && s.Ratio > 0 {
			one.Ratio, one.Low, one.High, one.Value = 1/s.Ratio, 1/s.Ratio, 1/s.Ratio, values/s.Ratio
		}
		if len(s.Links) > 1 {
			one.Links = lists.Map(s.Links, topology.End.String)
		}
		if s.Count > 1 {
			one.LinkCount = s.Count
		}
		made = append(made, one)
	}
	return made, nil
}

// judged returns the pairs of a mesh, and what is usual between racks in the unit of the metric.
func judged(in suspects.Input, c record.MeshConclusion) (pairs []Pair, usual float64) {
	type kind struct {
		across bool
		limit  float64
	}
	sends, receives := map[string]bool{}, map[string]bool{}
	for _, s := range c.Suspects {
		sends[s.Host] = sends[s.Host] || s.Kind == record.MeshSends || s.Kind == record.MeshHost
		receives[s.Host] = receives[s.Host] || s.Kind == record.MeshReceives || s.Kind == record.MeshHost
	}
	of := func(o suspects.Observation) kind {
		a, b := in.Hosts[o.From].Rack, in.Hosts[o.To].Rack
		return kind{a != b, o.Limit}
	}
	known := func(o suspects.Observation) bool {
		return !o.Failed && o.Value > 0 && !sends[in.Hosts[o.From].Name] && !receives[in.Hosts[o.To].Name]
	}
	all := map[kind][]float64{}
	for _, o := range in.Observations {
		if known(o) {
			all[of(o)] = append(all[of(o)], o.Value)
		}
	}
	median := map[kind]float64{}
	most := 0
	for k, values := range all {
		slices.Sort(values)
		median[k] = values[len(values)/2]
		if k.across && len(values) > most {
			most, usual = len(values), median[k]
		}
	}
	for _, o := range in.Observations {
		if !known(o) {
			continue
		}
		p := Pair{From: in.Hosts[o.From].Name, To: in.Hosts[o.To].Name, Streams: in.Flows,
			Round: o.Round}
		if p.Ratio = o.Value / median[of(o)]; in.Latency {
			p.Ratio = 1 / p.Ratio
		}
		pairs = append(pairs, p)
	}
	return pairs, usual
}
