package fabric

import (
	"maps"
	"slices"
	"testing"

	"linerate/internal/model/mesh"
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
	if r := racksOf(f); !maps.Equal(r, map[string]string{"h1": "leaf1", "h2": "leaf1", "h3": "leaf2"}) {
		t.Errorf("%v", r)
	}
	if u := uplinksOf(f); !maps.Equal(u, map[string]float64{"leaf1": 8e9}) {
		t.Errorf("%v", u)
	}
	hosts := []mesh.Host{{Name: "h1"}, {Name: "h3", RateBps: 5e8}, {Name: "elsewhere", Rack: "r9"}}
	uplinks := Place(f, hosts)
	if !slices.Equal(hosts, []mesh.Host{{Name: "h1", Rack: "leaf1", RateBps: 1e9},
		{Name: "h3", Rack: "leaf2", RateBps: 5e8}, {Name: "elsewhere", Rack: "r9"}}) ||
		!maps.Equal(uplinks, map[string]float64{"leaf1": 8e9}) {
		t.Errorf("%+v, uplinks %v", hosts, uplinks)
	}
	if u := Place(f, []mesh.Host{{Name: "elsewhere"}}); len(u) > 0 {
		t.Errorf("uplinks of racks without hosts: %v", u)
	}
}
