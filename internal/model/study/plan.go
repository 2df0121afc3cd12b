package study

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"time"

	"linerate/internal/model/flow"
	"linerate/internal/model/lists"
	"linerate/internal/model/source"
	"linerate/internal/model/topology"
)

// Plan has the treatments of a study and determines the order in which they are tried.
type Plan struct {
	Study      *Study
	Treatments []Treatment
	// Parts are the names of the requested parts. Empty: those that are not on demand.
	Parts []string
}

// Limits of a plan, far above what is feasible.
const (
	maxTreatments = 10_000
	maxFlows      = 500_000 // of all treatments together
)

// NewPlan returns the plan of a parsed study for the named parts of its design; without names, for
// those that are not on demand.
func NewPlan(s *Study, parts ...string) (*Plan, error) {
	chosen, err := s.parts(parts)
	if err != nil {
		return nil, err
	}
	var combinations [][]int
	if len(s.Design.Parts) == 0 {
		chosen = []Part{s.everything()}
	}
	if combinations, err = s.combinations(chosen); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(chosen, func(p Part) bool { return p.OnDemand }) {
		// The budget applies to what is tried by default.
		unbounded := *s
		unbounded.Design.Budget = 0
		s = &unbounded
	}
	p := &Plan{Study: s, Parts: parts}
	names, flows := map[string]bool{}, 0
	for _, places := range combinations {
		levels := make([]Level, len(places))
		for k, at := range places {
			levels[k] = s.Factors[k].Levels[at]
		}
		t, err := s.treatment(levels, maxFlows-flows)
		if err != nil {
			return nil, err
		}
		if names[t.Name] {
			return nil, fmt.Errorf("two treatments would be called %q: give the levels different names", t.Name)
		}
		names[t.Name] = true
		flows += len(t.Flows)
		p.Treatments = append(p.Treatments, t)
	}
	return p, nil
}

// Order returns the order in which a block, counted from 1, tries the treatments: a permutation of
// their indices. It depends only on the seed and the number of the block, so that a block is the
// same in a resumed run.
func (p *Plan) Order(block int, seed uint64) []int {
	return rand.New(rand.NewPCG(seed, uint64(block))).Perm(len(p.Treatments))
}

// Times of a trial besides its warm-up and window, for estimates only: settings, connections and
// readings, and the wait of age_neighbours, which is slightly more than ARP's lock time of one
// second (net/ipv4/arp.c).
const (
	trialOverhead = 300 * time.Millisecond
	ageingTime    = 1100 * time.Millisecond
	// Other programs take whole seconds, and wait for the data that they have written.
	toolTime = 700 * time.Millisecond
	// The time to add addresses to an interface and remove them is this times the square of their
	// number: for each one the kernel walks the list of all (devinet.c).
	addressTime = 25 * time.Nanosecond
	// The number of round trips while flows are opened, begin, and end.
	trialTrips = 5
)

// TrialTime estimates how long a trial of a treatment takes.
func (p *Plan) TrialTime(t *Treatment) time.Duration {
	estimate := time.Duration(t.Workload.Warmup+t.Workload.Duration) + trialOverhead
	if l := t.Workload.LossFree; l != nil {
		estimate = l.Time(time.Duration(t.Workload.Warmup), time.Duration(t.Workload.Duration))
	}
	if len(t.Workload.AgeNeighbours) > 0 {
		estimate += ageingTime
	}
	if slices.ContainsFunc(t.Flows, func(f PlannedFlow) bool { return f.Process != "" }) {
		estimate += toolTime
	}
	for _, s := range t.Settings {
		if s.Address != nil {
			n := s.Address.Number()
			estimate += time.Duration(n) * time.Duration(n) * addressTime
		}
	}
	return estimate + trialTrips*p.RoundTrip(t) + p.handshakes(t)
}

// handshakes estimates how long opening the connections of a treatment takes if links lose packets.
// A lost SYN is retransmitted after 1 s, and after twice that time for each further loss (RFC
// 6298); the trial begins when the last connection is open.
func (p *Plan) handshakes(t *Treatment) time.Duration {
	if !slices.ContainsFunc(p.Study.Topology.Links, topology.Link.Lossy) {
		return 0
	}
	type ends struct {
		opener              string
		source, destination netip.Addr
	}
	over := p.Study.Topology.With(t.Settings)
	known := map[ends]float64{}
	opened := map[float64]int{} // connections by the probability that a handshake is lost
	for _, f := range t.Flows {
		if flow.Of(f.Protocol).Transport != flow.TCP {
			continue
		}
		at := ends{f.Opener, f.Source, f.Destination}
		lost, is := known[at]
		if !is {
			lost = roundTripLoss(over, f)
			known[at] = lost
		}
		opened[lost] += max(1, f.Connections)
	}
	seconds := 0.0
	for k, wait := 1.0, 1.0; k <= 5; k, wait = k+1, 2*wait {
		none := 1.0 // probability that no connection loses that many in a row
		for lost, n := range opened {
			none *= math.Pow(1-math.Pow(lost, k), float64(n))
		}
		seconds += wait * (1 - none)
	}
	return time.Duration(seconds * float64(time.Second))
}

// BlockTime estimates how long a block takes: one trial of each treatment.
func (p *Plan) BlockTime() time.Duration {
	var sum time.Duration
	for i := range p.Treatments {
		sum += p.TrialTime(&p.Treatments[i])
	}
	return sum
}

// Time estimates how long a number of blocks takes.
func (p *Plan) Time(blocks int) time.Duration { return time.Duration(blocks) * p.BlockTime() }

// Only returns the plan with the treatments that have the named levels. A name is that of a level,
// or factor.level if two factors have a level of that name. Names of levels of one factor are
// alternatives. A factor of which no level is named keeps all its levels. A compared factor always
// keeps its baseline and the levels that the named ones are compared with, since there would be no
// effect without them.
func (p *Plan) Only(names []string) (*Plan, error) {
	wanted := map[string][]string{} // by factor
	all := lists.Flat(p.Study.Factors, Factor.names)
	for _, name := range names {
		found := false
		for _, f := range p.Study.Factors {
			for _, l := range f.Levels {
				if l.Name == name || f.Name+"."+l.Name == name {
					wanted[f.Name] = append(wanted[f.Name], l.Name)
					found = true
				}
			}
		}
		if !found {
			return nil, fmt.Errorf("no level %q in study %s%s", name, p.Study.Name, source.DidYouMean(name, all))
		}
	}
	for _, f := range p.Study.Factors {
		for i := 0; i < len(wanted[f.Name]); i++ { // which grows by the levels that others are compared with
			for _, l := range f.Levels {
				if l.Name == wanted[f.Name][i] && l.Against != "" && !slices.Contains(wanted[f.Name], l.Against) {
					wanted[f.Name] = append(wanted[f.Name], l.Against)
				}
			}
		}
	}
	kept := &Plan{Study: p.Study, Parts: p.Parts}
	for _, t := range p.Treatments {
		keep := true
		for _, f := range p.Study.Factors {
			level, names := t.Levels[f.Name], wanted[f.Name]
			keep = keep && (len(names) == 0 || slices.Contains(names, level) || f.Role == roleCompare &&
				level == f.Baseline)
		}
		if keep {
			kept.Treatments = append(kept.Treatments, t)
		}
	}
	if len(kept.Treatments) == 0 {
		return nil, fmt.Errorf("no treatment has %s in study %s: no part that is tried has them together",
			strings.Join(names, ", "), p.Study.Name)
	}
	return kept, nil
}
