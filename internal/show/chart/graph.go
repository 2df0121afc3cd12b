package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/show/view"
)

// graph is the topology as drawn: boxes in columns, with the host in question on the right, and
// lines between slots on their edges.
type graph struct {
	nodes   []*node
	edges   []*edge
	columns [][]*node // by distance from the host in question, each from top to bottom
}

type node struct {
	name, caption string
	column        int
	inner         bool // whether its column is between two others
	slots         []*slot
	x, y, w, h    float64
}

// slot is the point where a line meets a box.
type slot struct {
	node  *node
	far   *slot  // other end of the line
	label string // interface and address, on hosts
	x, y  float64
}

// edge is one link, or a bundle of links, with its load in both directions.
type edge struct {
	a, b *slot
	linkLoad
	links int
	ends  []topology.End // ends of the links
}

// linkLoad is the traffic of a link from a to b, and back.
type linkLoad struct {
	ab, ba directedLoad
	data   direction
}

// direction is the direction in which a treatment sends data: a set of aToB and bToA.
type direction int

const (
	noDirection direction = iota // no data, or none whose direction is known
	aToB
	bToA
	bothDirections
)

// directedLoad is the traffic of a link in one direction, and its rate; 0: unknown.
type directedLoad struct{ bps, limit float64 }

// fullLoad is the share of its rate at which a link counts as full. If the interface does
// segmentation, its counters count one header for many frames, so that a full link shows little
// more than its payload, 95.6 %.
const fullLoad = 0.94

func (w directedLoad) full() bool { return w.limit > 0 && w.bps >= fullLoad*w.limit }

// shown returns the direction that stands for the link where only one is named: that of the data,
// otherwise the full one, otherwise the busier one.
func (l linkLoad) shown() directedLoad {
	switch {
	case l.data == aToB:
		return l.ab
	case l.data == bToA:
		return l.ba
	case l.ab.full() != l.ba.full():
		return map[bool]directedLoad{true: l.ab, false: l.ba}[l.ab.full()]
	case l.ab.bps > l.ba.bps:
		return l.ab
	}
	return l.ba
}

// other returns the direction that is not shown.
func (l linkLoad) other() directedLoad {
	if l.shown() == l.ab {
		return l.ba
	}
	return l.ab
}

// twoWay reports whether both directions are drawn: both have data, or the other one is full or
// carries more than acknowledgements.
func (l linkLoad) twoWay() bool {
	other := l.other()
	return l.data == bothDirections || other.full() || other.bps > l.shown().bps/10
}

func (l linkLoad) full() bool { return l.ab.full() || l.ba.full() }

// add bundles another link with this one.
func (l *linkLoad) add(other linkLoad) {
	l.ab = directedLoad{l.ab.bps + other.ab.bps, l.ab.limit + other.ab.limit}
	l.ba = directedLoad{l.ba.bps + other.ba.bps, l.ba.limit + other.ba.limit}
	l.data |= other.data
}

// Limits above which a drawing is simplified: hosts are combined in boxes, and links between two
// boxes in one line.
const (
	mostHosts = 40
	mostLinks = 24
)

// newGraph arranges a treatment's topology around a host.
func newGraph(topo *topology.Topology, interfaces []record.TreatmentInterface, focus string) *graph {
	loads := loadsOf(interfaces)
	g := &graph{}
	boxes := g.boxes(topo, focus)
	type pairKey struct{ a, b *node }
	counts := map[pairKey]int{}
	key := func(l *topology.Link) (pairKey, bool) {
		a, b := boxes[l.From.Node], boxes[l.To.Node]
		return pairKey{a, b}, a != nil && b != nil && a != b
	}
	for i := range topo.Links {
		if k, ok := key(&topo.Links[i]); ok {
			counts[k]++
		}
	}
	bundles := map[pairKey]*edge{}
	for i := range topo.Links {
		l := &topo.Links[i]
		k, ok := key(l)
		if !ok {
			continue
		}
		load := loadOf(l, loads)
		together := counts[k] > mostLinks || k.a.caption != "" || k.b.caption != ""
		if e := bundles[k]; together && e != nil {
			e.add(load)
			e.links++
			e.ends = append(e.ends, l.From, l.To)
			continue
		}
		e := &edge{a: &slot{node: k.a}, b: &slot{node: k.b}, linkLoad: load, links: 1,
			ends: []topology.End{l.From, l.To}}
		e.a.far, e.b.far = e.b, e.a
		if together {
			bundles[k] = e
		} else {
			e.a.label, e.b.label = slotLabel(topo, l.From), slotLabel(topo, l.To)
		}
		k.a.slots, k.b.slots = append(k.a.slots, e.a), append(k.b.slots, e.b)
		g.edges = append(g.edges, e)
	}
	g.arrange(boxes[focus])
	return g
}

// loadsOf maps the ends of links to a treatment's interfaces.
func loadsOf(interfaces []record.TreatmentInterface) map[topology.End]record.TreatmentInterface {
	loads := map[topology.End]record.TreatmentInterface{}
	for _, p := range interfaces {
		loads[topology.End{Node: p.Host, Interface: p.Interface}] = p
	}
	return loads
}

