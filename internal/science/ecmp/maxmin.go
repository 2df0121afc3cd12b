package ecmp

import (
	"cmp"
	"math"
	"slices"
)

// Paths has the links of flows.
type Paths interface {
	// Flows returns the number of flows.
	Flows() int
	// Links appends the indices of the links of a flow to a list.
	Links(list []int32, flow int32) []int32
}

// none is the bottleneck of a flow that its own demand limits, and waiting that of a flow that has no rate yet.
const none, waiting = -1, -2

// Sharer shares links among flows. It reuses its memory from one call to the next: 4 bytes for each flow, and 4 for
// each link on its path.
type Sharer struct {
	// Bottlenecks has, after a call, the link that limits each flow, or −1 if its own demand does.
	Bottlenecks []int32
	// Steps is a measure of the work of a call: visits of a flow on a link, and updates of the
	// order of links.
	Steps int

	demands    []float64 // of the call
	levels     []float64 // rate of the flows that each link limits
	left       []float64 // of each link's rate, not yet given to flows
	open       []int32   // flows on each link that have no rate yet
	start      []int32   // index in on at which each link's flows begin
	on         []int32
	order      []share
	withDemand []int32 // flows with a demand, the smallest first
	path       []int32 // of one flow
}

// Rate returns the rate of a flow after a call.
func (s *Sharer) Rate(flow int32) float64 {
	if link := s.Bottlenecks[flow]; link != none {
		return s.levels[link]
	}
	return s.demands[flow]
}

// Share computes the max-min fair rate of every flow by progressive filling (Bertsekas and
// Gallager, Data Networks, section 6.5.2): all rates grow together until a link is full or a flow
// has its demand; these flows stop, and the others go on. demands may be nil; a demand of 0 is
// unlimited.
//
// A heap has the link that fills next at its top. When flows stop, each flow that remains on
// another link gets no less of it, so the levels in the heap are never too large; a link's level is
// recomputed only when the link reaches the top. Each recomputation that does not fill a link is
// paid for by a flow that stopped on it, so the number of steps is at most a logarithm times the
// number of links and of flows on them.
func (s *Sharer) Share(rates []float64, paths Paths, demands []float64) {
	s.begin(rates, paths, demands)
	for next := 0; ; {
		for next < len(s.withDemand) && s.Bottlenecks[s.withDemand[next]] != waiting {
			next++
		}
		level, link := s.lowest()
		if next < len(s.withDemand) && demands[s.withDemand[next]] <= level {
			flow := s.withDemand[next]
			s.stop(paths, flow, demands[flow], none)
			continue
		}
		if link == none {
			return
		}
		s.remove()
		s.levels[link] = level
		for _, flow := range s.on[s.start[link]:s.start[link+1]] {
			s.Steps++
			if s.Bottlenecks[flow] == waiting {
				s.stop(paths, flow, level, link)
			}
		}
	}
}

// begin sorts flows by link.
func (s *Sharer) begin(rates []float64, paths Paths, demands []float64) {
	flows := paths.Flows()
	s.Steps, s.demands = 0, demands
	s.levels = sized(s.levels, len(rates))
	s.Bottlenecks = sized(s.Bottlenecks, flows)
	s.left = append(s.left[:0], rates...)
	s.open = sized(s.open, len(rates))
	s.start = sized(s.start, len(rates)+1)
	clear(s.open)
	used := 0
	for flow := range int32(flows) {
		s.path = paths.Links(s.path[:0], flow)
		for _, link := range s.path {
			s.open[link]++
		}
		used += len(s.path)
	}
	s.on = sized(s.on, used)
	at := int32(0)
	for link, n := range s.open {
		s.start[link] = at
		at += n
	}
	s.start[len(rates)] = at
	// Filling moves each start to that of the next link. This loop moves them back.
	for flow := range int32(flows) {
		s.Bottlenecks[flow] = waiting
		s.path = paths.Links(s.path[:0], flow)
		for _, link := range s.path {
			s.on[s.start[link]] = flow
			s.start[link]++
		}
	}
	copy(s.start[1:], s.start[:len(rates)])
	s.start[0] = 0
	s.order = s.order[:0]
	for link, n := range s.open {
		if n > 0 {
			s.order = append(s.order, share{s.left[link] / float64(n), int32(link)})
		}
	}
	for i := len(s.order)/2 - 1; i >= 0; i-- {
		s.sink(i)
	}
	s.withDemand = s.withDemand[:0]
	for flow, demand := range demands {
		if demand > 0 {
			s.withDemand = append(s.withDemand, int32(flow))
		}
	}
	slices.SortStableFunc(s.withDemand, func(a, b int32) int { return cmp.Compare(demands[a], demands[b]) })
}

func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// lowest returns the link that fills next, and the rate at which it does.
func (s *Sharer) lowest() (level float64, link int32) {
	for len(s.order) > 0 {
		s.Steps++
		top := &s.order[0]
		n := s.open[top.link]
		if n == 0 {
			s.remove()
			continue
		}
		now := max(top.level, s.left[top.link]/float64(n))
		if now == top.level {
			return now, top.link
		}
		top.level = now
		s.sink(0)
	}
	return math.Inf(1), none
}

func (s *Sharer) stop(paths Paths, flow int32, rate float64, bottleneck int32) {
	s.Bottlenecks[flow] = bottleneck
	s.path = paths.Links(s.path[:0], flow)
	for _, link := range s.path {
		s.Steps++
		s.open[link]--
		s.left[link] = max(0, s.left[link]-rate)
	}
}

// share is how much of a link each flow that is left on it would get.
type share struct {
	level float64
	link  int32
}

// less breaks ties by link, so that equal questions get equal answers.
func (a share) less(b share) bool {
	return a.level < b.level || a.level == b.level && a.link < b.link
}

func (s *Sharer) remove() {
	last := len(s.order) - 1
	s.order[0] = s.order[last]
	s.order = s.order[:last]
	s.sink(0)
}

// sink restores the heap order below i.
func (s *Sharer) sink(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(s.order); child++ {
			if s.order[child].less(s.order[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		s.order[i], s.order[least] = s.order[least], s.order[i]
		i = least
	}
}
