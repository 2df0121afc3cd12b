// Package suspects concludes from what many hosts send to each other which of them are slow, which racks
// and which single pairs, with one error rate for all of these statements together.
//
// What a pair reaches is judged by its rank among all pairs of its kind (within a rack, or between
// racks), in relation to its limit. Ranks need no distribution: flows that share links by chance
// give values in several clusters, far from normal, to which means and standard deviations are
// sensitive. The worst host or rack that differs is taken out before the next is looked for, so that
// the peers of a slow sender are no suspects: a pair is as slow as the slowest of its parts. Effects
// of hosts, which are shown and not tested, are those of a median polish (Tukey, 1977) of logarithms.
//
// What the planned rounds leave open, further rounds decide (Again, Confirm), by their own data alone.
package suspects

import (
	"cmp"
	"math"
	"slices"

	plan "linerate/internal/model/mesh"
	"linerate/internal/model/record"
)

const (
	// Level is the probability that a mesh without a fault has any suspect. Each of the two looks, at
	// the planned rounds and at those that were added, may use half of it.
	Level = 0.01
	// marginShare and marginLatency are the least differences that make a suspect.
	marginShare   = 0.05
	marginLatency = 0.2
)

// Observation is what a pair had in a round.
type Observation struct {
	Round    int // from 0
	From, To int // places in Input.Hosts
	// Value is in the unit of the metric, and Limit the most that it can be (0: not known).
	Value, Limit float64
	Failed       bool
}

// Input is what is known of a mesh.
type Input struct {
	Hosts        []plan.Host
	Observations []Observation
	// Wanted are the pairs of the plan; nil: those that were observed.
	Wanted []plan.Pair
	// Latency: a value is a time, of which more is worse.
	Latency bool
	// Flows is how many flows a pair has, and Links how many equal-cost links between racks a hash
	// places them on. 0: not known.
	Flows, Links int
	// Margin is the least difference that makes a suspect, as a share. 0: 5 %, of times 20 %.
	Margin float64
}

// margin returns the least difference on the logarithmic scale.
func (in Input) margin() (share, logarithm float64) {
	share = in.Margin
	switch {
	case share > 0:
	case in.Latency:
		share = marginLatency
	default:
		share = marginShare
	}
	share = min(share, 0.9)
	if in.Latency {
		return share, math.Log1p(share)
	}
	return share, -math.Log1p(-share)
}

// Conclude says what the pairs of a mesh show. It is meant for the planned rounds alone.
func Conclude(in Input) record.MeshConclusion {
	s := newSample(in)
	c := record.MeshConclusion{Level: Level, Wanted: len(distinct(in.Wanted))}
	c.Margin, _ = in.margin()
	s.describe(&c)
	if c.Pairs == c.Failed {
		return c
	}
	e := newExplanation(s)
	e.search(&c)
	s.typicalHosts(&c)
	return c
}

// distinct returns the pairs without those that were there before.
func distinct(pairs []plan.Pair) []plan.Pair {
	sorted := slices.Clone(pairs)
	slices.SortFunc(sorted, func(a, b plan.Pair) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	})
	return slices.Compact(sorted)
}
