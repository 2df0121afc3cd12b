package suspects

import (
	"cmp"
	"math"
	"slices"

	plan "linerate/internal/model/mesh"
	"linerate/internal/model/record"
	"linerate/internal/science/stats"
)

const (
	listed = 10 // pairs of MeshConclusion.Worst
	// reaches is the share of a host's pairs that need not reach what is typical: between racks some
	// share links by chance.
	reaches = 0.75
)

// describe fills what needs no test.
func (s *sample) describe(c *record.MeshConclusion) {
	observed := s.in.observed()
	c.Pairs = len(observed)
	wanted := distinct(s.in.Wanted)
	if c.Wanted = len(wanted); c.Wanted == 0 {
		c.Wanted = c.Pairs
	}
	seen := map[plan.Pair]bool{}
	for _, p := range observed {
		seen[p] = true
	}
	for _, p := range wanted {
		if n := len(s.in.Hosts); !seen[p] && len(c.Unmeasured) < record.MeshListed && p[0] >= 0 && p[0] < n &&
			p[1] >= 0 && p[1] < n {
			c.Unmeasured = append(c.Unmeasured, [2]string{s.in.Hosts[p[0]].Name, s.in.Hosts[p[1]].Name})
		}
	}
	var values, limits []float64
	var of [strata][]float64
	byLimit := map[int]*record.MeshLimit{}
	byLimitValues := map[int][]float64{}
	hosts, bad := map[int]bool{}, map[plan.Pair]bool{}
	for _, x := range s.cells {
		hosts[x.from], hosts[x.to] = true, true
		k := class(x.limit)
		if byLimit[k] == nil {
			byLimit[k] = &record.MeshLimit{Limit: x.limit}
		}
		byLimit[k].Pairs++
		if x.limit > 0 {
			limits = append(limits, x.limit)
		}
		if failed(x.y) {
			bad[plan.Pair{x.from, x.to}] = true
			continue
		}
		values, of[x.stratum] = append(values, x.value), append(of[x.stratum], x.value)
		byLimitValues[k] = append(byLimitValues[k], x.value)
	}
	c.Hosts, c.Failed = len(hosts), len(bad)
	c.Typical, c.TypicalLimit, c.All = stats.Median(values), stats.Median(limits), quantilesOf(values)
	if len(s.racks) > 0 {
		c.Within, c.Across = quantilesOf(of[within]), quantilesOf(of[across])
	}
	if len(byLimit) > 1 {
		for k, l := range byLimit {
			l.Typical = stats.Median(byLimitValues[k])
			c.Limits = append(c.Limits, *l)
		}
		slices.SortFunc(c.Limits, func(a, b record.MeshLimit) int {
			return cmp.Or(cmp.Compare(b.Pairs, a.Pairs), cmp.Compare(b.Limit, a.Limit))
		})
	}
	s.effects(c)
	s.worst(c)
	c.Chance = s.chance()
}

func quantilesOf(values []float64) *record.MeshQuantiles {
	if len(values) == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(values))
	at := func(q float64) float64 { return sorted[int(math.Round(q*float64(len(sorted)-1)))] }
	return &record.MeshQuantiles{Pairs: len(sorted), Least: at(0), P1: at(0.01), P5: at(0.05), P25: at(0.25),
		P50: stats.Median(sorted), P75: at(0.75), P95: at(0.95), P99: at(0.99), Most: at(1)}
}

// effects fills what hosts and pairs of racks have in relation to the others.
func (s *sample) effects(c *record.MeshConclusion) {
	sends, receives := make([][2]int, len(s.in.Hosts)), make([][2]int, len(s.in.Hosts)) // pairs, those that failed
	type racks struct{ values, rest []float64 }
	by := map[[2]int]*racks{}
	for i, x := range s.cells {
		sends[x.from][0]++
		receives[x.to][0]++
		if failed(x.y) {
			sends[x.from][1]++
			receives[x.to][1]++
			continue
		}
		if a, b := s.rackOf[x.from], s.rackOf[x.to]; a >= 0 && b >= 0 {
			at := by[[2]int{a, b}]
			if at == nil {
				at = &racks{}
				by[[2]int{a, b}] = at
			}
			at.values, at.rest = append(at.values, x.value), append(at.rest, s.rest[i])
		}
	}
	for i, h := range s.in.Hosts {
		if sends[i][0]+receives[i][0] == 0 {
			continue
		}
		e := record.MeshEffect{Host: h.Name, SendsPairs: sends[i][0], ReceivesPairs: receives[i][0]}
		if sends[i][1] < sends[i][0] {
			e.Sends = s.ratio(s.tx[i])
		}
		if receives[i][1] < receives[i][0] {
			e.Receives = s.ratio(s.rx[i])
		}
		c.Effects = append(c.Effects, e)
	}
	for a, from := range s.racks {
		for b, to := range s.racks {
			if at := by[[2]int{a, b}]; at != nil {
				c.Racks = append(c.Racks, record.MeshRackPair{From: from, To: to, Value: stats.Median(at.values),
					Ratio: s.ratio(stats.Median(at.rest)), Pairs: len(at.values)})
			}
		}
	}
}

