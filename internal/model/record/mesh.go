package record

import "linerate/internal/model/mesh"

// MeshStudy is the Study of a run that measures between many hosts. Each of its trials is a round of
// the plan, and has a flow for each pair of the round.
const MeshStudy = "mesh"

// Mesh is what is particular to a measurement between many hosts.
type Mesh struct {
	Plan mesh.Plan `json:"plan"`
	// Metric is what pairs are judged by, as in Run.Responses: goodput, or latency_p50.
	Metric string `json:"metric"`
	// Again has the rounds that were added to the plan, in which suspects were tested again.
	Again [][]mesh.Pair `json:"again,omitempty"`
	// Lost are hosts that could not be measured until the end.
	Lost []MeshLost `json:"lost,omitempty"`
	// Conclusion is nil if no pair was measured.
	Conclusion *MeshConclusion `json:"conclusion,omitempty"`
}

// MeshLost is a host that was not reached, or whose agent ended. Its tests were left out from then on.
type MeshLost struct {
	Host   string `json:"host"`
	Round  int    `json:"round"`  // number of the first round that it missed, from 1
	Reason string `json:"reason"` // see package reach
	Error  string `json:"error"`
}

// MeshConclusion is what the pairs of a mesh say about hosts, racks and paths.
type MeshConclusion struct {
	// Pairs is how many pairs were measured, and Wanted how many the plan has.
	Pairs  int `json:"pairs"`
	Wanted int `json:"wanted"`
	// Typical is the median of the pairs in the unit of the metric, and TypicalHosts how many of the
	// Hosts measured are as fast as that in both directions.
	Typical      float64 `json:"typical"`
	TypicalHosts int     `json:"typical_hosts"`
	Hosts        int     `json:"hosts"`
	// Suspects differ from the others by more than chance explains, the worst first.
	Suspects []MeshSuspect `json:"suspects,omitempty"`
}

// Kinds of MeshSuspect.
const (
	MeshSends    = "sends"    // Host sends slowly to every peer
	MeshReceives = "receives" // Host receives slowly from every peer
	MeshHost     = "host"     // Host is slow in both directions
	MeshRacks    = "racks"    // what goes from rack From to rack To is slow
	MeshUplink   = "uplink"   // what leaves (From) or enters (To) a rack is slow
	MeshPair     = "pair"     // what host From sends to host To is slow
)

// MeshSuspect is a host, rack, pair of racks or pair of hosts that differs from the others.
type MeshSuspect struct {
	Kind string `json:"kind"`
	Host string `json:"host,omitempty"`
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Value is the median of its pairs in the unit of the metric, and Ratio that value in relation to
	// what these pairs would be without the difference, with its interval.
	Value float64 `json:"value"`
	Ratio float64 `json:"ratio"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	// P is the probability of such a difference by chance, corrected for the number of comparisons.
	P     float64 `json:"p"`
	Pairs int     `json:"pairs"` // how many pairs it is derived from
	// Confirmed: the rounds that were added show it, too.
	Confirmed bool `json:"confirmed,omitempty"`
	// Findings are causes that the snapshots of its hosts show.
	Findings []Finding `json:"findings,omitempty"`
}
