package suspects

import (
	"cmp"
	"math"
	"slices"

	"linerate/internal/model/record"
	"linerate/internal/science/stats"
)

// parts of the error rate of a look at a mesh that the statements of each family may use: half of it
// those about hosts, which most meshes are made for.
var parts = map[string]float64{
	record.MeshHost: 1. / 2, record.MeshUplink: 1. / 6, record.MeshRacks: 1. / 6, record.MeshPair: 1. / 6,
}

const (
	perLook        = 2  // looks that share Level
	mostCandidates = 12 // that are tested again
	// eachDirection is the probability by chance that each direction of a host may have at most for both
	// to be slow.
	eachDirection = 0.01
	// leastRackHosts is how many hosts a rack needs for a statement about it: a fault of one is its own.
	leastRackHosts = 2
)

// group is what a suspect would be: all cells of a host, a rack or a pair of racks.
type group struct {
	what   record.MeshSuspect // Kind, Host, From, To
	family string
	cells  []int32
	// halves are the two directions of a host, each of which has to be slow.
	halves [2][]int32
	taken  bool
}

// has reports whether a pair belongs to a suspect.
func (s *sample) has(what record.MeshSuspect, from, to int) bool {
	rack := func(host int) string { return s.in.Hosts[host].Rack }
	name := func(host int) string { return s.in.Hosts[host].Name }
	switch what.Kind {
	case record.MeshSends:
		return name(from) == what.Host
	case record.MeshReceives:
		return name(to) == what.Host
	case record.MeshHost:
		return name(from) == what.Host || name(to) == what.Host
	case record.MeshPair:
		return name(from) == what.From && name(to) == what.To
	case record.MeshRacks:
		return rack(from) == what.From && rack(to) == what.To
	case record.MeshUplink:
		return rack(from) != rack(to) && (what.From != "" && rack(from) == what.From ||
			what.To != "" && rack(to) == what.To)
	}
	return false
}

// explanation is the search for groups that differ, the worst first.
type explanation struct {
	s      *sample
	groups []group
	tests  map[string]float64 // by family
	ranks  ranks
}

func newExplanation(s *sample) *explanation {
	e := &explanation{s: s, tests: map[string]float64{}, ranks: newRanks(s.cells)}
	hosts, racks := len(s.in.Hosts), len(s.racks)
	by := make([][]int32, 3*hosts+2*racks+racks*racks)
	rackHosts := make([]int, racks)
	for _, r := range s.rackOf {
		if r >= 0 {
			rackHosts[r]++
		}
	}
	for i, c := range s.cells {
		put := func(g int) { by[g] = append(by[g], int32(i)) }
		put(c.from)
		put(hosts + c.to)
		put(2*hosts + c.from)
		put(2*hosts + c.to)
		if a, b := s.rackOf[c.from], s.rackOf[c.to]; a >= 0 && b >= 0 && a != b {
			put(3*hosts + a)
			put(3*hosts + racks + b)
			put(3*hosts + 2*racks + a*racks + b)
		}
	}
	for n, cells := range by {
		var what record.MeshSuspect
		family := record.MeshHost
		at := n - 3*hosts
		switch {
		case at < 0:
			what.Kind = []string{record.MeshSends, record.MeshReceives, record.MeshHost}[n/hosts]
			what.Host = s.in.Hosts[n%hosts].Name
		case at < 2*racks:
			what.Kind, family = record.MeshUplink, record.MeshUplink
			if at < racks {
				what.From = s.racks[at]
			} else {
				what.To = s.racks[at-racks]
			}
			if racks < 3 || rackHosts[at%racks] < leastRackHosts {
				continue
			}
		default:
			a, b := (at-2*racks)/racks, (at-2*racks)%racks
			what.Kind, family, what.From, what.To = record.MeshRacks, record.MeshRacks, s.racks[a], s.racks[b]
			if rackHosts[a] < leastRackHosts || rackHosts[b] < leastRackHosts {
				continue
			}
		}
		if len(cells) > 1 {
			g := group{what: what, family: family, cells: cells}
			if what.Kind == record.MeshHost {
				g.halves = [2][]int32{by[n%hosts], by[hosts+n%hosts]}
			}
			e.groups = append(e.groups, g)
			e.tests[family]++
		}
	}
	return e
}

// corrected makes a probability one for all statements of a mesh.
func (e *explanation) corrected(family string, p float64) float64 {
	return min(1, p*e.tests[family]/parts[family]*perLook)
}

// search fills suspects and candidates.
func (e *explanation) search(c *record.MeshConclusion) {
	if c.Hosts < 3 {
		c.Untold = record.MeshFewHostsUntold
		return
	}
	least := e.reachable()
	few := max(1, c.Hosts/4)
	suspected := map[string]bool{}
	for len(c.Suspects) <= few+len(e.s.racks) {
		g, suspect := e.next(func(p, all float64) bool { return all <= Level })
		if g == nil {
			break
		}
		c.Suspects = append(c.Suspects, suspect)
		e.take(g, suspect.Ratio)
		if g.family == record.MeshHost {
			suspected[g.what.Host] = true
		}
	}
	if len(suspected) > few {
		c.Untold, c.Suspects = record.MeshUnlikeUntold, nil
		return
	}
	e.pairs(c)
	total := 0.0
	for _, n := range e.tests {
		total += n
	}
	bound := min(0.2, max(0.003, 1/total))
	for n := 0; n < mostCandidates; n++ {
		g, candidate := e.next(func(p, all float64) bool { return p <= bound })
		if g == nil {
			break
		}
		// Two faults hide each other: beside one that the rounds do not tell, the other may be certain.
		if candidate.P <= Level {
			c.Suspects = append(c.Suspects, candidate)
		} else {
			c.Candidates = append(c.Candidates, candidate)
		}
		e.take(g, candidate.Ratio)
	}
	if len(c.Suspects) == 0 && least > Level {
		c.Untold, c.NeedRounds = record.MeshFewPairsUntold, e.needRounds()
	}
	merge(c)
}

