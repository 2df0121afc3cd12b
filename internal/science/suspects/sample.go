package suspects

import (
	"cmp"
	"math"
	"slices"

	"linerate/internal/science/stats"
)

// fewHosts is the number of hosts below which each measurement of a pair counts by itself: the pairs
// alone are too few to tell anything.
const fewHosts = 6

// cell is a pair, or with few hosts a pair in a round.
type cell struct {
	from, to int
	stratum  int // within: pairs of a rack, or of hosts whose racks are not known; across: other pairs
	// y is the logarithm of the value in relation to what is expected of such a pair, larger is
	// better; -Inf: the pair failed.
	y            float64
	value, limit float64
	round        int
	out          bool // explained by a suspect
}

const (
	within = iota
	across
	strata
)

// sample has the cells of a mesh.
type sample struct {
	in     Input
	cells  []cell
	racks  []string
	rackOf []int // by host; -1: not known
	margin float64
	expected
	// tx and rx are the effects of hosts in the polish, and rest what they leave of each cell.
	tx, rx, rest []float64
}

// newSample returns the pairs of a mesh.
func newSample(in Input) *sample {
	s := observed(in)
	s.expected = expect(s)
	s.expected.of(s.cells)
	s.rounds()
	if len(in.Hosts) >= fewHosts {
		s.collapse()
	}
	s.polish()
	return s
}

// added returns the observations of further rounds, each by itself, in relation to what is expected in
// a mesh.
func (s *sample) added(in Input) *sample {
	a := observed(in)
	s.expected.of(a.cells)
	a.rounds()
	return a
}

func observed(in Input) *sample {
	s := &sample{in: in, rackOf: make([]int, len(in.Hosts))}
	_, s.margin = in.margin()
	for i, h := range in.Hosts {
		s.rackOf[i] = -1
		if h.Rack == "" {
			continue
		}
		if s.rackOf[i] = slices.Index(s.racks, h.Rack); s.rackOf[i] < 0 {
			s.rackOf[i], s.racks = len(s.racks), append(s.racks, h.Rack)
		}
	}
	for _, o := range in.Observations {
		n := len(in.Hosts)
		if o.From < 0 || o.From >= n || o.To < 0 || o.To >= n || o.From == o.To {
			continue
		}
		c := cell{from: o.From, to: o.To, value: o.Value, limit: s.limit(o), round: o.Round, y: math.Inf(-1)}
		if !o.Failed && o.Value > 0 && !math.IsInf(o.Value, 1) {
			if c.y = math.Log(o.Value); in.Latency {
				c.y = -c.y
			}
		} else {
			c.value = 0
		}
		if a, b := s.rackOf[o.From], s.rackOf[o.To]; a != b || a < 0 && len(s.racks) > 0 {
			c.stratum = across
		}
		s.cells = append(s.cells, c)
	}
	return s
}

// limit returns the limit of an observation, or the rate of the slower interface; 0: not known.
func (s *sample) limit(o Observation) float64 {
	a, b := s.in.Hosts[o.From].RateBps, s.in.Hosts[o.To].RateBps
	switch {
	case s.in.Latency:
		return 0
	case o.Limit > 0 && !math.IsInf(o.Limit, 1):
		return o.Limit
	case a > 0 && b > 0 && !math.IsInf(min(a, b), 1):
		return min(a, b)
	}
	return 0
}

const (
	// designed is how many hosts have to share a limit for it to be meant: one of fewer, such as that
	// of an interface that negotiated too low a rate, is no excuse.
	designed = 3
	// alike is the relative difference of limits that are the same.
	alike = 0.01
)

// expected has what pairs of each class of limits are compared with.
type expected struct {
	hosts  map[int]int     // of which this is the best limit
	most   int             // the class of most hosts
	center map[int]float64 // median of y of the pairs that are compared with this class
}

// usual returns the class with which pairs of a limit are compared: its own or, if few hosts have it,
// that of most.
func (e expected) usual(limit float64) int {
	k := class(limit)
	if k == 0 || e.hosts[k] < designed && 3*e.hosts[k] <= e.hosts[e.most] {
		return e.most
	}
	return k
}

func expect(s *sample) expected {
	e := expected{hosts: map[int]int{}, center: map[int]float64{}}
	best := make([]float64, len(s.in.Hosts))
	for _, c := range s.cells {
		best[c.from], best[c.to] = max(best[c.from], c.limit), max(best[c.to], c.limit)
	}
	for _, b := range best {
		if k := class(b); k != 0 {
			e.hosts[k]++
		}
	}
	for k, n := range e.hosts {
		if n > e.hosts[e.most] || n == e.hosts[e.most] && k > e.most {
			e.most = k
		}
	}
	values := map[int][]float64{}
	for _, c := range s.cells {
		if k := e.usual(c.limit); !failed(c.y) {
			values[k] = append(values[k], c.y-rate(k))
		}
	}
	for k, v := range values {
		e.center[k] = stats.Median(v)
	}
	return e
}

