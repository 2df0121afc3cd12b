package record

import (
	"linerate/internal/model/mesh"
	"linerate/internal/model/topology"
)

// MeshStudy is the Study of a run that measures between many hosts. Each of its trials is a round of
// the plan, and has a flow for each pair of the round.
const MeshStudy = "mesh"

// Mesh is what is particular to a measurement between many hosts.
type Mesh struct {
	Plan mesh.Plan `json:"plan"`
	// Metric is what pairs are judged by, as in Run.Responses: goodput, or latency_p50.
	Metric string `json:"metric"`
	// Fabric has the switches and links between the hosts, if they are known, of which a conclusion
	// names those that slow pairs have in common. Nil: they are not known.
	Fabric *topology.Topology `json:"fabric,omitempty"`
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
	// Pairs is how many pairs were measured, those that failed included, Failed how many of them
	// failed, and Wanted how many pairs the plan has.
	Pairs  int `json:"pairs"`
	Failed int `json:"failed,omitempty"`
	Wanted int `json:"wanted"`
	// Typical is the median of the pairs in the unit of the metric, and TypicalLimit that of their
	// limits (0: not known). TypicalHosts is how many of the Hosts measured reach what is typical of
	// their interface in both directions, and are no suspects.
	Typical      float64 `json:"typical"`
	TypicalLimit float64 `json:"typical_limit,omitempty"`
	TypicalHosts int     `json:"typical_hosts"`
	Hosts        int     `json:"hosts"`
	// Suspects differ from the others by more than chance explains, the worst first. Candidates may
	// differ: the rounds that were planned cannot tell, and further rounds may.
	Suspects   []MeshSuspect `json:"suspects,omitempty"`
	Candidates []MeshSuspect `json:"candidates,omitempty"`
	// Untold is why nothing is said about single hosts, one of the Mesh…Untold constants. Empty: it
	// is said. NeedRounds is how many rounds, each with every host, would tell at least.
	Untold     string `json:"untold,omitempty"`
	NeedRounds int    `json:"need_rounds,omitempty"`
	// Level is the probability that a mesh without a fault has any suspect, and Margin the least
	// difference that makes one, as a share.
	Level  float64 `json:"level"`
	Margin float64 `json:"margin"`
	// Limits has the pairs by their limit, the most frequent first, if there is more than one.
	Limits []MeshLimit `json:"limits,omitempty"`
	// All has quantiles of all pairs that did not fail, Within and Across those of the pairs within a
	// rack and between racks. Nil: there are none of a kind, or racks are not known.
	All    *MeshQuantiles `json:"all,omitempty"`
	Within *MeshQuantiles `json:"within,omitempty"`
	Across *MeshQuantiles `json:"across,omitempty"`
	// Effects has what each host that was measured sends and receives in relation to the others, in
	// the order of the plan, and Racks the same of each pair of racks, without the part of the hosts.
	Effects []MeshEffect   `json:"effects,omitempty"`
	Racks   []MeshRackPair `json:"racks,omitempty"`
	// Worst are the slowest pairs, those that failed first, and Unmeasured pairs of the plan without
	// a value, at most MeshListed of each.
	Worst      []MeshPairValue `json:"worst,omitempty"`
	Unmeasured [][2]string     `json:"unmeasured,omitempty"`
	// Chance is what placing flows on equal-cost links explains. Nil: nothing.
	Chance *MeshChance `json:"chance,omitempty"`
}

// MeshListed is the most that the lists of a MeshConclusion have that could grow with all pairs.
const MeshListed = 20

// Reasons why a mesh says nothing about single hosts.
const (
	// MeshFewHostsUntold: of two hosts it cannot be told which is slow.
	MeshFewHostsUntold = "few-hosts"
	// MeshFewPairsUntold: even a host without which every pair is faster might be so by chance.
	MeshFewPairsUntold = "few-pairs"
	// MeshUnlikeUntold: too many hosts differ for the others to be typical.
	MeshUnlikeUntold = "unlike"
)

// MeshLimit are the pairs of a mesh that have the same limit.
type MeshLimit struct {
	Limit   float64 `json:"limit"`
	Pairs   int     `json:"pairs"`
	Typical float64 `json:"typical"` // median of those that did not fail; 0: all failed
}

// MeshQuantiles are quantiles of pairs in the unit of the metric.
type MeshQuantiles struct {
	Pairs int     `json:"pairs"`
	Least float64 `json:"least"`
	P1    float64 `json:"p1"`
	P5    float64 `json:"p5"`
	P25   float64 `json:"p25"`
	P50   float64 `json:"p50"`
	P75   float64 `json:"p75"`
	P95   float64 `json:"p95"`
	P99   float64 `json:"p99"`
	Most  float64 `json:"most"`
}

// MeshEffect is what a host sends and receives in relation to the others: 1 is like them, 0: no such
// pair was measured, or none but failed.
type MeshEffect struct {
	Host          string  `json:"host"`
	Sends         float64 `json:"sends"`
	Receives      float64 `json:"receives"`
	SendsPairs    int     `json:"sends_pairs"`
	ReceivesPairs int     `json:"receives_pairs"`
}

