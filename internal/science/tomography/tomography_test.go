package tomography

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/topology"
)

// clos is a fabric of leaves with hosts, and of spines to which every leaf has a link.
type clos struct{ leaves, spines, hosts int }

func (c clos) String() string {
	return fmt.Sprintf("%d leaves, %d spines, %d hosts", c.leaves, c.spines, c.hosts)
}

func end(node, name string) topology.End { return topology.End{Node: node, Interface: name} }

func (c clos) topology() *topology.Topology {
	t := &topology.Topology{}
	for l := range c.leaves {
		leaf := fmt.Sprint("leaf", l+1)
		t.Switches = append(t.Switches, topology.Switch{Name: leaf})
		for h := range c.hosts {
			name := fmt.Sprintf("h%d-%d", l+1, h+1)
			t.Hosts = append(t.Hosts, topology.Host{Name: name})
			t.Links = append(t.Links, topology.Link{From: end(name, "eth0"), To: end(leaf, fmt.Sprint("swp", h+1))})
		}
		for s := range c.spines {
			t.Links = append(t.Links, topology.Link{From: end(leaf, fmt.Sprint("up", s+1)),
				To: end(fmt.Sprint("spine", s+1), fmt.Sprint("down", l+1))})
		}
	}
	for s := range c.spines {
		t.Switches = append(t.Switches, topology.Switch{Name: fmt.Sprint("spine", s+1)})
	}
	return t
}

// path is the path by one of the spines.
func (c clos) path(a, b, spine int) []topology.End {
	la, ha, lb, hb := a/c.hosts+1, a%c.hosts+1, b/c.hosts+1, b%c.hosts+1
	list := []topology.End{end(fmt.Sprintf("h%d-%d", la, ha), "eth0"), end(fmt.Sprint("leaf", la), fmt.Sprint("swp",
		ha))}
	if la != lb {
		s := fmt.Sprint("spine", spine+1)
		list = append(list, end(fmt.Sprint("leaf", la), fmt.Sprint("up", spine+1)), end(s, fmt.Sprint("down", la)),
			end(s, fmt.Sprint("down", lb)), end(fmt.Sprint("leaf", lb), fmt.Sprint("up", spine+1)))
	}
	return append(list, end(fmt.Sprint("leaf", lb), fmt.Sprint("swp", hb)), end(fmt.Sprintf("h%d-%d", lb, hb), "eth0"))
}

// measured are rounds in which each host sends to another one: over a slow link a pair is slow but for a
// share of missed, and others are by a share of noise.
func (c clos) measured(r *rand.Rand, rounds int, slow []topology.End, known bool, noise, missed float64) (list []Pair) {
	n := c.leaves * c.hosts
	for range rounds {
		to := r.Perm(n)
		for a, b := range to {
			if a == b {
				continue
			}
			path := c.path(a, b, r.IntN(c.spines))
			uses := false
			for i := 0; i < len(path); i += 2 {
				uses = uses || slices.Contains(slow, path[i])
			}
			p := Pair{From: path[0].Node, To: path[len(path)-1].Node, Slow: uses && r.Float64() >= missed ||
				r.Float64() < noise}
			if p.Ratio = 1; p.Slow {
				p.Ratio = 0.5
			}
			if known {
				p.Path = path
			}
			list = append(list, p)
		}
	}
	return list
}

// one draws a link of a kind: of a host up or down, or of a leaf up or down.
func (c clos) one(r *rand.Rand, kind int) topology.End {
	leaf, spine := r.IntN(c.leaves)+1, r.IntN(c.spines)+1
	host := r.IntN(c.hosts) + 1
	switch kind {
	case 0:
		return end(fmt.Sprintf("h%d-%d", leaf, host), "eth0")
	case 1:
		return end(fmt.Sprint("leaf", leaf), fmt.Sprint("swp", host))
	case 2:
		return end(fmt.Sprint("leaf", leaf), fmt.Sprint("up", spine))
	}
	return end(fmt.Sprint("spine", spine), fmt.Sprint("down", leaf))
}