// worst fills the slowest pairs.
func (s *sample) worst(c *record.MeshConclusion) {
	e := explanation{s: s, ranks: newRanks(s.cells), tests: map[string]float64{record.MeshPair: float64(len(s.cells))}}
	var list []int32
	tails := [strata]tail{}
	for stratum, sorted := range e.ranks.sorted {
		list = append(list, e.slowest(stratum, listed)...)
		for len(sorted) > 0 && failed(sorted[0]) {
			sorted = sorted[1:]
		}
		tails[stratum] = newTail(sorted, pairCandidates, s.margin)
	}
	slices.SortStableFunc(list, func(a, b int32) int { return cmp.Compare(s.cells[a].y, s.cells[b].y) })
	for _, i := range list[:min(len(list), listed)] {
		x := s.cells[i]
		p := record.MeshPairValue{From: s.in.Hosts[x.from].Name, To: s.in.Hosts[x.to].Name, Value: x.value, P: 1}
		if p.Failed = failed(x.y); !p.Failed {
			p.Ratio = s.ratio(s.rest[i])
			p.P = min(1, tails[x.stratum].slower(x.y)*float64(len(s.cells)))
			if s.explainedByChance(x) {
				p.P = 1
			}
		}
		c.Worst = append(c.Worst, p)
	}
}

// typicalHosts counts hosts that are no suspects and of which enough pairs, in each direction that was
// measured, reach what is typical within the margin.
func (s *sample) typicalHosts(c *record.MeshConclusion) {
	c.TypicalHosts = 0
	suspected := map[string]bool{}
	for _, x := range c.Suspects {
		suspected[x.Host] = true
	}
	n := len(s.in.Hosts)
	of := make([][]float64, 2*n)
	var all [strata][]float64
	for _, x := range s.cells {
		all[x.stratum] = append(all[x.stratum], x.y)
	}
	var typical [strata]float64
	for stratum, values := range all {
		typical[stratum] = stats.Median(values)
	}
	for _, x := range s.cells {
		d := x.y - typical[x.stratum]
		of[x.from], of[n+x.to] = append(of[x.from], d), append(of[n+x.to], d)
	}
	for i, h := range s.in.Hosts {
		ok := !suspected[h.Name] && len(of[i])+len(of[n+i]) > 0
		for _, values := range [][]float64{of[i], of[n+i]} {
			if len(values) > 0 {
				sorted := slices.Sorted(slices.Values(values))
				ok = ok && sorted[min(len(sorted)-1, int(reaches*float64(len(sorted))))] >= -s.margin
			}
		}
		if ok {
			c.TypicalHosts++
		}
	}
}

// sharing are the ratios to the typical value at which pairs accumulate whose flows share links.
var sharing = []float64{3. / 4, 2. / 3, 1. / 2, 1. / 3, 1. / 4}

// chance returns what placements of flows explain: by theory if flows and links are known, and by
// where pairs between racks accumulate. Nil: nothing.
func (s *sample) chance() *record.MeshChance {
	const near, leastShare, leastPairs, above = 0.03, 0.05, 8, 3
	var list []float64
	for _, c := range s.cells {
		if c.stratum == across && !failed(c.y) {
			list = append(list, c.y)
		}
	}
	var m record.MeshChance
	if least, known := s.in.placed(Level / float64(max(1, len(list)))); known && len(list) > 0 {
		m.Flows, m.Links, m.Least = s.in.Flows, s.in.Links, least
	}
	if len(list) >= leastPairs && !s.in.Latency {
		slices.Sort(list)
		top := list[int(0.9*float64(len(list)))] // also if more than half share
		count := func(low, high float64) int {
			a, _ := slices.BinarySearch(list, top+math.Log(low))
			b, _ := slices.BinarySearch(list, top+math.Log(high))
			return b - a
		}
		for _, r := range sharing {
			n := count(r*(1-near), r*(1+near))
			flanks := count(r*(1-2*near), r*(1-near)) + count(r*(1+near), r*(1+2*near))
			if n >= leastPairs && float64(n) >= leastShare*float64(len(list)) && n >= above*flanks {
				m.Shares, m.Pairs = append(m.Shares, r), m.Pairs+float64(n)/float64(len(list))
			}
		}
	}
	if m.Least == 0 && m.Shares == nil {
		return nil
	}
	return &m
}
