package ecmp

import (
	"math"
	"sort"
)

// occupancy computes how many links of each class are used after some placements, as a Markov chain
// whose state is one number per class. If all links are alike, its probabilities are those of the
// classical occupancy problem, n!/(n−u)! × S(k,u) / n^k with Stirling's number of the second kind.
// Inclusion and exclusion would write these as an alternating sum; the chain only adds positive
// terms, so it is exact for any number of flows.
type occupancy struct {
	classes []class
	chance  []float64 // by state, a number of mixed radix
	stride  []int     // of each class in the number of a state
	used    []int     // the digits of a state; memory of place
	flows   int
	missing float64 // the probability that some link is unused
}

// mostStates and mostSteps bound the cost of the chain. Beyond them, draws are made instead.
const (
	mostStates = 1 << 17
	mostSteps  = 1 << 28
)

func newOccupancy(classes []class) (*occupancy, bool) {
	o := &occupancy{classes: classes, missing: 1, used: make([]int, len(classes))}
	states := 1
	for _, c := range classes {
		o.stride = append(o.stride, states)
		if states > mostStates/(c.n+1) {
			return nil, false
		}
		states *= c.n + 1
	}
	o.chance = make([]float64, states)
	o.chance[0] = 1
	return o, true
}

// place adds one flow. A state is only reached from smaller ones, so going down from the largest
// needs no second array.
func (o *occupancy) place() {
	o.flows++
	full := len(o.chance) - 1
	for c, class := range o.classes {
		o.used[c] = class.n
	}
	o.missing = 0
	for state := full; state >= 0; state-- {
		stay, come := 0.0, 0.0
		for c, class := range o.classes {
			if u := o.used[c]; u > 0 {
				stay += float64(u) * class.chance
				come += o.chance[state-o.stride[c]] * float64(class.n-u+1) * class.chance
			}
		}
		if state == full {
			stay = 1
		}
		chance := o.chance[state]*stay + come
		if chance < 1e-280 { // before it becomes a denormal, which processors handle slowly
			chance = 0
		}
		if state < full {
			o.missing += chance
		}
		o.chance[state] = chance
		for c := range o.used { // the digits of state−1
			if o.used[c]--; o.used[c] >= 0 {
				break
			}
			o.used[c] = o.classes[c].n
		}
	}
}

// negligible is a probability that does not change 1 when added to it.
const negligible = 1e-17

// bound returns an upper bound of the probability that some link is unused: the sum over all links.
// If it is small, it is also nearly exact.
func (o *occupancy) bound(flows int) float64 {
	sum := 0.0
	for _, c := range o.classes {
		sum += float64(c.n) * math.Exp(float64(flows)*math.Log1p(-c.chance))
	}
	return sum
}

// after places flows until their number is reached; false if that would take too long. Once an
// unused link is practically impossible, the chain is set to the state in which all links are used,
// which no longer changes.
func (o *occupancy) after(flows int) bool {
	if bound := o.bound(flows); bound < negligible {
		clear(o.chance)
		o.chance[len(o.chance)-1], o.missing, o.flows = 1, bound, flows
		return true
	}
	if (flows-o.flows)*len(o.chance)*len(o.classes) > mostSteps {
		return false
	}
	for o.flows < flows {
		o.place()
	}
	return true
}

// sums returns, for each state, the sum of a value over the used links.
func (o *occupancy) sums(of func(class) float64) []float64 {
	sums := make([]float64, len(o.chance))
	for state := range sums {
		for c, class := range o.classes {
			sums[state] += float64(state/o.stride[c]%(class.n+1)) * of(class)
		}
	}
	return sums
}

func (o *occupancy) distribution(of func(class) float64) Distribution {
	points := make([]Point, len(o.chance))
	for state, sum := range o.sums(of) {
		points[state] = Point{sum, o.chance[state]}
	}
	return collect(points)
}

// occupied returns the occupancy of links that differ only in their probabilities.
func (l Links) occupied() (*occupancy, bool) {
	return newOccupancy(classes(l.Chances(), make([]float64, len(l))))
}

// Used returns the distribution of the number of links that carry anything after this many
// placements. It returns false if the links differ so much that this is not known exactly.
func (l Links) Used(placements int) (Distribution, bool) {
	o, ok := l.occupied()
	if !ok || !o.after(placements) {
		return nil, false
	}
	return o.distribution(func(class) float64 { return 1 }), true
}

