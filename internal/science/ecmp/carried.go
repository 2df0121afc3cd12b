package ecmp

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// binomial returns the probabilities of counts in n trials, beginning with count first, the lowest
// that is not negligible. They are computed from the most likely count outwards and scaled to sum
// 1, so no error of a logarithm remains.
func binomial(n int, p float64) (first int, chances []float64) {
	if p <= 0 || n == 0 {
		return 0, []float64{1}
	}
	if p >= 1 {
		return n, []float64{1}
	}
	const least = 1e-22
	mode := min(n, int(float64(n+1)*p))
	odds := p / (1 - p)
	chances = []float64{1}
	for first = mode; first > 0; first-- {
		c := chances[len(chances)-1] * float64(first) / (float64(n-first+1) * odds)
		if c < least {
			break
		}
		chances = append(chances, c)
	}
	slices.Reverse(chances)
	for x, c := mode, 1.0; x < n; x++ {
		if c *= float64(n-x) * odds / float64(x+1); c < least {
			break
		}
		chances = append(chances, c)
	}
	floats.Scale(1/floats.Sum(chances), chances)
	return first, chances
}

// mostTerms bounds the sums and exact distributions for flows with demands.
const mostTerms = 4 << 20

// expected returns the mean of what one link carries: E[min(rate, Σ demands)]. The number of
// bundles of each kind on the link is binomial and independent of the other kinds. false: too many
// kinds for an exact sum.
func expected(rateBps, chance float64, kinds []Kind) (float64, bool) {
	none := 1.0
	var rest []Kind
	for _, kind := range kinds {
		switch {
		case kind.Bps == 0 || kind.Bps >= rateBps:
			none *= 1 - hit(chance, kind.Count)
		case kind.Count > 0:
			rest = append(rest, kind)
		}
	}
	terms := 1
	pmfs := make([]pmf, len(rest))
	for i, kind := range rest {
		pmfs[i].first, pmfs[i].chances = binomial(kind.Count, chance)
		pmfs[i].bps = kind.Bps
		if terms *= len(pmfs[i].chances); terms > mostTerms {
			return 0, false
		}
	}
	return rateBps*(1-none) + none*within(rateBps, pmfs), true
}

// pmf holds the probabilities of how many bundles of a kind fall on a link.
type pmf struct {
	bps     float64
	first   int
	chances []float64
}

// within returns E[min(room, Σ demands)].
func within(room float64, kinds []pmf) float64 {
	if len(kinds) == 0 || room <= 0 {
		return 0
	}
	sum := 0.0
	for i, chance := range kinds[0].chances {
		demand := float64(kinds[0].first+i) * kinds[0].bps
		if demand >= room {
			sum += chance * room
			continue
		}
		sum += chance * (demand + within(room-demand, kinds[1:]))
	}
	return sum
}

// ExpectedBps returns the mean rate that all links carry together. It returns false if there are too
// many kinds for an exact sum.
func (l Links) ExpectedBps(kinds []Kind) (float64, bool) {
	sum := 0.0
	for _, class := range classes(l.Chances(), l.rates()) {
		carried, ok := expected(class.rateBps, class.chance, kinds)
		if !ok {
			return 0, false
		}
		sum += float64(class.n) * carried
	}
	return sum, true
}

// Carried returns the distribution of the rate that all links carry together, in bit/s. It is known
// exactly for flows that can each fill a link, and for a few flows of one demand. Otherwise Carried
// returns false.
func (l Links) Carried(kinds []Kind) (Distribution, bool) {
	least := math.Inf(1)
	for _, kind := range kinds {
		if kind.Bps > 0 {
			least = min(least, kind.Bps)
		}
	}
	bundles, _ := totals(kinds)
	switch {
	case bundles == 0:
		return Distribution{{0, 1}}, true
	case least >= slices.Max(l.rates()):
		return l.carriedElastic(bundles)
	case len(kinds) == 1:
		return l.carriedOf(kinds[0])
	}
	return nil, false
}

// left is a state between two links: how many bundles are still to be placed, and what the links
// before carry, in units.
type left struct {
	bundles int
	carried int64
}

func (a left) compare(b left) int {
	return cmp.Or(cmp.Compare(a.bundles, b.bundles), cmp.Compare(a.carried, b.carried))
}

// carriedOf computes the distribution link by link: of the bundles that are left, a binomial number
// falls on the next link.
func (l Links) carriedOf(kind Kind) (Distribution, bool) {
	unit := math.Ldexp(l.RateBps(), -40) // so that equal sums are one state
	states := map[left]float64{{kind.Count, 0}: 1}
	rest, terms := 1.0, 0
	for i, chance := range l.Chances() {
		p := min(1, chance/rest)
		if i == len(l)-1 {
			p = 1
		}
		rest -= chance
		next := make(map[left]float64, len(states))
		// Sorted, so that equal questions get answers that are equal to the last digit.
		for _, state := range slices.SortedFunc(maps.Keys(states), left.compare) {
			before := states[state]
			first, chances := binomial(state.bundles, p)
			if terms += len(chances); terms > mostTerms {
				return nil, false
			}
			for j, c := range chances {
				if before*c < 1e-30 {
					continue
				}
				carried := min(l[i].RateBps, float64(first+j)*kind.Bps)
				next[left{state.bundles - first - j, state.carried + int64(math.Round(carried/unit))}] += before * c
			}
		}
		states = next
	}
	points := make([]Point, 0, len(states))
	for _, state := range slices.SortedFunc(maps.Keys(states), left.compare) {
		points = append(points, Point{float64(state.carried) * unit, states[state]})
	}
	return collect(points), true
}