// next returns the group that differs most among those that a bound accepts, by its probability
// before and after the correction.
func (e *explanation) next(accept func(p, all float64) bool) (*group, record.MeshSuspect) {
	type tested struct {
		g      *group
		p, all float64 // logarithms
	}
	var list []tested
	for i := range e.groups {
		g := &e.groups[i]
		if g.taken {
			continue
		}
		p := e.ranks.slower(e.s.cells, g.cells, e.s.margin)
		all := p + math.Log(looks*e.tests[g.family]/parts[g.family]*perLook)
		for _, half := range g.halves {
			if half != nil && p < 0 && e.ranks.slower(e.s.cells, half, e.s.margin) > math.Log(eachDirection) {
				p = 0
			}
		}
		if p < 0 && accept(math.Exp(p), math.Exp(all)) {
			list = append(list, tested{g, p, all})
		}
	}
	slices.SortStableFunc(list, func(a, b tested) int { return cmp.Compare(a.all, b.all) })
	for _, t := range list {
		d, low, high := e.ranks.ratio(e.s.cells, t.g.cells)
		if d > -e.s.margin {
			continue
		}
		suspect := t.g.what
		e.s.measure(&suspect, t.g.cells, d, low, high)
		suspect.P = min(1, math.Exp(t.all))
		return t.g, suspect
	}
	return nil, record.MeshSuspect{}
}

// measure fills the figures of a suspect: its cells that are not explained, and by how much they
// differ.
func (s *sample) measure(suspect *record.MeshSuspect, cells []int32, d, low, high float64) {
	suspect.Ratio, suspect.Low, suspect.High = s.ratio(d), s.ratio(low), s.ratio(high)
	if s.in.Latency {
		suspect.Low, suspect.High = suspect.High, suspect.Low
	}
	var values, limits []float64
	for _, i := range cells {
		if c := s.cells[i]; !c.out {
			values = append(values, c.value)
			if c.limit > 0 {
				limits = append(limits, c.limit)
			}
		}
	}
	suspect.Value, suspect.Limit, suspect.Pairs = stats.Median(values), stats.Median(limits), len(values)
}

// ratio is the ratio of values that a difference of logarithms stands for; 0: they fail.
func (s *sample) ratio(d float64) float64 {
	if s.in.Latency && !math.IsInf(d, 0) {
		d = -d
	}
	if r := math.Exp(d); !math.IsInf(r, 1) && !math.IsNaN(r) { // NaN: a failed pair beside others
		return r
	}
	return 0
}

// take explains the cells of a group: those of a host are left out, those between racks are raised
// by what the path takes away, since they are most of what is known of the rack's hosts.
func (e *explanation) take(g *group, ratio float64) {
	g.taken = true
	path := g.family == record.MeshRacks || g.family == record.MeshUplink
	for _, i := range g.cells {
		if c := &e.s.cells[i]; path && ratio > 0 && !failed(c.y) {
			if e.s.in.Latency {
				c.y += math.Log(ratio)
			} else {
				c.y -= math.Log(ratio)
			}
		} else {
			c.out = true
		}
	}
	e.ranks = newRanks(e.s.cells)
}

// reachable is the probability, corrected, of a host of which all pairs are the slowest of all: no
// host can have a lower one.
func (e *explanation) reachable() float64 {
	own := make([]int, len(e.s.in.Hosts))
	for _, c := range e.s.cells {
		own[c.to]++
	}
	return e.least(len(e.s.cells), slices.Max(own))
}

func (e *explanation) least(all, own int) float64 {
	if own == 0 || own >= all {
		return 1
	}
	return e.corrected(record.MeshHost, looks*math.Exp(-choose(all, own)))
}

// needRounds is the least number of rounds, each with every host as sender and receiver, after which
// a slow host can be told.
func (e *explanation) needRounds() int {
	hosts := len(e.s.in.Hosts)
	for n := 1; n < 100; n++ {
		if e.least(n*hosts, n) <= Level {
			return n
		}
	}
	return 0
}

// merge makes one suspect of a host of which both directions are slow, and sorts the worst first.
func merge(c *record.MeshConclusion) {
	for _, list := range []*[]record.MeshSuspect{&c.Suspects, &c.Candidates} {
		var merged []record.MeshSuspect
		for _, s := range *list {
			i := slices.IndexFunc(merged, func(o record.MeshSuspect) bool { return s.Host != "" && o.Host == s.Host })
			if i < 0 {
				merged = append(merged, s)
				continue
			}
			m := &merged[i]
			m.Kind, m.P = record.MeshHost, max(m.P, s.P)
			m.Value, m.Ratio = (m.Value+s.Value)/2, math.Sqrt(m.Ratio*s.Ratio)
			m.Low, m.High, m.Pairs = min(m.Low, s.Low), max(m.High, s.High), m.Pairs+s.Pairs
		}
		slices.SortStableFunc(merged, func(a, b record.MeshSuspect) int {
			return cmp.Compare(-math.Abs(severity(a)), -math.Abs(severity(b)))
		})
		*list = merged
	}
}

// severity orders suspects: the logarithm of the ratio, with failed ones first.
func severity(s record.MeshSuspect) float64 {
	if s.Ratio <= 0 {
		return math.Inf(1)
	}
	return math.Log(s.Ratio)
}
