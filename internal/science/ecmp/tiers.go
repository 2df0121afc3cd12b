package ecmp

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Tiers describes links over which a sender splits its flows and, behind each of them, a router
// that splits again over its own links, which are the same for every router. Without Second there
// is one tier.
type Tiers struct {
	First, Second Links
	// SameSeed reports whether sender and routers hash with the same function, fields and seed. The
	// second choice then only repeats the first (polarisation).
	SameSeed bool
}

// chances returns the probability of a flow to take link i of the first tier and link j of the
// router behind it.
func (t Tiers) chances() [][]float64 {
	first, second := t.First.Chances(), []float64{1}
	if len(t.Second) > 0 {
		second = t.Second.Chances()
	}
	all := make([][]float64, len(first))
	lowFirst := 0.0
	for i, p := range first {
		all[i] = make([]float64, len(second))
		lowSecond := 0.0
		for j, q := range second {
			all[i][j] = p * q
			if t.SameSeed && len(t.Second) > 0 {
				// Each link owns a part of the hash's range. A flow takes both links if its hash
				// lies in both parts.
				common := min(lowFirst+p, lowSecond+q) - max(lowFirst, lowSecond)
				if all[i][j] = 0; common > rounding {
					all[i][j] = common
				}
			}
			lowSecond += q
		}
		lowFirst += p
	}
	return all
}

// Reachable returns the number of links of the second tier that flows can take. With the same seed,
// and n links behind each of n links, these are only n of n².
func (t Tiers) Reachable() int { return len(t.cells()) }

// ExpectedUsed returns how many links of each tier are used on average.
func (t Tiers) ExpectedUsed(placements int) (first, second float64) {
	first = t.First.ExpectedUsed(placements)
	if len(t.Second) == 0 {
		return first, 0
	}
	for _, c := range t.cells() {
		second += hit(c.chance, placements)
	}
	return first, second
}

// BestBps returns what the best placement of flows carries. It places flows of the largest demand
// first, each where its whole demand fits and least is left over, or else where most is left. No
// placement carries more if the flows have one demand or take what they get.
func (t Tiers) BestBps(kinds []Kind) (sum float64) {
	type room struct{ first, last *float64 } // what is left of the links of a path
	first, paths := t.First.rates(), []room(nil)
	for i := range first {
		last := []float64{math.Inf(1)}
		if len(t.Second) > 0 {
			last = t.Second.rates()
		}
		slices.SortFunc(last, descending) // so that the next path behind a link never carries more
		for j := range last {
			paths = append(paths, room{&first[i], &last[j]})
		}
	}
	left := func(r room) float64 { return min(*r.first, *r.last) }
	take := func(r room, bps float64) {
		sum += bps
		*r.first -= bps
		*r.last -= bps
	}
	demand := func(k Kind) float64 { return cmp.Or(k.Bps, math.Inf(1)) }
	kinds = slices.Clone(kinds)
	slices.SortFunc(kinds, func(a, b Kind) int { return descending(demand(a), demand(b)) })
	for _, kind := range kinds {
		n := kind.Count
		slices.SortStableFunc(paths, func(a, b room) int { return cmp.Compare(left(a), left(b)) })
		for _, r := range paths {
			if fit := math.Floor(left(r)/demand(kind) + rounding); fit >= 1 && n > 0 {
				whole := int(min(fit, float64(n)))
				take(r, min(left(r), float64(whole)*kind.Bps))
				n -= whole
			}
		}
		for ; n > 0; n-- {
			best := slices.MaxFunc(paths, func(a, b room) int { return cmp.Compare(left(a), left(b)) })
			if !(left(best) > 0) {
				break
			}
			take(best, left(best))
		}
	}
	return sum
}

func descending(a, b float64) int { return cmp.Compare(b, a) }

// ExpectedBps returns the mean rate of all flows together if they share links max-min fairly. A link
// of the first tier carries its rate, or what all links behind it carry if that is less. It returns
// false if that is not known exactly (see Draw).
func (t Tiers) ExpectedBps(kinds []Kind) (float64, bool) {
	if len(t.Second) == 0 {
		return t.First.ExpectedBps(kinds)
	}
	bundles, _ := totals(kinds)
	if !allElastic(kinds) {
		return 0, false
	}
	sum, last := 0.0, 0.0
	rows := t.chances()
	for i, row := range rows {
		// Routers with equal links carry the same.
		if i == 0 || t.First[i] != t.First[i-1] || !slices.Equal(row, rows[i-1]) {
			var ok bool
			if last, ok = t.behind(t.First[i].RateBps, row, bundles); !ok {
				return 0, false
			}
		}
		sum += last
	}
	return sum, true
}

// behind returns what a link of the first tier carries on average, if its flows take the links
// behind it with these probabilities.
func (t Tiers) behind(rateBps float64, row []float64, bundles int) (float64, bool) {
	total := floats.Sum(row)
	conditional := floats.ScaleTo(make([]float64, len(row)), 1/total, row)
	o, ok := newOccupancy(classes(conditional, t.Second.rates()))
	if !ok {
		return 0, false
	}
	// A binomial number of flows falls on this link. Each number uses a certain part of the links
	// behind it.
	first, chances := binomial(bundles, total)
	carried := o.sums(func(c class) float64 { return c.rateBps })
	mean := 0.0
	for x, chance := range chances {
		if !o.after(first+x) || x*len(carried) > mostSteps {
			return 0, false
		}
		for state, sum := range carried {
			mean += chance * o.chance[state] * min(rateBps, sum)
		}
	}
	return mean, true
}
