package suspects

import (
	"math"
	"slices"

	plan "linerate/internal/model/mesh"
	"linerate/internal/model/record"
	"linerate/internal/science/stats"
)

// pairsPerHost is how many pairs of each host both meshes have to have for them to be compared pair by
// pair.
const pairsPerHost = 3

// Compare says what changed from one mesh to another, by the planned rounds of both. Pairs that both
// measured are compared with themselves, so that what is slow in both is no change. If few are, as with
// two seeds of triage, hosts and racks that are suspects of one mesh alone changed, if the interval of
// their ratio in the other does not overlap.
func Compare(from, to *record.Run) record.MeshComparison {
	before, _ := Of(from)
	after, _ := Of(to)
	c := record.MeshComparison{Level: Level}
	c.Margin, _ = after.margin()
	names := func(in Input) map[string]int {
		places := map[string]int{}
		for _, o := range in.Observations {
			for _, i := range []int{o.From, o.To} {
				places[in.Hosts[i].Name] = i
			}
		}
		return places
	}
	a, b := names(before), names(after)
	for _, h := range before.Hosts {
		if _, also := b[h.Name]; !also {
			c.OnlyFrom = append(c.OnlyFrom, h.Name)
		}
	}
	var hosts []plan.Host
	for _, h := range after.Hosts {
		if _, measured := b[h.Name]; !measured {
			continue
		}
		if _, also := a[h.Name]; also {
			hosts = append(hosts, h)
		} else {
			c.OnlyTo = append(c.OnlyTo, h.Name)
		}
	}
	c.Hosts = len(hosts)
	if before.Latency != after.Latency {
		c.Untold = record.MeshMetricUntold
		return c
	}
	if c.Hosts < 2 {
		c.Untold = record.MeshFewHostsUntold
		return c
	}
	p := paired(newSample(before), newSample(after), hosts)
	c.Pairs = len(p.cells)
	if c.Pairs < pairsPerHost*c.Hosts && c.Pairs < c.Hosts*(c.Hosts-1) {
		c.Worse, c.Better = appeared(before, after, from.Mesh, to.Mesh), appeared(after, before, to.Mesh, from.Mesh)
		inverted(c.Better)
		return c
	}
	p.typicalChange(&c)
	for _, better := range []bool{false, true} {
		s := p.sample
		s.cells = slices.Clone(p.cells)
		if better {
			for i := range s.cells {
				s.cells[i].y = -s.cells[i].y
			}
		}
		for i := range s.cells { // what failed before has no lowest value
			s.cells[i].y = min(s.cells[i].y, most)
		}
		changes := record.MeshConclusion{Hosts: c.Hosts}
		newExplanation(&s).search(&changes)
		if better {
			inverted(changes.Suspects)
			c.Better = changes.Suspects
		} else {
			c.Worse = changes.Suspects
		}
		if changes.Untold != "" {
			c.Untold = changes.Untold
		}
	}
	return c
}

// most is the logarithm that the change of a pair counts as that failed in one mesh.
const most = 700

// pairs has the pairs of two meshes; y of a cell is the logarithm of the second value by the first.
type pairs struct {
	sample
	changes []float64 // of the pairs that failed in neither
}

func paired(a, b *sample, hosts []plan.Host) (p pairs) {
	in := Input{Hosts: hosts, Latency: b.in.Latency, Margin: b.in.Margin}
	p.sample = *observed(in)
	places := map[string]int{}
	for i, h := range hosts {
		places[h.Name] = i
	}
	type pair struct{ from, to string }
	of := func(s *sample, c cell) pair { return pair{s.in.Hosts[c.from].Name, s.in.Hosts[c.to].Name} }
	before := map[pair][]cell{}
	for _, c := range a.cells {
		before[of(a, c)] = append(before[of(a, c)], c)
	}
	for _, c := range b.cells {
		names := of(b, c)
		others := before[names]
		if len(others) == 0 || failed(c.y) && failed(others[0].y) {
			continue
		}
		before[names] = others[1:]
		d := c
		d.from, d.to, d.y = places[names.from], places[names.to], c.y-others[0].y
		if !failed(c.y) && !failed(others[0].y) {
			p.changes = append(p.changes, math.Log(c.value/others[0].value))
		}
		p.cells = append(p.cells, d)
	}
	var finite []float64
	for _, c := range p.cells {
		if !math.IsInf(c.y, 0) {
			finite = append(finite, c.y)
		}
	}
	center := stats.Median(finite)
	for i := range p.cells {
		p.cells[i].y -= center
	}
	return p
}

// typicalChange fills the median change with the 95 % interval of a median.
func (p pairs) typicalChange(c *record.MeshComparison) {
	if len(p.changes) == 0 {
		return
	}
	sorted := slices.Sorted(slices.Values(p.changes))
	n := float64(len(sorted))
	half := 1.96 * math.Sqrt(n) / 2
	at := func(i float64) float64 { return math.Exp(sorted[int(max(0, min(n-1, i)))]) }
	c.Ratio, c.Low, c.High = math.Exp(stats.Median(sorted)), at(math.Floor(n/2-half)), at(math.Ceil(n/2+half))
}

// appeared returns suspects of the second mesh that the first shows to have been better.
func appeared(before, after Input, first, second *record.Mesh) (list []record.MeshSuspect) {
	if second.Conclusion == nil {
		return nil
	}
	s := newSample(before)
	r := newRanks(s.cells)
	for _, x := range second.Conclusion.Suspects {
		if first.Conclusion != nil && slices.ContainsFunc(first.Conclusion.Suspects, func(o record.MeshSuspect) bool {
			return o.Kind == x.Kind && o.Host == x.Host && o.From == x.From && o.To == x.To
		}) {
			continue
		}
		var own []int32
		for i, c := range s.cells {
			if s.has(x, c.from, c.to) {
				own = append(own, int32(i))
			}
		}
		if len(own) == 0 {
			continue
		}
		d, low, high := r.ratio(s.cells, own)
		was := record.MeshSuspect{}
		s.measure(&was, own, d, low, high)
		apart := x.High < was.Low
		if after.Latency {
			apart = x.Low > was.High
		}
		if !apart || !(was.Ratio > 0) || !s.beyond(x.Ratio/was.Ratio) {
			continue
		}
		x.Low, x.High = x.Low/was.High, x.High/was.Low
		x.Ratio /= was.Ratio
		list = append(list, x)
	}
	return list
}

// inverted makes ratios of the first mesh to the second ones of the second to the first. Of what failed
// in the first there is none.
func inverted(list []record.MeshSuspect) {
	turn := func(r float64) float64 {
		if r > 0 && r < math.Exp(most/2) && 1/r < math.Exp(most/2) {
			return 1 / r
		}
		return 0
	}
	for i := range list {
		x := &list[i]
		x.Ratio, x.Low, x.High = turn(x.Ratio), turn(x.High), turn(x.Low)
	}
}
