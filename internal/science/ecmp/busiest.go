package ecmp

import (
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// mostProducts bounds the cost of an exact expectation of the busiest link.
const (
	mostProducts = 1 << 28
	mostCounted  = 1 << 14 // flows; more would need more products than mostProducts
)

// below returns the probability that no link has more flows than its bound, and the number of
// products that the computation took. The numbers of flows on links are distributed like independent
// Poisson numbers given their sum. It therefore convolves the bounded distributions, and divides the
// probability that they sum to all flows by that of the unbounded sum. Only positive terms are added.
func below(chances []float64, flows int, bounds []int) (chance float64, products int) {
	sum := 0
	for _, bound := range bounds {
		sum += min(bound, flows)
	}
	if sum < flows {
		return 0, 0
	}
	total, next := []float64{1}, []float64(nil)
	for i, p := range chances {
		poisson := distuv.Poisson{Lambda: float64(flows) * p}
		link := make([]float64, min(bounds[i], flows)+1)
		for x := range link {
			link[x] = poisson.Prob(float64(x))
		}
		next = slices.Grow(next[:0], min(flows+1, len(total)+len(link)-1))[:min(flows+1, len(total)+len(link)-1)]
		clear(next)
		for a, x := range total {
			if x < 1e-200 {
				continue
			}
			for b, y := range link[:min(len(link), len(next)-a)] {
				next[a+b] += x * y
			}
		}
		products += len(total) * len(link)
		total, next = next, total
	}
	if len(total) <= flows {
		return 0, products
	}
	return min(1, total[flows]/distuv.Poisson{Lambda: float64(flows)}.Prob(float64(flows))), products
}

// expectedMost returns the mean over placements of the largest value of flows × scale over all
// links. With scale 1 this is the number of flows on the busiest link, with scale 1/rate the time
// until the last of equal transfers is done. false: it would take too long.
func expectedMost(chances, scale []float64, flows int) (float64, bool) {
	if flows > mostCounted {
		return 0, false
	}
	// Between two possible values the probability of a larger one does not change.
	var steps []float64
	total := 0.0
	for _, s := range scale {
		total += 1 / s
	}
	fair := float64(flows) / total // no placement has less than this
	for i, s := range scale {
		if slices.Contains(scale[:i], s) {
			continue
		}
		for x := int(fair / s); x <= flows; x++ {
			steps = append(steps, float64(x)*s)
		}
	}
	slices.Sort(steps)
	const hair = 1 + 1e-12
	steps = slices.CompactFunc(steps, func(a, b float64) bool { return a <= b*hair && b <= a*hair })
	mean, spent := 0.0, 0
	bounds := make([]int, len(scale))
	for i, step := range steps {
		if i == 0 {
			mean = step
		}
		for link, s := range scale {
			bounds[link] = int(step / s * hair)
		}
		chance, products := below(chances, flows, bounds)
		if spent += products; spent > mostProducts {
			return 0, false
		}
		if chance > 1-1e-12 || i == len(steps)-1 {
			return mean, true
		}
		mean += (1 - chance) * (steps[i+1] - step)
	}
	return mean, true
}

// BusiestShare returns the mean share of all flows that are on the busiest link. It returns false if
// that is not known exactly, because the bundles differ in size or it would take too long.
func (l Links) BusiestShare(kinds []Kind) (float64, bool) {
	bundles, _ := totals(kinds)
	if bundles == 0 || !sameSize(kinds) {
		return 0, false
	}
	scale := make([]float64, len(l))
	for i := range scale {
		scale[i] = 1
	}
	most, ok := expectedMost(l.Chances(), scale, bundles)
	return most / float64(bundles), ok
}

// TogetherBps returns the rate of equal transfers that begin at the same time: the amount of data of
// all transfers, divided by the mean time until the last is done, which the slowest link determines.
// It returns false if that is not known exactly, because bundles differ in size or have a demand, or
// it would take too long.
func (l Links) TogetherBps(kinds []Kind) (float64, bool) {
	bundles, _ := totals(kinds)
	if bundles == 0 || !sameSize(kinds) || !allElastic(kinds) {
		return 0, false
	}
	scale := l.rates()
	for i := range scale {
		scale[i] = 1 / scale[i]
	}
	time, ok := expectedMost(l.Chances(), scale, bundles)
	return float64(bundles) / time, ok
}

func sameSize(kinds []Kind) bool {
	return !slices.ContainsFunc(kinds, func(k Kind) bool { return k.flows() != kinds[0].flows() })
}