// MeshRackPair is what goes from rack From to rack To: its median in the unit of the metric, and its
// ratio to the others without what their hosts explain.
type MeshRackPair struct {
	From  string  `json:"from"`
	To    string  `json:"to"`
	Value float64 `json:"value"`
	Ratio float64 `json:"ratio"`
	Pairs int     `json:"pairs"`
}

// MeshPairValue is a pair, with its value in relation to what its hosts have with others, and the
// probability that a mesh of this size has so slow a pair by chance (1: it cannot be told).
type MeshPairValue struct {
	From   string  `json:"from"`
	To     string  `json:"to"`
	Value  float64 `json:"value"`
	Ratio  float64 `json:"ratio"`
	P      float64 `json:"p"`
	Failed bool    `json:"failed,omitempty"`
}

// MeshChance is what placing flows on equal-cost links by chance explains.
type MeshChance struct {
	// Flows is how many flows each pair has, and Links how many links they are placed on; 0: not known.
	Flows int `json:"flows,omitempty"`
	Links int `json:"links,omitempty"`
	// Least is the share of its limit below which no pair of a mesh of this size is by chance. 0: not
	// known.
	Least float64 `json:"least,omitempty"`
	// Shares are the ratios to the typical value, such as 1/2, where pairs of different racks
	// accumulate as flows that share links do, and Pairs is the share of these pairs that are there.
	Shares []float64 `json:"shares,omitempty"`
	Pairs  float64   `json:"pairs,omitempty"`
}

// Kinds of MeshSuspect.
const (
	MeshSends    = "sends"    // Host sends slowly to every peer
	MeshReceives = "receives" // Host receives slowly from every peer
	MeshHost     = "host"     // Host is slow in both directions
	MeshRacks    = "racks"    // what goes from rack From to rack To is slow
	MeshUplink   = "uplink"   // what leaves (From) or enters (To) a rack is slow
	MeshPair     = "pair"     // what host From sends to host To is slow
	MeshLink     = "link"     // slow pairs have the Link in common, or one of the Links
)

// MeshSuspect is a host, rack, pair of racks, pair of hosts or link that differs from the others.
type MeshSuspect struct {
	Kind string `json:"kind"`
	Host string `json:"host,omitempty"`
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Link is the end from which frames leave on a slow link: "leaf3.swp12". Links has it and others that
	// no pair tells apart from it, of which LinkCount are slow. LinkCount 0 is 1.
	Link      string   `json:"link,omitempty"`
	Links     []string `json:"links,omitempty"`
	LinkCount int      `json:"link_count,omitempty"`
	// Certainty is the probability that a link is among those that are named. 0: it is no link.
	Certainty float64 `json:"certainty,omitempty"`
	// Value is the median of its pairs in the unit of the metric, and Ratio that value in relation to
	// what these pairs would be without the difference, with its interval.
	Value float64 `json:"value"`
	Ratio float64 `json:"ratio"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	// Limit is the median of the limits of its pairs. 0: not known.
	Limit float64 `json:"limit,omitempty"`
	// P is the probability of such a difference by chance, corrected for the number of comparisons: it
	// is a suspect if P is at most MeshConclusion.Level.
	P     float64 `json:"p"`
	Pairs int     `json:"pairs"` // how many pairs it is derived from
	// Confirmed: the rounds that were added show it, too.
	Confirmed bool `json:"confirmed,omitempty"`
	// Again is what the added rounds say. Nil: it was not tested again.
	Again *MeshAgain `json:"again,omitempty"`
	// Findings are causes that the snapshots of its hosts show.
	Findings []Finding `json:"findings,omitempty"`
}

// MeshAgain is what the rounds say that were added to test a suspect again.
type MeshAgain struct {
	Value    float64 `json:"value"`
	Ratio    float64 `json:"ratio"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	P        float64 `json:"p"`
	Pairs    int     `json:"pairs"`
	Controls int     `json:"controls"` // pairs without a suspect, measured in the same rounds
}

// MeshComparison is what differs between two meshes.
type MeshComparison struct {
	// Hosts are those that both measured, OnlyFrom and OnlyTo those that one did.
	Hosts    int      `json:"hosts"`
	OnlyFrom []string `json:"only_from,omitempty"`
	OnlyTo   []string `json:"only_to,omitempty"`
	// Pairs is how many pairs both measured. Ratio is the typical ratio of the second to the first,
	// with its interval; all 0: it cannot be told.
	Pairs int     `json:"pairs"`
	Ratio float64 `json:"ratio"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	// Worse and Better are hosts, racks and pairs that changed by more than the others and than chance
	// explains; Ratio of each is to what the first mesh has of the same pairs.
	Worse  []MeshSuspect `json:"worse,omitempty"`
	Better []MeshSuspect `json:"better,omitempty"`
	// Untold is why nothing is said about single hosts, as in MeshConclusion, or MeshMetricUntold.
	Untold string  `json:"untold,omitempty"`
	Level  float64 `json:"level"`
	Margin float64 `json:"margin"`
}

// MeshMetricUntold: the two meshes have different metrics.
const MeshMetricUntold = "metrics"
