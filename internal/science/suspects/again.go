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
	// ownPairs is how often a suspect is tested again, fewPairs that among few hosts, and repeated how
	// often a single pair.
	ownPairs, fewPairs, repeated = 16, 8, 8
	mostPartners                 = 24
	controls                     = 4 // pairs of partners with each other, as a multiple of a suspect's
)

// Again returns the pairs to measure again, in any rounds: those of each suspect and candidate with
// partners that no suspect concerns and that were the best, in several racks, and the partners with
// each other, with which they are compared. A pair that is listed twice is measured twice.
func Again(in Input, c record.MeshConclusion) (pairs []plan.Pair) {
	suspects := slices.Concat(c.Suspects, c.Candidates)
	if len(suspects) == 0 || len(in.Hosts) < 3 {
		return nil
	}
	s := newSample(in)
	own := ownPairs
	if len(in.Hosts) <= ownPairs/2 {
		own = fewPairs
	}
	best := s.partners(suspects)
	if len(best) < 2 {
		return nil
	}
	partners := best[:min(len(best), mostPartners)]
	for k, what := range suspects {
		pairs = append(pairs, s.again(what, rotated(partners, k*own), own)...)
	}
	n := 0
	for shift := 1; n < controls*own; shift++ {
		if shift >= len(partners) {
			shift = 1
		}
		for i, from := range partners {
			if to := partners[(i+shift)%len(partners)]; s.like(from, to) {
				pairs = append(pairs, plan.Pair{from, to})
			}
			n++
		}
	}
	return pairs
}

func rotated(list []int, by int) []int {
	by %= len(list)
	return slices.Concat(list[by:], list[:by])
}

// like reports whether a pair is of the kind that controls are: between racks, if there are several.
func (s *sample) like(from, to int) bool {
	return len(s.racks) < 2 || s.rackOf[from] != s.rackOf[to]
}

// partners returns hosts that no suspect concerns, the best first, of each rack in turn.
func (s *sample) partners(suspects []record.MeshSuspect) (list []int) {
	measured := make([]bool, len(s.in.Hosts))
	for _, c := range s.cells {
		if !failed(c.y) {
			measured[c.from], measured[c.to] = true, true
		}
	}
	by := map[int][]int{}
	for i, h := range s.in.Hosts {
		concerned := slices.ContainsFunc(suspects, func(x record.MeshSuspect) bool {
			return x.Host == h.Name || x.Kind == record.MeshPair && (x.From == h.Name || x.To == h.Name) ||
				(x.Kind == record.MeshRacks || x.Kind == record.MeshUplink) && h.Rack != "" &&
					(x.From == h.Rack || x.To == h.Rack)
		})
		if measured[i] && !concerned {
			by[s.rackOf[i]] = append(by[s.rackOf[i]], i)
		}
	}
	order := make([]int, 0, len(by))
	for r, hosts := range by {
		order = append(order, r)
		slices.SortStableFunc(hosts, func(a, b int) int {
			return cmp.Compare(min(s.tx[b], s.rx[b]), min(s.tx[a], s.rx[a]))
		})
	}
	slices.Sort(order)
	for k := 0; ; k++ {
		before := len(list)
		for _, r := range order {
			if k < len(by[r]) {
				list = append(list, by[r][k])
			}
		}
		if len(list) == before {
			return list
		}
	}
}

// again returns pairs of a suspect with partners. Of racks they are few at a time, as those of partners
// with each other are: two hosts are the other end of all.
func (s *sample) again(what record.MeshSuspect, partners []int, own int) (pairs []plan.Pair) {
	of := func(is func(plan.Host) bool) (hosts []int) {
		for i, h := range s.in.Hosts {
			if is(h) {
				hosts = append(hosts, i)
			}
		}
		return hosts
	}
	named := func(name string) []int { return of(func(h plan.Host) bool { return h.Name == name }) }
	in := func(rack string) []int { return of(func(h plan.Host) bool { return h.Rack == rack }) }
	var from, to []int
	switch what.Kind {
	case record.MeshPair:
		from, to, own = named(what.From), named(what.To), repeated
	case record.MeshSends:
		from, to = named(what.Host), partners
	case record.MeshReceives:
		from, to = partners, named(what.Host)
	case record.MeshHost:
		receives, sends := what, what
		receives.Kind, sends.Kind = record.MeshReceives, record.MeshSends
		return append(s.again(sends, partners, own), s.again(receives, partners, own)...)
	case record.MeshRacks:
		from, to = in(what.From), s.best(in(what.To), s.rx)
	case record.MeshUplink:
		if from, to = in(what.From), partners[:min(2, len(partners))]; what.From == "" {
			from, to = to, in(what.To)
		}
	}
	// First the pairs between racks: what differs between racks is the more frequent.
	for _, like := range []bool{true, false} {
		for k := 0; k < 4*own && len(from) > 0 && len(to) > 0 && len(pairs) < own; k++ {
			at := k % len(from)
			f, t := from[at], to[(at+k/len(from))%len(to)]
			if f != t && s.like(f, t) == like {
				pairs = append(pairs, plan.Pair{f, t})
			}
		}
	}
	return pairs
}