// loadOf returns the load of a link in each direction from the counters of either end. If the
// directions have different rates, they are taken from the topology, because an interface only has
// the rate of one direction.
func loadOf(l *topology.Link, loads map[topology.End]record.TreatmentInterface) linkLoad {
	out := linkLoad{ab: directedLoad{limit: float64(l.Towards(l.From).Rate)},
		ba: directedLoad{limit: float64(l.Towards(l.To).Rate)}}
	sent, received := aToB, bToA
	p, ok := loads[l.From]
	if out.ab.bps, out.ba.bps = p.TxBps, p.RxBps; !ok {
		if p, ok = loads[l.To]; !ok {
			return out
		}
		out.ab.bps, out.ba.bps = p.RxBps, p.TxBps
		sent, received = bToA, aToB
	}
	if out.ab.limit == out.ba.limit {
		out.ab.limit, out.ba.limit = p.LimitBps, p.LimitBps
	}
	switch direction := view.DataDirection(p); {
	case direction == record.Tx:
		out.data = sent
	case direction == record.Rx:
		out.data = received
	case p.Direction != "":
		out.data = bothDirections
	}
	return out
}

func slotLabel(topo *topology.Topology, e topology.End) string {
	h, ok := topo.Host(e.Node)
	if !ok {
		return ""
	}
	p, ok := h.Interface(e.Interface)
	if !ok || len(p.Addresses) == 0 {
		return e.Interface
	}
	label := e.Interface + " " + p.Addresses[0].First.String()
	if more := len(p.Addresses) - 1; more > 0 || p.Addresses[0].First != p.Addresses[0].Last {
		label += " …"
	}
	return label
}

// boxes creates one node per host and switch. If there are too many hosts, those with the same
// neighbours share a node.
func (g *graph) boxes(topo *topology.Topology, focus string) map[string]*node {
	out := map[string]*node{}
	far := map[string][]string{}
	for _, l := range topo.Links {
		far[l.From.Node] = append(far[l.From.Node], l.To.Node)
		far[l.To.Node] = append(far[l.To.Node], l.From.Node)
	}
	for _, s := range topo.Switches {
		n := &node{name: s.Name}
		out[s.Name], g.nodes = n, append(g.nodes, n)
	}
	alike := map[string][]string{} // hosts by their neighbours, without the focus and routers
	signature := func(host string) string {
		names := slices.Sorted(slices.Values(far[host]))
		return strings.Join(slices.Compact(names), " ")
	}
	for _, h := range topo.Hosts {
		if h.Name != focus && !h.Forward {
			alike[signature(h.Name)] = append(alike[signature(h.Name)], h.Name)
		}
	}
	for _, h := range topo.Hosts {
		group := alike[signature(h.Name)]
		if len(topo.Hosts) <= mostHosts || len(group) < 3 || !slices.Contains(group, h.Name) {
			n := &node{name: h.Name}
			out[h.Name], g.nodes = n, append(g.nodes, n)
			continue
		}
		if out[group[0]] == nil {
			out[group[0]] = &node{name: fmt.Sprintf("%d hosts", len(group)), caption: group[0] + " … " +
				group[len(group)-1]}
			g.nodes = append(g.nodes, out[group[0]])
		}
		out[h.Name] = out[group[0]]
	}
	return out
}

// arrange assigns each box to a column by its distance from the focus, and orders the boxes of a
// column so that few lines cross.
func (g *graph) arrange(focus *node) {
	if len(g.nodes) == 0 {
		return
	}
	if focus == nil {
		focus = g.nodes[0]
	}
	for _, n := range g.nodes {
		n.column = -1
	}
	focus.column = 0
	last := 0
	for queue := []*node{focus}; len(queue) > 0; queue = queue[1:] {
		last = queue[0].column
		for _, s := range queue[0].slots {
			if far := s.far.node; far.column < 0 {
				far.column = last + 1
				queue = append(queue, far)
			}
		}
	}
	reached := last
	for _, n := range g.nodes {
		if n.column < 0 { // not connected with the focus
			n.column, last = reached+1, reached+1
		}
	}
	if last == 2 {
		g.balance()
	}
	g.columns = make([][]*node, last+1)
	for _, n := range g.nodes {
		n.inner = n.column > 0 && n.column < last
		g.columns[n.column] = append(g.columns[n.column], n)
	}
	for range 3 {
		for _, column := range g.columns[1:] {
			g.order(column)
		}
	}
}

// balance moves hosts attached to the middle one of three columns to the side of the focus until
// both sides have about the same height.
func (g *graph) balance() {
	var left []*node
	weight := [3]int{}
	for _, n := range g.nodes {
		weight[n.column] += 1 + len(n.slots)
		if n.column == 2 && !slices.ContainsFunc(n.slots, func(s *slot) bool { return s.far.node.column != 1 }) {
			left = append(left, n)
		}
	}
	for len(left) > 6 && weight[2] > weight[0]+4 {
		n := left[len(left)-1]
		left = left[:len(left)-1]
		n.column = 0
		weight[2], weight[0] = weight[2]-1-len(n.slots), weight[0]+1+len(n.slots)
	}
}

// order sorts a column by the positions of its boxes' neighbours in earlier columns.
func (g *graph) order(column []*node) {
	center := map[*node]float64{}
	for i, n := range column {
		sum, count := 0, 0
		for _, s := range n.slots {
			if m := s.far.node; m.column < n.column {
				sum, count = sum+slices.Index(g.columns[m.column], m), count+1
			}
		}
		if center[n] = float64(i); count > 0 {
			center[n] = float64(sum) / float64(count)
		}
	}
	slices.SortStableFunc(column, func(a, b *node) int { return cmp.Compare(center[a], center[b]) })
}
