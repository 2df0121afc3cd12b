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
	"linerate/internal/model/source"
	"linerate/internal/model/topology"
)

// Plan is what a study amounts to: its treatments, and in which order they are
// tried.
type Plan struct {
	Study      *Study
	Treatments []Treatment
	// Parts of the design that were asked for; none: those that are not on demand.
	Parts []string
}

// Limits of a plan: far above what can be carried out.
const (
	maxTreatments = 10_000
	maxFlows      = 500_000 // of all treatments together
)

// NewPlan derives the plan of a study that has been parsed: of the parts of its
// design that are named, all or none of them.
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
		// The budget is that of what is tried unless asked for more.
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

// Order is the order in which a block, counted from 1, tries the treatments: a
// permutation of their places, drawn from the seed and the block's number alone,
// so that a block is the same however a run came to it.
func (p *Plan) Order(block int, seed uint64) []int {
	return rand.New(rand.NewPCG(seed, uint64(block))).Perm(len(p.Treatments))
}

// What a trial takes beside its warm-up and its window, for estimates only:
// settings, connections and readings; and the wait of age_neighbours, which is
// ARP's lock time of one second (net/ipv4/arp.c) and a little.
const (
	trialOverhead = 300 * time.Millisecond
	ageingTime    = 1100 * time.Millisecond
	// Other programs take whole seconds, and wait for what they have written.
	toolTime = 700 * time.Millisecond
	// Of adding so many addresses to an interface and removing them, times the square of
	// their number: for each the kernel walks the list of all (devinet.c).
	addressTime = 25 * time.Nanosecond
	// So many round trips pass while flows are opened, begin, and end.
	trialTrips = 5
)

// TrialTime estimates how long a trial of one of the plan's treatments takes.
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

// handshakes estimates how long the connections of a treatment take where links lose packets: a
// lost SYN is repeated after 1 s, and after twice the time each further time (RFC 6298), and the
// trial begins when the last connection is open.
func (p *Plan) handshakes(t *Treatment) time.Duration {
	lossy := func(i *topology.Impairment) bool { return i != nil && i.Loss > 0 }
	if !slices.ContainsFunc(p.Study.Topology.Links, func(l topology.Link) bool {
		return lossy(&l.Impairment) || lossy(l.Forward) || lossy(l.Reverse)
	}) {
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
		none := 1.0 // probability that no connection loses so many in a row
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

// Time estimates how long so many blocks take.
func (p *Plan) Time(blocks int) time.Duration { return time.Duration(blocks) * p.BlockTime() }

// Only keeps the treatments whose levels were asked for. Each name is a level's,
// or factor.level where two factors share the name. Names of one factor are
// alternatives; a factor of which nothing was asked keeps all its levels, and a
// compared factor in any case its baseline and what the levels are compared with:
// without them there is no effect.
func (p *Plan) Only(names []string) (*Plan, error) {
	wanted := map[string][]string{} // by factor
	var all []string
	for _, f := range p.Study.Factors {
		all = append(all, f.names()...)
	}
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
		for i := 0; i < len(wanted[f.Name]); i++ { // which grows by what a level is compared with
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
			level, asked := t.Levels[f.Name], wanted[f.Name]
			keep = keep && (len(asked) == 0 || slices.Contains(asked, level) || f.Role == roleCompare &&
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
