// Package tomography finds the links that explain which pairs of hosts are slow: the fewest that slow pairs
// have in common, and that few of the others use.
//
// A link is one direction of a cable, named by the end from which frames leave. A pair takes one of its
// equal-cost paths, which is known or has a probability. Each set of links has a likelihood: a pair that
// uses one of them is slow with a probability s, another with a probability e, both of which are taken as
// the data are most likely. A link is named if it raises the likelihood so much that less than one in a
// hundred meshes without a slow link would have such a link among all. Links that explain the data nearly
// as well are named with it.
package tomography

import (
	"cmp"
	"math"
	"slices"

	"linerate/internal/model/topology"
)

// Pair is a measurement from one host to another.
type Pair struct {
	From, To string
	Slow     bool
	// Ratio is the pair's value in relation to what is usual, below 1 if it is worse. 0: not known.
	Ratio float64
	// Streams is how many flows with ports of their own the measurement had, each of which takes a path of
	// its own; the measurement is slow if one of them is. 0: one.
	Streams int
	// Round is the number of the round in which it was measured. Pairs of a round may slow each other down
	// where they share links.
	Round int
	// Path is the path that it took, as in topology.Paths. Nil: one of the shortest, by chance.
	Path []topology.End
}

// Suspect is a slow link, or several links of which Count are slow.
type Suspect struct {
	// Links are the ends from which frames leave on the link, the likeliest first. No pair tells others
	// than the first apart from it for certain.
	Links []topology.End
	Count int
	// Host is the host whose own link is the likeliest. Empty: it is between switches or routers.
	Host string
	// Certainty is the probability that Count of the Links are slow.
	Certainty float64
	// Evidence is the logarithm of how much likelier the measurements are with the link.
	Evidence float64
	// Pairs is how many measurements used the likeliest of the links, or may have, and Slow how many of
	// these were slow. Ratio is the median of the slow ones. 0: not known.
	Pairs, Slow int
	Ratio       float64
}

const (
	mostSuspects = 8
	mostPaths    = 1024 // between two switches
	// falseNames is the probability of naming a link where none is slow, and outside that of naming links
	// without the slow one.
	falseNames, outside = 0.01, 0.005
	// slack is what choosing s and e adds to the likelihood.
	slack = 2
)

// probabilities of a pair to be slow: without a slow link, and with one.
var (
	unexplained = []float64{0.001, 0.003, 0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5}
	explained   = []float64{0.995, 0.97, 0.9, 0.75}
)

// Links returns the slow links of a topology, the surest first. It returns an error if a pair names a host
// that the topology does not have, or hosts that no path joins.
func Links(t *topology.Topology, pairs []Pair) ([]Suspect, error) {
	return links(newGraph(t), pairs, 1)
}

// links does the same, as one of several looks at the same measurements.
func links(g *graph, pairs []Pair, looks int) ([]Suspect, error) {
	m := &model{graph: g, routes: map[routeKey]*route{}}
	for _, p := range pairs {
		if err := m.observe(p); err != nil {
			return nil, err
		}
	}
	return m.suspects(float64(looks)), nil
}

// route is the choice of paths that measurements have between their first and their last link.
type route struct {
	*choice
	streams int
	place   int // in model.order
	hit     float64
}

// observation is one measurement.
type observation struct {
	first, last int
	slow        bool
	ratio       float64
	route       *route
	round       int
	leaves      [2]string // nodes behind the hosts' own links
}

type model struct {
	*graph
	routes map[routeKey]*route
	order  []*route // of routes
	all    []observation
	// spread is how much more the slow pairs of a round vary than independent ones: at least 1.
	spread float64
}

// observe adds a measurement.
func (m *model) observe(p Pair) error {
	o := observation{slow: p.Slow, ratio: p.Ratio, round: p.Round}
	streams, c := max(1, p.Streams), (*choice)(nil)
	var err error
	if p.Path != nil {
		c, err = m.along(p.Path)
		streams = 1
	} else {
		c, err = m.between(p.From, p.To)
	}
	if err != nil {
		return err
	}
	key := routeKey{c.id, streams}
	r := m.routes[key]
	if r == nil {
		r = &route{choice: c, streams: streams, place: len(m.order)}
		m.routes[key] = r
		m.order = append(m.order, r)
	}
	o.route = r
	o.first, o.last = m.ownLinks(p)
	o.leaves = [2]string{m.inward(p.From, p.To), m.inward(p.To, p.From)}
	m.all = append(m.all, o)
	return nil
}

