package suspects

import (
	"math"
	"slices"
	"sort"
)

// shares are the parts of the other pairs, the slowest first, among which the pairs of a group are
// counted; 0: before the first of them. If many pairs are slow by chance and few are fast, it is
// telling that none of the group is among the fast ones; if pairs differ little, that all are among
// the slowest.
var shares = []float64{0, 0.01, 0.05, 0.15, 0.3, 0.5, 0.7}

// looks is how many tests of a group there are.
var looks = float64(len(shares))

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

func (r ranks) cells() (n int) {
	for _, values := range r.sorted {
		n += len(values)
	}
	return n
}

// middle returns how many sorted values are below y, and of those that are equal, half.
func middle(sorted []float64, y float64) float64 {
	below := sort.SearchFloat64s(sorted, y)
	upto := below + sort.Search(len(sorted)-below, func(i int) bool { return sorted[below+i] > y })
	return float64(below+upto) / 2
}

// slower returns the logarithm of the probability that a group of cells is slower than the others by
// more than the margin if its cells are drawn from all at random: the least of several looks, which
// is not corrected for their number. If a of n own cells come before the next of the others after b of
// them, then a of the first a+b are own.
func (r ranks) slower(cells []cell, group []int32, margin float64) float64 {
	var mine [strata][]float64
	own := 0
	for _, i := range group {
		if c := cells[i]; !c.out {
			mine[c.stratum] = append(mine[c.stratum], c.y)
			own++
		}
	}
	all := r.cells()
	if own == 0 || own == all {
		return 0
	}
	a, b := make([]int, len(shares)), make([]int, len(shares))
	for stratum, values := range mine {
		slices.Sort(values)
		others := len(r.sorted[stratum]) - len(values)
		for k, share := range shares {
			b[k] += int(math.Ceil(max(0, share*float64(others)-0.5)))
		}
		for _, y := range values {
			u := 0.5
			if others > 0 {
				u = (middle(r.sorted[stratum], y+margin) - middle(values, y+margin)) / float64(others)
			}
			for k, share := range shares {
				if u < share || share == 0 && u <= 0 {
					a[k]++
				}
			}
		}
	}
	least := 0.0
	for k := range shares {
		least = min(least, hypergeometric(all, own, a[k]+b[k], a[k]))
	}
	return least
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