// carriedElastic returns the distribution of what flows carry if each fills a link alone: the sum
// of the rates of the used links.
func (l Links) carriedElastic(flows int) (Distribution, bool) {
	o, ok := newOccupancy(classes(l.Chances(), l.rates()))
	if !ok || !o.after(flows) {
		return nil, false
	}
	return o.distribution(func(c class) float64 { return c.rateBps }), true
}

// SomeUnused returns the probability that at least one link stays unused; false if it is not known
// exactly.
func (l Links) SomeUnused(placements int) (float64, bool) {
	o, ok := l.occupied()
	if !ok || !o.after(placements) {
		return 0, false
	}
	return o.missing, true
}

// UsedAtMost returns the probability that this many placements use at most the given number of
// links, or false if it is not known exactly. A small probability shows that a router which uses so
// few links does not place the flows by an ideal hash.
func (l Links) UsedAtMost(placements, used int) (float64, bool) {
	d, ok := l.Used(placements)
	return d.AtMost(float64(used)), ok
}

// FlowsToUseAll returns the smallest number of flows that use every link with at least the given
// probability, such as 0.95. It returns false if that is not known.
func (l Links) FlowsToUseAll(chance float64) (int, bool) {
	o, ok := l.occupied()
	if !ok {
		return 0, false
	}
	// The bound tells how many are enough, and so how many steps it takes.
	enough := sort.Search(mostNeeded, func(flows int) bool { return o.bound(flows) <= 1-chance })
	if enough*len(o.chance)*len(o.classes) > mostSteps {
		return 0, false
	}
	for {
		if o.place(); o.missing <= (1-chance)*(1+1e-12) {
			return o.flows, true
		}
	}
}

// Needed says how many flows it takes to use all links, and to carry a share of their rates (schema
// linerate.limits.ecmp-flows/v1). Each flow takes as much as it gets and has its own hash.
type Needed struct {
	Schema string `json:"schema"`
	Links  int    `json:"links"`
	// Pairs reports whether the policy hashes only addresses, so that Flows and Carry count pairs
	// of addresses and not flows.
	Pairs bool `json:"pairs_of_addresses,omitempty"`
	// Bond is Question.Bond.
	Bond  string       `json:"xmit_hash_policy,omitempty"`
	Flows []NeededFlow `json:"needed"`
	// Carry is the smallest number of flows that on average carry the share Target of the sum of
	// the links' rates. 0: more than 2³⁰, or unknown.
	Target float64 `json:"target"`
	Carry  int     `json:"needed_to_carry,omitempty"`
}

// NeededFlow is the least number of flows that uses every link with a given probability.
type NeededFlow struct {
	Probability float64 `json:"probability"`
	Flows       int     `json:"flows"`
}

// Needed returns how many flows use all links with each probability, leaving out those that would
// take too long to compute, and how many carry the share target of the links' rates.
func (l Links) Needed(target float64, probabilities ...float64) Needed {
	n := Needed{Schema: "linerate.limits.ecmp-flows/v1", Links: len(l), Target: target}
	n.Carry, _ = l.FlowsNeeded(target, 0)
	for _, p := range probabilities {
		if flows, ok := l.FlowsToUseAll(p); ok {
			n.Flows = append(n.Flows, NeededFlow{p, flows})
		}
	}
	return n
}

// ExpectedUsed returns how many links are used on average.
func (l Links) ExpectedUsed(placements int) float64 {
	sum := 0.0
	for _, chance := range l.Chances() {
		sum += hit(chance, placements)
	}
	return sum
}

// hit returns the probability that at least one of this many flows falls on a link: 1 − (1−p)^k,
// computed so that small results stay exact.
func hit(chance float64, placements int) float64 {
	if placements == 0 {
		return 0
	}
	return -math.Expm1(float64(placements) * math.Log1p(-chance))
}

// mostNeeded is the largest number of flows that the search tries.
const mostNeeded = 1 << 30

// FlowsNeeded returns the smallest number of flows that on average carry the given share, such as
// 0.95, of the sum of the links' rates. Bps is the demand of each flow in bit/s; 0: as much as it
// gets. It returns false if it takes more than 2³⁰ flows.
func (l Links) FlowsNeeded(share, bps float64) (int, bool) {
	want := share * l.RateBps() * (1 - 1e-12)
	most := 1
	enough := func(flows int) bool {
		carried, ok := l.ExpectedBps([]Kind{{Count: flows, Bps: bps}})
		return ok && carried >= want
	}
	for !enough(most) {
		if most *= 2; most > mostNeeded {
			return 0, false
		}
	}
	return 1 + sort.Search(most-1, func(i int) bool { return enough(i + 1) }), true
}