// routeKey identifies a route: the number of its choice of paths, and of streams.
type routeKey struct{ id, streams int }

// none is no link.
const none = -1

// touched returns the probability that a measurement uses one of the links between its first and last one.
func (r *route) touched(set []int) float64 {
	sum := 0.0
	for i, p := range r.paths {
		if slices.ContainsFunc(p, func(l int) bool { return slices.Contains(set, l) }) {
			sum += r.weights[i]
		}
	}
	return 1 - math.Pow(1-min(1, sum), float64(r.streams))
}

// chance is a point of the grid of probabilities.
type chance struct{ without, with float64 }

// log returns the logarithm of the probability of what was seen, if a slow link was used with probability q.
func (c chance) log(q float64, slow bool) float64 {
	p := c.without + q*(c.with-c.without)
	if !slow {
		p = 1 - p
	}
	return math.Log(p)
}

func grid() (list []chance) {
	for _, e := range unexplained {
		for _, s := range explained {
			list = append(list, chance{e, s})
		}
	}
	return list
}

// scores returns the logarithm of the likelihood of the set of links, and of the set with each other link
// in addition.
func (m *model) scores(set []int) (own float64, with []float64) {
	with = make([]float64, len(m.ends))
	own = math.Inf(-1)
	for i := range with {
		with[i] = own
	}
	// What each candidate changes between the ends of a route does not depend on the grid.
	type change struct {
		link int
		q    float64
	}
	changes := make([][]change, len(m.order))
	for i, r := range m.order {
		r.hit = r.touched(set)
		if len(r.paths) == 0 {
			continue
		}
		seen := map[int]bool{}
		for _, p := range r.paths {
			for _, l := range p {
				if !seen[l] && !slices.Contains(set, l) {
					seen[l] = true
					changes[i] = append(changes[i], change{l, r.touched(append(slices.Clone(set), l))})
				}
			}
		}
	}
	// Measurements whose first or last link is in the set are explained already.
	left := make([][2]int, len(m.order))
	covered := make([]bool, len(m.all))
	var fixed [2]int
	for i, o := range m.all {
		slow := 0
		if o.slow {
			slow = 1
		}
		if covered[i] = slices.Contains(set, o.first) || slices.Contains(set, o.last); covered[i] {
			fixed[slow]++
		} else {
			left[o.route.place][slow]++
		}
	}
	delta := make([]float64, len(m.ends))
	for _, c := range grid() {
		clear(delta)
		one := [2]float64{c.log(1, false), c.log(1, true)}
		sum := float64(fixed[0])*one[0] + float64(fixed[1])*one[1]
		logs := make([][2]float64, len(m.order))
		for i, r := range m.order {
			logs[i] = [2]float64{c.log(r.hit, false), c.log(r.hit, true)}
			good, slow := float64(left[i][0]), float64(left[i][1])
			sum += good*logs[i][0] + slow*logs[i][1]
			for _, ch := range changes[i] {
				delta[ch.link] += good*(c.log(ch.q, false)-logs[i][0]) + slow*(c.log(ch.q, true)-logs[i][1])
			}
		}
		for i, o := range m.all {
			if covered[i] {
				continue
			}
			slow := 0
			if o.slow {
				slow = 1
			}
			d := one[slow] - logs[o.route.place][slow]
			for _, l := range []int{o.first, o.last} {
				if l != none {
					delta[l] += d
				}
			}
		}
		own = max(own, sum/m.spread)
		for l := range with {
			with[l] = max(with[l], (sum+delta[l])/m.spread)
		}
	}
	for _, l := range set {
		with[l] = own
	}
	return own, with
}

// overdispersion returns how much more the number of slow pairs that leave or enter a leaf in a round varies
// from round to round than that of independent pairs. Flows that share an uplink by chance are slow
// together; so many of them tell as much as one.
func (m *model) overdispersion() float64 {
	most := 1.0
	for side := range 2 {
		type cell struct {
			leaf  string
			round int
		}
		n, of := map[cell][2]float64{}, map[string][2]float64{} // pairs, and slow ones
		for _, o := range m.all {
			slow := 0.0
			if o.slow {
				slow = 1
			}
			if o.leaves[0] == o.leaves[1] {
				continue
			}
			at := cell{o.leaves[side], o.round}
			n[at] = [2]float64{n[at][0] + 1, n[at][1] + slow}
			of[at.leaf] = [2]float64{of[at.leaf][0] + 1, of[at.leaf][1] + slow}
		}
		sum, cells, leaves := 0.0, 0.0, map[string]bool{}
		for at, k := range n {
			p := of[at.leaf][1] / of[at.leaf][0]
			if p > 0 && p < 1 {
				sum += (k[1] - k[0]*p) * (k[1] - k[0]*p) / (k[0] * p * (1 - p))
				cells++
				leaves[at.leaf] = true
			}
		}
		if free := cells - float64(len(leaves)); free > 0 {
			most = max(most, sum/free)
		}
	}
	return most
}