// best returns the two hosts with the best effects.
func (s *sample) best(hosts []int, effects []float64) []int {
	slices.SortStableFunc(hosts, func(a, b int) int { return cmp.Compare(effects[b], effects[a]) })
	return hosts[:min(2, len(hosts))]
}

// Confirm returns the conclusion of the planned rounds with what added rounds say about its suspects
// and candidates, by the observations of these alone, which are compared with those of the same rounds
// that no suspect or candidate concerns. Candidates that they show become suspects; others that were
// tested are dropped. A suspect that they do not show stays, not confirmed: it differed in the
// planned rounds.
func Confirm(planned, added Input, c record.MeshConclusion) record.MeshConclusion {
	before := newSample(planned)
	s := before.added(added)
	all := slices.Concat(c.Suspects, c.Candidates)
	controls := make([]bool, len(s.cells))
	n := 0
	for i, x := range s.cells {
		controls[i] = !slices.ContainsFunc(all, func(what record.MeshSuspect) bool { return s.has(what, x.from, x.to) })
		if controls[i] {
			n++
		}
	}
	if n == 0 {
		return c
	}
	tests := float64(len(all))
	again := func(what record.MeshSuspect) *record.MeshAgain {
		own, cells := s.against(controls, func(c cell) bool { return s.has(what, c.from, c.to) })
		if len(own) == 0 {
			return nil
		}
		r := newRanks(cells)
		p := math.Exp(r.slower(cells, own, s.margin)) * looks * tests * perLook
		d, low, high := r.ratio(cells, own)
		a := &record.MeshAgain{Ratio: s.ratio(d), Low: s.ratio(low), High: s.ratio(high), P: min(1, p), Pairs: len(own),
			Controls: len(cells) - len(own)}
		if added.Latency {
			a.Low, a.High = a.High, a.Low
		}
		var values []float64
		for _, i := range own {
			values = append(values, cells[i].value)
		}
		a.Value = stats.Median(values)
		return a
	}
	judge := func(list []record.MeshSuspect) []record.MeshSuspect {
		judged := slices.Clone(list)
		for i := range judged {
			x := &judged[i]
			if x.Again = again(*x); x.Again != nil {
				x.Confirmed = x.Again.P <= Level && s.beyond(x.Again.Ratio)
			}
		}
		return judged
	}
	suspects, candidates := judge(c.Suspects), judge(c.Candidates)
	c.Suspects, c.Candidates = suspects, nil
	for _, x := range candidates {
		switch {
		case x.Confirmed:
			x.P = x.Again.P
			c.Suspects = append(c.Suspects, x)
		case x.Again == nil:
			c.Candidates = append(c.Candidates, x)
		}
	}
	merge(&c)
	c.Suspects = before.explained(c.Suspects)
	if len(c.Suspects) > 0 && c.Untold == record.MeshFewPairsUntold {
		c.Untold, c.NeedRounds = "", 0
	}
	before.typicalHosts(&c)
	return c
}

// explained returns suspects without single pairs that another suspect has, if the added rounds show
// these no slower than that one.
func (s *sample) explained(suspects []record.MeshSuspect) (list []record.MeshSuspect) {
	places := map[string]int{}
	for i, h := range s.in.Hosts {
		places[h.Name] = i
	}
	for _, x := range suspects {
		by := func(o record.MeshSuspect) bool {
			return o.Kind != record.MeshPair && o.Again != nil && s.has(o, places[x.From], places[x.To]) &&
				!(o.Again.Ratio > 0 && s.beyond(x.Again.Ratio/o.Again.Ratio))
		}
		if x.Kind != record.MeshPair || x.Again == nil || !slices.ContainsFunc(suspects, by) {
			list = append(list, x)
		}
	}
	return list
}

// against returns the cells of a suspect among those of controls in the same rounds, since others may
// have had more or less traffic; if these are fewer than its own, among all. Pairs within a rack, of
// which controls are none, are compared with pairs between racks, which are no faster.
func (s *sample) against(controls []bool, has func(cell) bool) (own []int32, cells []cell) {
	rounds, n := map[int]bool{}, 0
	for _, c := range s.cells {
		if has(c) {
			rounds[c.round] = true
			n++
		}
	}
	same, others := 0, [strata]int{}
	for i, c := range s.cells {
		if controls[i] && rounds[c.round] {
			same++
		}
	}
	for i, c := range s.cells {
		if has(c) {
			own = append(own, int32(len(cells)))
			cells = append(cells, c)
		} else if controls[i] && (rounds[c.round] || same < n) {
			cells = append(cells, c)
			others[c.stratum]++
		}
	}
	if others[within] == 0 {
		for i := range cells {
			cells[i].stratum = across
		}
	}
	return own, cells
}
