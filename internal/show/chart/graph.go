package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/topology"
)

// graph is the topology as drawn: boxes in columns, the host in question at the
// right, and lines between slots on their edges.
type graph struct {
	nodes   []*node
	edges   []*edge
	columns [][]*node // by distance from the host in question, from top to bottom
}

type node struct {
	name, caption string
	column        int
	inner         bool // its column stands between two others
	slots         []*slot
	x, y, w, h    float64
}

// slot is where a line meets a box.
type slot struct {
	node  *node
	far   *slot  // the line's other end
	label string // interface and address, on hosts
	x, y  float64
}

// edge is one link, or a bundle of them, with its load both ways.
type edge struct {
	a, b   *slot
	ab, ba float64 // bit/s from a to b, and back
	limit  float64 // of each direction; 0: unknown
	links  int
	ends   []topology.End // of the links
}

// Where a drawing gets too full: more hosts than this are gathered into boxes,
// more links between two boxes into one line.
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
		ab, ba, limit := linkLoad(l, loads)
		together := counts[k] > mostLinks || k.a.caption != "" || k.b.caption != ""
		if e := bundles[k]; together && e != nil {
			e.ab, e.ba, e.limit, e.links = e.ab+ab, e.ba+ba, e.limit+limit, e.links+1
			e.ends = append(e.ends, l.From, l.To)
			continue
		}
		e := &edge{a: &slot{node: k.a}, b: &slot{node: k.b}, ab: ab, ba: ba, limit: limit, links: 1, ends: []topology.End{l.From, l.To}}
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

// loadsOf finds a treatment's interfaces by their place in the topology.
func loadsOf(interfaces []record.TreatmentInterface) map[topology.End]record.TreatmentInterface {
	loads := map[topology.End]record.TreatmentInterface{}
	for _, p := range interfaces {
		loads[topology.End{Node: p.Host, Interface: p.Interface}] = p
	}
	return loads
}

// linkLoad is what a link carried each way, from either end's counters.
func linkLoad(l *topology.Link, loads map[topology.End]record.TreatmentInterface) (ab, ba, limit float64) {
	if p, ok := loads[l.From]; ok {
		return p.TxBps, p.RxBps, p.LimitBps
	}
	if p, ok := loads[l.To]; ok {
		return p.RxBps, p.TxBps, p.LimitBps
	}
	return 0, 0, float64(l.Rate)
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

// boxes makes one node per host and switch; where there are too many hosts,
// those attached alike share one.
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
			out[group[0]] = &node{name: fmt.Sprintf("%d hosts", len(group)), caption: group[0] + " … " + group[len(group)-1]}
			g.nodes = append(g.nodes, out[group[0]])
		}
		out[h.Name] = out[group[0]]
	}
	return out
}

// arrange gives each box its column, by its distance from the focus, and puts
// the boxes of a column in an order that crosses few lines.
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
		if n.column < 0 { // joined to nothing that the focus reaches
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

// balance moves hosts that hang on the middle one of three columns over to the focus'
// side until both sides are about as high.
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

// order sorts a column by where its boxes' neighbours in earlier columns stand.
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

func (e *edge) load() float64 { return max(e.ab, e.ba) }
