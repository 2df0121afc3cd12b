package fabric

import (
	"maps"
	"testing"

	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
)

func TestRacksAndUplinks(t *testing.T) {
	end := func(node, name string) topology.End { return topology.End{Node: node, Interface: name} }
	link := func(a, b topology.End, rate unit.BitRate) topology.Link {
		return topology.Link{From: a, To: b, Impairment: topology.Impairment{Rate: rate}}
	}
	f := &topology.Topology{
		Hosts: []topology.Host{{Name: "h1"}, {Name: "h2"}, {Name: "h3"}, {Name: "spine", Forward: true},
			{Name: "h4"}},
		Switches: []topology.Switch{{Name: "leaf1"}, {Name: "leaf2"}},
		Links: []topology.Link{link(end("h1", "eth0"), end("leaf1", "p1"), 1e9), link(end("leaf1", "p2"), end("h2",
			"eth0"), 1e9),
			link(end("h3", "eth0"), end("leaf2", "p1"), 1e9), link(end("h3", "eth1"), end("leaf1", "p3"), 1e9),
			link(end("leaf1", "u1"), end("spine", "d1"), 4e9), link(end("spine", "d2"), end("leaf1", "u2"), 4e9),
			link(end("leaf2", "u1"), end("spine", "d3"), 0)},
	}
	if r := RacksOf(f); !maps.Equal(r, map[string]string{"h1": "leaf1", "h2": "leaf1", "h3": "leaf2"}) {
		t.Errorf("%v", r)
	}
	if u := UplinksOf(f); !maps.Equal(u, map[string]float64{"leaf1": 8e9}) {
		t.Errorf("%v", u)
	}
}