// TestOneAndTwoLinks: in fabrics of 4 to 32 leaves with one or two slow links, what is named has the slow
// link, and almost always something is named; with known paths it is the link alone.
func TestOneAndTwoLinks(t *testing.T) {
	r := rand.New(rand.NewPCG(44, 6))
	simulated, false1, found, wanted, alone, alonesWanted := 0, 0, 0, 0, 0, 0
	for _, c := range []clos{{4, 2, 8}, {8, 4, 8}, {16, 4, 8}, {32, 8, 8}} {
		m := c.topology()
		for i := range 24 {
			known, number := i%2 == 0, 1+i/4%2
			var slow []topology.End
			for len(slow) < number {
				if e := c.one(r, (i+len(slow))%4); !slices.Contains(slow, e) {
					slow = append(slow, e)
				}
			}
			list, err := Links(m, c.measured(r, 16, slow, known, 0.01, 0.03))
			if err != nil {
				t.Fatal(err)
			}
			simulated++
			for _, s := range list {
				if !slices.ContainsFunc(slow, func(e topology.End) bool { return slices.Contains(s.Links, e) }) {
					false1++
					t.Logf("%s, known %v: slow %v, named %+v", c, known, slow, s)
				}
			}
			for _, e := range slow {
				wanted++
				at := slices.IndexFunc(list, func(s Suspect) bool { return slices.Contains(s.Links, e) })
				if at >= 0 {
					found++
				}
				if known {
					alonesWanted++
					if at >= 0 && len(list[at].Links) == 1 && list[at].Certainty > 0.9 {
						alone++
					}
				}
			}
		}
	}
	t.Logf("%d simulations: %d of %d slow links found, %d of %d alone with known paths; %d false", simulated, found,
		wanted,
		alone, alonesWanted, false1)
	if false1 > simulated/50 || found < wanted*95/100 || alone < alonesWanted*90/100 {
		t.Error("see above")
	}
}

// TestNoLink: without a slow link, at most one mesh in a hundred names one, also where many pairs are slow
// for other reasons.
func TestNoLink(t *testing.T) {
	r := rand.New(rand.NewPCG(44, 7))
	named, n := 0, 0
	for _, c := range []clos{{4, 2, 8}, {8, 4, 4}, {16, 4, 4}} {
		m := c.topology()
		for i := range 150 {
			list, err := Links(m, c.measured(r, 8, nil, i%2 == 0, []float64{0.002, 0.02, 0.2}[i%3], 0))
			if err != nil {
				t.Fatal(err)
			}
			if n++; len(list) > 0 {
				named++
				t.Logf("%s: %+v", c, list)
			}
		}
	}
	t.Logf("%d of %d", named, n)
	if named > n/100 {
		t.Errorf("%d of %d meshes without a slow link name one", named, n)
	}
}

// TestTold: links that no pair tells apart are named together, and what is known of them is counted.
func TestTold(t *testing.T) {
	c := clos{4, 2, 4}
	r := rand.New(rand.NewPCG(1, 2))
	slow := end("leaf3", "up2")
	list, err := Links(c.topology(), c.measured(r, 40, []topology.End{slow}, false, 0, 0))
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	s := list[0]
	slices.SortFunc(s.Links, func(a, b topology.End) int { return strings.Compare(a.String(), b.String()) })
	if len(s.Links) != 2 || s.Links[0] != end("leaf3", "up1") || s.Links[1] != slow || s.Host != "" || s.Count != 1 ||
		s.Ratio != 0.5 || s.Slow == 0 || s.Slow >= s.Pairs || s.Certainty < 0.98 {
		t.Errorf("%+v", s)
	}
	if _, err := Links(c.topology(), []Pair{{From: "h1-1", To: "nobody"}}); err == nil || !strings.Contains(err.Error(),
		"no host nobody") {
		t.Error(err)
	}
	if list, err := Links(c.topology(), nil); list != nil || err != nil {
		t.Errorf("%v, %v", list, err)
	}
}

// TestLarge: a mesh of all pairs of 256 hosts is concluded.
func TestLarge(t *testing.T) {
	c := clos{32, 8, 8}
	r := rand.New(rand.NewPCG(5, 5))
	slow := []topology.End{end("spine3", "down7")}
	list, err := Links(c.topology(), c.measured(r, 255, slow, true, 0.01, 0.02))
	if err != nil || len(list) != 1 || len(list[0].Links) != 1 || list[0].Links[0] != slow[0] {
		t.Errorf("%+v, %v", list, err)
	}
}
