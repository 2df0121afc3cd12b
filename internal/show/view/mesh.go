package view

import (
	"cmp"
	"math"
	"slices"

	"linerate/internal/model/index"
	"linerate/internal/model/lists"
	"linerate/internal/model/mesh"
	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/science/stats"
	"linerate/internal/science/suspects"
	"linerate/internal/show/number"
	"linerate/internal/show/words"
)

// Mesh arranges a measurement between many hosts.
type Mesh struct {
	Run *record.Run
	// Conclusion is nil if none was drawn.
	Conclusion *record.MeshConclusion
	// Hosts are the hosts of the plan, those of a rack together, in the order of their names.
	Hosts []mesh.Host
	// Pairs has a row for each sender, with its pairs in the order of Hosts.
	Pairs [][]MeshPair
	// Typical is the median of all pairs, 0 without any. Latency: a smaller value is better.
	Typical float64
	Latency bool
	// Shown is the unit of values.
	Shown number.Scale
}

// MeshPair is what one host sends to another: the median of its rounds. The zero value has not been measured.
type MeshPair struct {
	Measured bool
	Value    float64 // bit/s or µs; 0: it failed in every round
}

// NewMesh arranges a run that is a mesh, or of a study whose flows name pairs of hosts.
func NewMesh(run *record.Run) *Mesh {
	planned, added := suspects.Of(run)
	var conclusion *record.MeshConclusion
	if run.Mesh != nil {
		conclusion = run.Mesh.Conclusion
	} else if planned = suspects.OfStudy(run); run.Conclusion != nil {
		conclusion = run.Conclusion.Pairs
	}
	m := &Mesh{Run: run, Conclusion: conclusion, Hosts: slices.Clone(planned.Hosts), Latency: planned.Latency}
	slices.SortStableFunc(m.Hosts, func(a, b mesh.Host) int {
		return cmp.Or(words.Natural(a.Rack, b.Rack), words.Natural(a.Name, b.Name))
	})
	at := index.First(m.Hosts, func(h mesh.Host) string { return h.Name })
	values := map[mesh.Pair][]float64{}
	for _, o := range slices.Concat(planned.Observations, added.Observations) {
		if o.Failed {
			o.Value = 0
		}
		p := mesh.Pair{at[planned.Hosts[o.From].Name], at[planned.Hosts[o.To].Name]}
		values[p] = append(values[p], o.Value)
	}
	m.Pairs = lists.Map(m.Hosts, func(mesh.Host) []MeshPair { return make([]MeshPair, len(m.Hosts)) })
	var all []float64
	for p, list := range values {
		v := stats.Median(list)
		m.Pairs[p[0]][p[1]] = MeshPair{true, v}
		if v > 0 {
			all = append(all, v)
		}
	}
	if len(all) > 0 {
		m.Typical = stats.Median(all)
	}
	if m.Shown = number.BitScale(m.Typical); m.Latency {
		m.Shown = number.Scale{Scale: metric.Scale{Unit: "µs", Per: 1}}
	}
	return m
}

// Quality returns how good a pair is in relation to the typical one: 1 is as good, 0.5 half as fast
// or twice as slow to answer. NaN: it was not measured. 0: it failed.
func (m *Mesh) Quality(p MeshPair) float64 {
	switch {
	case !p.Measured || m.Typical == 0:
		return math.NaN()
	case p.Value == 0:
		return 0
	case m.Latency:
		return m.Typical / p.Value
	}
	return p.Value / m.Typical
}

// Spell returns a value with its unit.
func (m *Mesh) Spell(p MeshPair) string {
	switch {
	case !p.Measured:
		return "not measured"
	case p.Value == 0:
		return "failed"
	case m.Latency:
		return number.Microseconds(p.Value)
	}
	return m.Shown.Spell(p.Value)
}

// Unit returns the unit of values in data: bps or us.
func (m *Mesh) Unit() string {
	if m.Latency {
		return "us"
	}
	return "bps"
}

// Sends returns the median of what a host, by its place in Hosts, sends to its peers. False: no pair
// was measured.
func (m *Mesh) Sends(host int) (float64, bool) {
	return median(m.Pairs[host])
}

// Receives returns the same of what it receives.
func (m *Mesh) Receives(host int) (float64, bool) {
	return median(lists.Map(m.Pairs, func(row []MeshPair) MeshPair { return row[host] }))
}

func median(pairs []MeshPair) (float64, bool) {
	measured := lists.Where(pairs, func(p MeshPair) bool { return p.Measured })
	if len(measured) == 0 {
		return 0, false
	}
	return stats.Median(lists.Map(measured, func(p MeshPair) float64 { return p.Value })), true
}

// Suspected reports whether a host is a suspect as a sender, and as a receiver.
func (m *Mesh) Suspected(host string) (sends, receives bool) {
	c := m.Conclusion
	if c == nil {
		return false, false
	}
	for _, s := range c.Suspects {
		sends = sends || s.Host == host && s.Kind != record.MeshReceives || s.From == host && s.Kind == record.MeshPair
		receives = receives || s.Host == host && s.Kind != record.MeshSends || s.To == host && s.Kind == record.MeshPair
	}
	return sends, receives
}

// MeshHost is a host of a mesh.
type MeshHost = mesh.Host