// of makes y relative to what is expected.
func (e expected) of(cells []cell) {
	for i := range cells {
		k := e.usual(cells[i].limit)
		cells[i].y -= rate(k)
		if e.hosts[k] < designed {
			k = e.most
		}
		cells[i].y -= e.center[k]
	}
}

// rate is the logarithm of the limits of a class.
func rate(class int) float64 { return float64(class) * math.Log1p(alike) }

// class numbers a limit, so that limits that differ by rounding have one number; 0: it is not known.
func class(limit float64) int {
	if !(limit > 1) {
		return 0
	}
	return max(1, int(math.Round(math.Log(limit)/math.Log1p(alike))))
}

func failed(y float64) bool { return math.IsInf(y, -1) }

// rounds takes out what the pairs of a round have in common, if rounds have most hosts in both
// directions: otherwise that may be a host's.
func (s *sample) rounds() {
	const leastPairs = 12
	by := map[int][]float64{}
	var all []float64
	for _, c := range s.cells {
		if !failed(c.y) {
			by[c.round], all = append(by[c.round], c.y), append(all, c.y)
		}
	}
	if len(by) < 2 {
		return
	}
	sending, receiving := map[[2]int]bool{}, map[[2]int]bool{}
	senders, receivers := map[int]int{}, map[int]int{}
	for _, c := range s.cells {
		if k := [2]int{c.round, c.from}; !sending[k] {
			sending[k] = true
			senders[c.round]++
		}
		if k := [2]int{c.round, c.to}; !receiving[k] {
			receiving[k] = true
			receivers[c.round]++
		}
	}
	center := stats.Median(all)
	scatter := max(spread(all, center), 0.005)
	for round, values := range by {
		d := stats.Median(values) - center
		if few := min(senders[round], receivers[round]); len(values) < leastPairs || 2*few < len(s.in.Hosts) ||
			math.Abs(d) < 4*1.2533*scatter/math.Sqrt(float64(len(values))) {
			by[round] = nil
		} else {
			by[round] = []float64{d}
		}
	}
	for i := range s.cells {
		if d := by[s.cells[i].round]; len(d) == 1 {
			s.cells[i].y -= d[0]
		}
	}
}

// spread is the standard deviation of most of values: that by the median distance from their center.
func spread(values []float64, center float64) float64 {
	distances := make([]float64, len(values))
	for i, v := range values {
		distances[i] = math.Abs(v - center)
	}
	return 1.4826 * stats.Median(distances)
}

// collapse makes one cell of each pair: what it has in several rounds may have one cause, such as a
// hash of addresses. A pair fails that fails mostly.
func (s *sample) collapse() {
	slices.SortStableFunc(s.cells, func(a, b cell) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to), cmp.Compare(b.y, a.y))
	})
	kept := s.cells[:0]
	for i := 0; i < len(s.cells); {
		n, ok := 1, 0
		for ; i+n < len(s.cells) && s.cells[i+n].from == s.cells[i].from && s.cells[i+n].to == s.cells[i].to; n++ {
		}
		same, c := s.cells[i:i+n], s.cells[i]
		c.y, c.value = 0, 0
		for ; ok < n && !failed(same[ok].y); ok++ { // failed ones are the last
			c.y += same[ok].y
			c.value += same[ok].value
		}
		if c.y, c.value = c.y/float64(max(ok, 1)), c.value/float64(max(ok, 1)); 2*ok < n {
			c.y, c.value = math.Inf(-1), 0
		}
		kept, i = append(kept, c), i+n
	}
	s.cells = kept
}

// polish splits y into effects of senders, of receivers and a rest, by medians in turn.
func (s *sample) polish() {
	n := len(s.in.Hosts)
	s.tx, s.rx, s.rest = make([]float64, n), make([]float64, n), make([]float64, len(s.cells))
	ends := func(c *cell, sends bool) (own, other int) {
		if sends {
			return c.from, c.to
		}
		return c.to, c.from
	}
	by := make([][]float64, n)
	for range 4 {
		for _, sends := range []bool{true, false} {
			mine, others := s.tx, s.rx
			if !sends {
				mine, others = s.rx, s.tx
			}
			for i := range by {
				by[i] = by[i][:0]
			}
			for i := range s.cells {
				if c := &s.cells[i]; !failed(c.y) {
					own, other := ends(c, sends)
					by[own] = append(by[own], c.y-others[other])
				}
			}
			for i, values := range by {
				mine[i] = stats.Median(values)
			}
		}
	}
	// Of both effects the median is no effect of a host.
	a, b := stats.Median(s.tx), stats.Median(s.rx)
	for i := range n {
		s.tx[i] -= a
		s.rx[i] -= b
	}
	for i, c := range s.cells {
		s.rest[i] = c.y - a - b - s.tx[c.from] - s.rx[c.to]
	}
}
