// Package mesh plans measurements between many hosts: which host sends to which, in which round. A
// plan is a value that depends on its options alone, so it can be printed, stored, resumed and
// repeated.
//
// In a round, an interface has one test in each direction. Tests that leave or enter a rack have room in
// its uplinks together, at the rates of the slower interfaces. A machine with several hosts has one test,
// in one direction or in both between the same two hosts: both directions use the same CPUs as one does,
// and would take twice the rounds. A plan has as few rounds as its bound, or nearly (TestSchedules).
//
// Patterns AllToAll and Incast load interfaces with several tests on purpose, and uplinks too. Of them only
// the rule of machines is left: in a round, a machine takes part with one of its hosts, or two of them test
// each other.
package mesh

// Schema is the schema name and version of a Plan.
const Schema = "linerate.mesh-plan/v1"

// Pattern says which pairs of hosts a plan tests.
type Pattern string

const (
	Triage   Pattern = "triage"     // random permutations: a host sends to one and receives from one in each round
	Pairs    Pattern = "pairs"      // each unordered pair once, both directions at the same time
	Shifts   Pattern = "shifts"     // each ordered pair once
	Ring     Pattern = "ring"       // each host to its neighbours in the list
	Halves   Pattern = "halves"     // random halvings: all pairs across the cut, both directions
	AllToAll Pattern = "all-to-all" // every host to all others at once
	Incast   Pattern = "incast"     // several hosts to one, which is another host in each round
	Leaf     Pattern = "leaf"       // each ordered pair of racks once, by hosts drawn; a rack sends to one
)

// Host is a host of a plan.
type Host struct {
	Name string `json:"name" is:"host"`
	// Rack is the name of what the host is connected to, such as a leaf switch. Empty: not known.
	Rack string `json:"rack,omitempty" is:"words"`
	// Machine is the machine that the host is a virtual machine of: hosts of one machine share its
	// CPUs and are tested in different rounds. Empty: the host is a machine of its own.
	Machine string `json:"machine,omitempty" is:"words"`
	// RateBps is the rate of the host's interface in each direction, in bits per second. 0: not known.
	RateBps float64 `json:"rate_bps,omitempty"`
}

// Pair is a test: the places in Plan.Hosts of the host that sends and of the host that receives.
type Pair [2]int

// Plan is what a mesh measures, in order.
type Plan struct {
	Schema  string  `json:"schema" is:"word"`
	Pattern Pattern `json:"pattern" is:"word"`
	Seed    uint64  `json:"seed"`
	Hosts   []Host  `json:"hosts"`
	// Share is the share of an interface's and of an uplink's rate that the tests of a round may use.
	// 0: all of it, and flows are not paced (PaceBps).
	Share float64 `json:"share,omitempty"`
	// Uplinks has, by rack, the rate of all uplinks of the rack together in each direction, in bits
	// per second. A rack that is missing has enough.
	Uplinks map[string]float64 `json:"uplinks,omitempty" is:"words"`
	// Rounds has the tests that run at the same time, round by round.
	Rounds [][]Pair `json:"rounds"`
	// AtLeast is a lower bound of the number of rounds in which the tests can be made.
	AtLeast int `json:"at_least"`
	// Hours are when rounds may be made, by the conductor's clock. Zero: all day.
	Hours Hours `json:"hours,omitzero"`
}
