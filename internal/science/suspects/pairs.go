package suspects

import (
	"cmp"
	"math"
	"slices"

	plan "linerate/internal/model/mesh"
	"linerate/internal/model/record"
	"linerate/internal/science/ecmp"
)

const (
	// leastTail is the least number of pairs from which the slow end of their distribution is known.
	leastTail = 30
	// pairCandidates is the most single pairs that are tested again: those that are slower than the
	// slowest of so many is expected to be.
	pairCandidates = 4
	// clusters is the least width of the tail if many pairs are slow: as flows that share links do, they
	// are in narrow clusters, of which the next is so far.
	clusters = 0.15
)

// tail is the slow end of the distribution of pairs: how often one is slower than y, for one that is
// slower than all it is made from. It is exponential in y, as for rates that follow a power law, which
// is no less than what placements of flows on links have.
type tail struct {
	from, width float64 // k of n values are slower than from, by width on average
	k, n        float64 // n 0: it is not known
}

// newTail returns the tail of sorted values, of which none failed. The least of them are left out as
// what is to be judged.
func newTail(sorted []float64, least int, margin float64) (t tail) {
	if len(sorted) < leastTail {
		return t
	}
	rest := sorted[min(least, len(sorted)/10):]
	k := max(10, len(rest)/20)
	t = tail{from: rest[k], k: float64(k), n: float64(len(sorted)), width: margin / 2}
	if slow, _ := slices.BinarySearch(rest, rest[len(rest)/2]-margin); slow >= 10 {
		t.width = clusters
	}
	sum := 0.0
	for _, y := range rest[:k] {
		sum += t.from - y
	}
	t.width = max(t.width, sum/t.k)
	return t
}

// slower is the probability of a pair that is as slow as y.
func (t tail) slower(y float64) float64 {
	if t.n == 0 {
		return 1
	}
	p := (t.k + 1) / t.n
	if d := t.from - y; d > 0 { // the width is an estimate from k values
		p *= math.Pow(1+d/(t.k*t.width), -t.k)
	}
	return min(1, p)
}

// pairs finds single pairs that are slower than chance explains, and those that failed, by what the
// suspects so far leave.
func (e *explanation) pairs(c *record.MeshConclusion) {
	e.tests[record.MeshPair] = float64(e.ranks.cells())
	for stratum, sorted := range e.ranks.sorted {
		failures, _ := slices.BinarySearch(sorted, math.Inf(-1))
		for failures < len(sorted) && failed(sorted[failures]) {
			failures++
		}
		t := newTail(sorted[failures:], pairCandidates, e.s.margin)
		for _, i := range e.slowest(stratum, pairCandidates) {
			what := e.s.pairOf(int(i), stratum, e.ranks)
			one := t.slower(e.s.cells[i].y)
			if e.s.explainedByChance(e.s.cells[i]) {
				one = 1
			}
			all := e.corrected(record.MeshPair, one)
			what.P = all
			switch bad := what.Value == 0; {
			case bad:
				what.P = 1 // that a pair fails is a fact; whether it fails again is not known
				c.Candidates = append(c.Candidates, what)
			case !e.s.beyond(what.Ratio):
			case all <= Level:
				c.Suspects = append(c.Suspects, what)
				e.s.cells[i].out = true
			case one*e.tests[record.MeshPair] <= 1:
				c.Candidates = append(c.Candidates, what)
			}
		}
	}
	e.ranks = newRanks(e.s.cells)
}

// slowest returns the slowest cells of a stratum that are not explained.
func (e *explanation) slowest(stratum, n int) (list []int32) {
	for i, c := range e.s.cells {
		if c.out || c.stratum != stratum {
			continue
		}
		at, _ := slices.BinarySearchFunc(list, c.y, func(o int32, y float64) int {
			return cmp.Compare(e.s.cells[o].y, y)
		})
		if at < n {
			list = slices.Insert(list, at, int32(i))
			list = list[:min(n, len(list))]
		}
	}
	return list
}

// beyond reports whether a ratio differs by more than the margin, to the worse side.
func (s *sample) beyond(ratio float64) bool {
	if s.in.Latency {
		return ratio == 0 || math.Log(ratio) >= s.margin
	}
	return ratio <= 0 || -math.Log(ratio) >= s.margin
}

// pairOf describes a cell as a suspect, in relation to the others of its stratum.
func (s *sample) pairOf(i, stratum int, r ranks) record.MeshSuspect {
	c := s.cells[i]
	what := record.MeshSuspect{Kind: record.MeshPair, From: s.in.Hosts[c.from].Name, To: s.in.Hosts[c.to].Name,
		Value: c.value, Limit: c.limit, Pairs: 1}
	sorted := r.sorted[stratum]
	ratio := func(share float64) float64 {
		return s.ratio(c.y - sorted[min(len(sorted)-1, int(share*float64(len(sorted))))])
	}
	// One value has no interval of its own: it is in relation to most of the others.
	what.Ratio, what.Low, what.High = ratio(0.5), ratio(0.975), ratio(0.025)
	if s.in.Latency {
		what.Low, what.High = what.High, what.Low
	}
	what.High = max(what.High, what.Ratio)
	return what
}

// placed returns what share of its limit a pair between racks has, at least, with all but a
// probability of p; false: it is not known.
func (in Input) placed(p float64) (float64, bool) {
	if in.Flows < 1 || in.Links < 2 || in.Flows > 1024 || in.Links > 1024 || in.Latency {
		return 0, false
	}
	d, ok := ecmp.Alike(in.Links, 1/float64(min(in.Links, in.Flows))).Carried([]ecmp.Kind{{Count: in.Flows}})
	if !ok {
		return 0, false
	}
	return min(1, d.Quantile(p)), true
}

// explainedByChance reports whether a cell between racks is no slower than placements of its flows by
// chance make one in a mesh of this size.
func (s *sample) explainedByChance(c cell) bool {
	if c.stratum != across || failed(c.y) {
		return false
	}
	least, known := s.in.placed(Level / float64(len(s.cells)))
	return known && c.y >= math.Log(least)-s.margin
}

// observed returns the distinct pairs that were observed.
func (in Input) observed() (pairs []plan.Pair) {
	for _, o := range in.Observations {
		pairs = append(pairs, plan.Pair{o.From, o.To})
	}
	return distinct(pairs)
}