// best returns the link that raises the likelihood most, and by how much.
func best(own float64, with []float64) (link int, gain float64) {
	link = none
	for l, s := range with {
		if link == none || s > with[link] {
			link = l
		}
	}
	if link == none {
		return none, 0
	}
	return link, with[link] - own
}

// suspects finds the set of links.
func (m *model) suspects(looks float64) (list []Suspect) {
	if len(m.all) == 0 {
		return nil
	}
	m.spread = m.overdispersion()
	enough := math.Log(looks*float64(len(m.ends))/falseNames) + slack
	var set []int
	for len(set) < mostSuspects {
		link, gain := best(m.scores(set))
		if link == none || gain < enough {
			break
		}
		set = m.exchanged(append(set, link))
	}
	for i := 0; i < len(set); i++ {
		others := slices.Delete(slices.Clone(set), i, i+1)
		own, with := m.scores(others)
		if with[set[i]]-own < enough { // another link of the set explains the same
			set = others
			i--
			continue
		}
	}
	for i, link := range set {
		others := slices.Delete(slices.Clone(set), i, i+1)
		own, with := m.scores(others)
		list = append(list, m.suspect(link, own, with, others))
	}
	return merged(list)
}

// exchanged replaces links of a set by others as long as that raises the likelihood.
func (m *model) exchanged(set []int) []int {
	const rounds = 3
	for range rounds {
		changed := false
		for i := range set {
			own, with := m.scores(slices.Delete(slices.Clone(set), i, i+1))
			if link, _ := best(own, with); link != none && with[link] > with[set[i]]+1e-9 {
				set[i], changed = link, true
			}
		}
		if !changed {
			break
		}
	}
	return set
}

// suspect describes a link of a set: with the links that may be in its place.
func (m *model) suspect(link int, own float64, with []float64, others []int) Suspect {
	order := make([]int, 0, len(with))
	for l := range with {
		if !slices.Contains(others, l) {
			order = append(order, l)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(with[b], with[a]) })
	top := with[order[0]]
	total := math.Exp(own-top) * float64(len(with)) // that none is slow
	for _, l := range order {
		total += math.Exp(with[l] - top)
	}
	s := Suspect{Count: 1, Evidence: with[order[0]] - own}
	sum := 0.0
	for i, l := range order {
		same := i > 0 && with[l] > with[order[i-1]]-1e-6
		if sum >= (1-outside)*total && !same {
			break
		}
		sum += math.Exp(with[l] - top)
		s.Links = append(s.Links, m.ends[l])
	}
	s.Certainty = min(sum/total, 1)
	var ratios []float64
	for _, o := range m.all {
		uses := o.first == order[0] || o.last == order[0] || slices.ContainsFunc(o.route.paths, func(p []int) bool {
			return slices.Contains(p, order[0])
		})
		if uses {
			s.Pairs++
		}
		if uses && o.slow {
			s.Slow++
			if o.ratio > 0 {
				ratios = append(ratios, o.ratio)
			}
		}
	}
	if len(ratios) > 0 {
		slices.Sort(ratios)
		s.Ratio = ratios[len(ratios)/2]
	}
	s.Host = m.hostOf(order[0])
	return s
}

// merged makes one of suspects that have links in common: so many of them are slow.
func merged(list []Suspect) (made []Suspect) {
	for _, s := range list {
		i := slices.IndexFunc(made, func(o Suspect) bool {
			return slices.ContainsFunc(o.Links, func(e topology.End) bool { return slices.Contains(s.Links, e) })
		})
		if i < 0 {
			made = append(made, s)
			continue
		}
		o := &made[i]
		o.Count += s.Count
		o.Certainty, o.Evidence = min(o.Certainty, s.Certainty), o.Evidence+s.Evidence
		for _, e := range s.Links {
			if !slices.Contains(o.Links, e) {
				o.Links = append(o.Links, e)
			}
		}
	}
	slices.SortStableFunc(made, func(a, b Suspect) int {
		return cmp.Or(cmp.Compare(b.Certainty, a.Certainty), cmp.Compare(b.Slow, a.Slow))
	})
	return made
}
