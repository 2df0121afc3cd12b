package inventory

import (
	"cmp"
	"fmt"
	"slices"

	"linerate/internal/model/source"
)

// A graph has the hosts and groups of a file, of whatever kind.
type graph struct {
	file      string
	problems  source.Problems
	hosts     []*member
	groups    []*group
	hostOf    map[string]*member
	groupOf   map[string]*group
	steps     int
	exhausted bool
	leftOut   []string
	left      map[string]int // how many hosts a line of leftOut is about
}

// A member is a host in a graph.
type member struct {
	name string
	vars map[string]string // of Ansible
	in   []*group          // directly; after resolve all, those that contain others first
}

// A group is one in a graph.
type group struct {
	name     string
	at       source.Position
	vars     map[string]string
	children []string
	parents  []*group
	below    []*group // the children
	depth    int      // the longest way from a group that is in no other
	priority int
	seen     int // number of the host whose groups were found last
}

// all is the group that every host is in.
const all = "all"

func newGraph(file string) *graph {
	return &graph{file: file, hostOf: map[string]*member{}, groupOf: map[string]*group{}, left: map[string]int{}}
}

func (g *graph) fail(at source.Position, format string, args ...any) {
	g.problems = append(g.problems, source.Problem{File: g.file, Position: at, Text: fmt.Sprintf(format, args...)})
}

// leave notes what is not used. It is listed once, with the number of hosts that it is about if there
// are several.
func (g *graph) leave(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if g.left[text]++; g.left[text] == 1 {
		g.leftOut = append(g.leftOut, text)
	}
}

// step counts work. It returns false, and reports a problem once, when there was too much.
func (g *graph) step(n int) bool {
	if g.steps += n; g.steps > mostSteps && !g.exhausted {
		g.exhausted = true
		g.fail(source.Position{}, "too many groups within groups, or patterns: more than %d steps", mostSteps)
	}
	return !g.exhausted
}

// host returns a host, which it adds if it is new; nil: there are too many.
func (g *graph) host(at source.Position, name string) *member {
	if known := g.hostOf[name]; known != nil {
		return known
	}
	if len(g.hosts) == mostHosts {
		if !g.exhausted {
			g.fail(at, "more than %d hosts", mostHosts)
		}
		g.exhausted = true
		return nil
	}
	made := &member{name: name, vars: map[string]string{}}
	g.hosts, g.hostOf[name] = append(g.hosts, made), made
	return made
}

// group returns a group, which it adds if it is new; nil: there are too many.
func (g *graph) group(at source.Position, name string) *group {
	if known := g.groupOf[name]; known != nil {
		return known
	}
	if len(g.groups) == mostGroups {
		if !g.exhausted {
			g.fail(at, "more than %d groups", mostGroups)
		}
		g.exhausted = true
		return nil
	}
	made := &group{name: name, at: at, vars: map[string]string{}}
	g.groups, g.groupOf[name] = append(g.groups, made), made
	return made
}

// put adds a host to a group.
func (g *graph) put(m *member, in *group) {
	if m != nil && in != nil && in.name != all && !slices.Contains(m.in, in) && g.step(1+len(m.in)) {
		m.in = append(m.in, in)
	}
}

// resolve finds all groups of each host, and reports groups that contain themselves.
func (g *graph) resolve() {
	waiting := map[*group]int{} // parents without a depth
	for _, of := range g.groups {
		if of.name == all {
			continue
		}
		for _, name := range of.children {
			child := g.groupOf[name]
			switch {
			case !g.step(1):
				return
			case child == nil:
				g.fail(of.at, "group %q has a group %q, which there is not", of.name, name)
			case !slices.Contains(child.parents, of):
				child.parents, of.below = append(child.parents, of), append(of.below, child)
				waiting[child]++
				g.step(len(child.parents))
			}
		}
	}
	var ready []*group
	for _, of := range g.groups {
		if waiting[of] == 0 {
			of.depth = 1
			ready = append(ready, of)
		}
	}
	for i := 0; i < len(ready); i++ {
		for _, child := range ready[i].below {
			child.depth = max(child.depth, ready[i].depth+1)
			if waiting[child]--; waiting[child] == 0 {
				ready = append(ready, child)
			}
		}
	}
	for _, of := range g.groups {
		if waiting[of] > 0 {
			g.fail(of.at, "group %q contains itself, or is in one that does", of.name)
		}
	}
	if len(g.problems) == 0 {
		g.ancestors()
	}
}

// ancestors adds to the groups of each host those that these are in.
func (g *graph) ancestors() {
	for i, m := range g.hosts {
		for _, of := range m.in {
			of.seen = i + 1
		}
		for j := 0; j < len(m.in); j++ {
			if !g.step(1 + len(m.in[j].parents)) {
				return
			}
			for _, parent := range m.in[j].parents {
				if parent.seen != i+1 {
					parent.seen = i + 1
					m.in = append(m.in, parent)
				}
			}
		}
		// As Ansible: what a group says counts less than what those in it say.
		slices.SortFunc(m.in, func(a, b *group) int {
			return cmp.Or(cmp.Compare(a.depth, b.depth), cmp.Compare(a.priority, b.priority),
				cmp.Compare(a.name, b.name))
		})
	}
}

// inventory returns the graph's hosts and groups as they are seen from outside. Make makes a host of a
// member; it returns false for one that is left out.
func (g *graph) inventory(kind Kind, make func(*member) (Host, bool)) *Inventory {
	inv := &Inventory{Kind: kind}
	place := map[string]int{}
	for _, of := range g.groups {
		if of.name != all {
			place[of.name] = len(inv.Groups)
			inv.Groups = append(inv.Groups, of.name)
		}
	}
	for _, m := range g.hosts {
		host, is := make(m)
		if !is {
			inv.lost = append(inv.lost, m.name)
			continue
		}
		host.Name = m.name
		for _, of := range m.in {
			host.Groups = append(host.Groups, of.name)
		}
		slices.SortFunc(host.Groups, func(a, b string) int { return cmp.Compare(place[a], place[b]) })
		inv.Hosts = append(inv.Hosts, host)
	}
	for _, text := range g.leftOut {
		if n := g.left[text]; n > 1 {
			text = fmt.Sprintf("%s (%d times)", text, n)
		}
		inv.LeftOut = append(inv.LeftOut, text)
	}
	return inv
}
