package tomography

import (
	"fmt"
	"slices"

	"linerate/internal/model/topology"
)

// graph has the links of a topology by number, each in one direction.
type graph struct {
	ends  []topology.End // from which the frames of a link leave
	far   []string       // node at which they arrive
	from  map[string][]int
	hosts map[string]bool // that do not forward
	known map[string]bool
	// cached has the paths between two nodes, and nearer the distances to a node.
	cached map[[2]string]*choice
	nearer map[string]map[string]int
	taken  map[string]*choice // that were measured, by their links
	n      int                // of choices
}

// choice are paths between two nodes with the probability of each.
type choice struct {
	id      int
	paths   [][]int
	weights []float64
}

func newGraph(t *topology.Topology) *graph {
	g := &graph{from: map[string][]int{}, hosts: map[string]bool{}, known: map[string]bool{},
		cached: map[[2]string]*choice{}, nearer: map[string]map[string]int{}, taken: map[string]*choice{}}
	for _, h := range t.Hosts {
		g.hosts[h.Name], g.known[h.Name] = !h.Forward, true
	}
	for _, l := range t.Links {
		for _, e := range []topology.End{l.From, l.To} {
			g.from[e.Node] = append(g.from[e.Node], len(g.ends))
			g.ends, g.far = append(g.ends, e), append(g.far, l.Other(e).Node)
		}
	}
	return g
}

// hostOf returns the host at one end of a link. Empty: both ends forward.
func (g *graph) hostOf(link int) string {
	for _, node := range []string{g.ends[link].Node, g.far[link]} {
		if g.hosts[node] {
			return node
		}
	}
	return ""
}

// along returns a path, which is a list of ends as of topology.Paths, without its first and last link.
func (g *graph) along(path []topology.End) (*choice, error) {
	var links []int
	for i := 0; i+1 < len(path); i += 2 {
		l := slices.Index(g.ends, path[i])
		if l < 0 || g.far[l] != path[i+1].Node {
			return nil, fmt.Errorf("no link leads from %s to %s", path[i], path[i+1])
		}
		links = append(links, l)
	}
	if len(links) == 0 {
		return nil, fmt.Errorf("a path without links")
	}
	links = links[1:max(1, len(links)-1)]
	key := fmt.Sprint(links)
	if g.taken[key] == nil {
		g.n++
		g.taken[key] = &choice{id: g.n, paths: [][]int{links}, weights: []float64{1}}
	}
	return g.taken[key], nil
}

// between returns the shortest paths from one host to another, without the links of hosts that have one
// link: these have many paths in common. At each node one of the links that lead nearer is taken with the
// same probability.
func (g *graph) between(from, to string) (*choice, error) {
	for _, name := range []string{from, to} {
		if !g.known[name] {
			return nil, fmt.Errorf("no host %s in the topology", name)
		}
	}
	a, b := g.inward(from, to), g.inward(to, from)
	c := g.cached[[2]string{a, b}]
	if c == nil {
		if g.nearer[b] == nil {
			g.nearer[b] = g.distances(b)
		}
		g.n++
		c = &choice{id: g.n}
		g.walk(c, a, b, g.nearer[b], nil, 1)
		g.cached[[2]string{a, b}] = c
	}
	if len(c.paths) == 0 || from == to {
		return nil, fmt.Errorf("no path from %s to %s", from, to)
	}
	return c, nil
}

// inward returns the node behind the only link of a host, or the host itself, if it has several links or
// the only one leads to the other host.
func (g *graph) inward(host, other string) string {
	if own := g.from[host]; len(own) == 1 && g.hosts[host] && g.far[own[0]] != other {
		return g.far[own[0]]
	}
	return host
}

// ownLinks returns the links of the hosts themselves that a measurement used and its choice of paths does
// not have. none: there is none.
func (g *graph) ownLinks(p Pair) (first, last int) {
	first, last = none, none
	if p.Path != nil {
		first = slices.Index(g.ends, p.Path[0])
		if n := len(p.Path) / 2 * 2; n > 2 {
			last = slices.Index(g.ends, p.Path[n-2])
		}
		return first, last
	}
	if g.inward(p.From, p.To) != p.From {
		first = g.from[p.From][0]
	}
	if g.inward(p.To, p.From) != p.To {
		last = g.from[p.To][0] ^ 1 // the other direction of the cable
	}
	return first, last
}

// distances returns how many links each node is away from a host, over nodes that forward.
func (g *graph) distances(to string) map[string]int {
	away := map[string]int{to: 0}
	for queue := []string{to}; len(queue) > 0; queue = queue[1:] {
		if g.hosts[queue[0]] && queue[0] != to {
			continue
		}
		for _, l := range g.from[queue[0]] { // each cable has a link in either direction
			if _, known := away[g.far[l]]; !known {
				away[g.far[l]] = away[queue[0]] + 1
				queue = append(queue, g.far[l])
			}
		}
	}
	return away
}

// walk adds the paths that continue at a node.
func (g *graph) walk(c *choice, at, to string, away map[string]int, sofar []int, weight float64) {
	if at == to {
		c.paths, c.weights = append(c.paths, slices.Clone(sofar)), append(c.weights, weight)
		return
	}
	var onward []int
	for _, l := range g.from[at] {
		d, known := away[g.far[l]]
		if own, reached := away[at]; known && reached && d == own-1 && (!g.hosts[g.far[l]] || g.far[l] == to) {
			onward = append(onward, l)
		}
	}
	for _, l := range onward {
		if len(c.paths) < mostPaths {
			g.walk(c, g.far[l], to, away, append(sofar, l), weight/float64(len(onward)))
		}
	}
}
