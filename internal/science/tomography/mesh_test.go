package tomography

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	plan "linerate/internal/model/mesh"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/suspects"
)

// shared are rounds of permutations in a fabric whose uplinks together carry as much as the hosts of a leaf:
// flows that a hash places on the same link share it. slow carries a part of what the others do.
func (c clos) shared(r *rand.Rand, rounds int, slow topology.End, part, noise float64) (in suspects.Input) {
	n := c.leaves * c.hosts
	for l := range c.leaves {
		for h := range c.hosts {
			in.Hosts = append(in.Hosts, plan.Host{Name: fmt.Sprintf("h%d-%d", l+1, h+1), Rack: fmt.Sprint("leaf", l+1)})
		}
	}
	in.Flows, in.Links = 1, c.spines
	for round := range rounds {
		used := map[topology.End]int{}
		paths := make([][]topology.End, n)
		to := r.Perm(n)
		for a, b := range to {
			paths[a] = c.path(a, b, r.IntN(c.spines))
			for i := 2; i < len(paths[a])-2; i += 2 {
				used[paths[a][i]]++
			}
		}
		for a, b := range to {
			if a == b {
				continue
			}
			rate := 1.0
			for i := 2; i < len(paths[a])-2; i += 2 {
				each := float64(c.hosts) / float64(c.spines)
				if paths[a][i] == slow {
					each *= part
				}
				rate = min(rate, each/float64(used[paths[a][i]]))
			}
			rate *= math.Exp(noise * r.NormFloat64())
			in.Observations = append(in.Observations, suspects.Observation{Round: round, From: a, To: b,
				Value: 9.4e9 * rate,
				Limit: 9.42e9})
		}
	}
	return in
}

// TestMeshWithCollisions: where flows share uplinks by chance, a mesh without a fault names no link, and one
// with a slow uplink names it or those that no pair tells apart from it.
func TestMeshWithCollisions(t *testing.T) {
	r := rand.New(rand.NewPCG(44, 8))
	named, n, found, wanted, wrong := 0, 0, 0, 0, 0
	for _, c := range []clos{{4, 4, 8}, {8, 4, 8}, {16, 4, 8}} {
		m := c.topology()
		for range 60 {
			in := c.shared(r, 24, topology.End{}, 1, 0.02)
			list, err := Mesh(m, in, record.MeshConclusion{})
			if err != nil {
				t.Fatal(err)
			}
			if n++; len(list) > 0 {
				named++
				t.Logf("%s, no fault: %+v", c, list)
			}
		}
		for i := range 12 {
			slow := c.one(r, 2+i%2)
			list, err := Mesh(m, c.shared(r, 24, slow, 0.1, 0.02), record.MeshConclusion{})
			if err != nil {
				t.Fatal(err)
			}
			wanted++
			for _, s := range list {
				if s.Link == slow.String() || slices.Contains(s.Links, slow.String()) {
					found++
				} else {
					wrong++
					t.Logf("%s: %s is slow, named %+v", c, slow, s)
				}
			}
		}
	}
	t.Logf("%d of %d without a fault name a link; %d of %d found, %d wrong", named, n, found, wanted, wrong)
	if named > n/100 || wrong > 0 || found < wanted*8/10 {
		t.Error("see above")
	}
}

// TestMeshLeavesSuspectsOut: a host that is a suspect explains its own pairs, and a latency is slow if it
// is long.
func TestMeshLeavesSuspectsOut(t *testing.T) {
	c := clos{4, 2, 4}
	r := rand.New(rand.NewPCG(3, 3))
	in := c.shared(r, 40, end("leaf2", "up1"), 0.05, 0)
	in.Latency = true
	for i := range in.Observations {
		o := &in.Observations[i]
		if o.Value, o.Limit = 1e12/o.Value, 0; in.Hosts[o.From].Name == "h1-1" {
			o.Value *= 50
		}
	}
	suspects := record.MeshConclusion{Suspects: []record.MeshSuspect{{Kind: record.MeshSends, Host: "h1-1"}}}
	list, err := Mesh(c.topology(), in, suspects)
	if err != nil || len(list) != 1 || !strings.HasPrefix(list[0].Link, "leaf2.up") || list[0].Ratio < 1.25 ||
		list[0].Value <= 0 {
		t.Errorf("%+v, %v", list, err)
	}
}
