package mesh

import (
	"math"
	"slices"
	"sort"
)

// shares are the parts of all pairs among which the pairs of a group are counted: among the slowest
// 1 % to 70 %, and the share that the group has of all. If many pairs are slow by chance and few are
// fast, it is telling that none of the group is among the fast ones; if pairs differ little, that
// all are among the slowest.
var shares = []float64{0.01, 0.05, 0.15, 0.3, 0.5, 0.7}

// looks is how many tests of a group there are.
var looks = float64(len(shares) + 1)

// ranks has, for each stratum, the values of all cells that are not explained, sorted.
type ranks struct{ sorted [strata][]float64 }

func newRanks(cells []cell) (r ranks) {
	for _, c := range cells {
		if !c.out {
			r.sorted[c.stratum] = append(r.sorted[c.stratum], c.y)
		}
	}
	for _, values := range r.sorted {
		slices.Sort(values)
	}
	return r
}

// of returns the share of a stratum that is slower than y; of what is as slow, half.
func (r ranks) of(stratum int, y float64) float64 {
	values := r.sorted[stratum]
	if len(values) == 0 {
		return 0.5
	}
	below := sort.SearchFloat64s(values, y)
	upto := below + sort.Search(len(values)-below, func(i int) bool { return values[below+i] > y })
	return (float64(below) + float64(upto)) / 2 / float64(len(values))
}

func (r ranks) cells() (n int) {
	for _, values := range r.sorted {
		n += len(values)
	}
	return n
}

// slower returns the logarithm of the probability that a group of cells is slower than the others by
// more than the margin if its cells are drawn from all at random: the least of several looks, which
// is not corrected for their number.
func (r ranks) slower(cells []cell, group []int32, margin float64) float64 {
	all, own := r.cells(), 0
	at := append(slices.Clone(shares), 0)
	for _, i := range group {
		if !cells[i].out {
			own++
		}
	}
	if own == 0 || own == all {
		return 0
	}
	at[len(at)-1] = float64(own) / float64(all)
	shifted, plain := make([]int, len(at)), make([]int, len(at))
	for _, i := range group {
		c := &cells[i]
		if c.out {
			continue
		}
		u, v := r.of(c.stratum, c.y+margin), r.of(c.stratum, c.y)
		for k, share := range at {
			if u < share {
				shifted[k]++
			}
			if v < share {
				plain[k]++
			}
		}
	}
	least := 0.0
	for k, share := range at {
		below := 0
		for stratum, values := range r.sorted {
			below += r.below(stratum, share, len(values))
		}
		others := max(0, below-plain[k])
		least = min(least, hypergeometric(all, own, others+shifted[k], shifted[k]))
	}
	return least
}

// below returns how many of a stratum's n cells have a rank below share.
func (r ranks) below(stratum int, share float64, n int) int {
	values := r.sorted[stratum]
	at := min(n, int(math.Ceil(share*float64(n))))
	for at > 0 && r.of(stratum, values[at-1]) >= share {
		at--
	}
	for at < n && r.of(stratum, values[at]) < share {
		at++
	}
	return at
}

// hypergeometric returns the logarithm of the probability that of n cells, drawn from all without
// replacement, at least k are among the slow ones.
func hypergeometric(all, n, slow, k int) float64 {
	if most := min(n, slow); k <= max(0, n+slow-all) || k > most {
		return 0
	}
	at := func(k int) float64 {
		return choose(slow, k) + choose(all-slow, n-k) - choose(all, n)
	}
	first := at(k)
	sum := 0.0
	for j := k; j <= min(n, slow); j++ {
		term := math.Exp(at(j) - first)
		if sum += term; term < 1e-12*sum {
			break
		}
	}
	return min(0, first+math.Log(sum))
}

// choose is the logarithm of the number of ways to choose k of n.
func choose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

// points is how many quantiles of the others a group is compared with, and mostOwn how many of the
// group's cells.
const points, mostOwn = 64, 256

// ratio returns by how much a group is slower than the others, as a difference of logarithms (-Inf:
// it fails), with its 95 % interval: the median of all differences between a cell of the group and
// one of the others of its stratum (Hodges and Lehmann, 1963).
func (r ranks) ratio(cells []cell, group []int32) (estimate, low, high float64) {
	var own [strata][]float64
	n := 0
	for _, i := range group {
		if c := cells[i]; !c.out {
			own[c.stratum] = append(own[c.stratum], c.y)
			n++
		}
	}
	type weighted struct{ d, w float64 }
	var list []weighted
	total, others := 0.0, 0
	for stratum, mine := range own {
		rest := without(r.sorted[stratum], mine)
		if len(mine) == 0 || len(rest) == 0 {
			continue
		}
		others += len(rest)
		few := quantiles(mine, mostOwn)
		pool := quantiles(rest, points)
		w := float64(len(mine)) / float64(len(few)*len(pool))
		for _, y := range few {
			for _, z := range pool {
				d := y - z
				if math.IsNaN(d) { // both failed
					d = 0
				}
				list = append(list, weighted{d, w})
				total += w
			}
		}
	}
	if len(list) == 0 {
		return 0, math.Inf(-1), math.Inf(1)
	}
	slices.SortFunc(list, func(a, b weighted) int {
		switch {
		case a.d < b.d:
			return -1
		case a.d > b.d:
			return 1
		}
		return 0
	})
	at := func(share float64) float64 {
		sum := 0.0
		for _, l := range list {
			if sum += l.w; sum >= share*total {
				return l.d
			}
		}
		return list[len(list)-1].d
	}
	half := 1.96 * math.Sqrt(float64(n+others+1)/(12*float64(n)*float64(others)))
	return at(0.5), at(max(0, 0.5-half)), at(min(1, 0.5+half))
}

// without returns sorted values without some of them.
func without(sorted, some []float64) (rest []float64) {
	some = slices.Sorted(slices.Values(some))
	for _, v := range sorted {
		if len(some) > 0 && v == some[0] {
			some = some[1:]
			continue
		}
		rest = append(rest, v)
	}
	return rest
}

// quantiles returns n quantiles of values, or all if there are no more.
func quantiles(values []float64, n int) []float64 {
	sorted := slices.Sorted(slices.Values(values))
	if len(sorted) <= n {
		return sorted
	}
	few := make([]float64, n)
	for i := range few {
		few[i] = sorted[int((float64(i)+0.5)/float64(n)*float64(len(sorted)))]
	}
	return few
}
