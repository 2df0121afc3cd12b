package topology

import (
	"slices"
	"testing"
)

// TestNarrowings: a host behind ports with a smaller MTU, another host of the segment with one, and
// none where a router is between the two.
func TestNarrowings(t *testing.T) {
	host := func(name string, forward bool, interfaces ...string) Host {
		h := Host{Name: name, Forward: forward}
		for _, i := range interfaces {
			h.Interfaces = append(h.Interfaces, Interface{Name: i})
		}
		return h
	}
	link := func(from, to string, mtu, back int) Link {
		return Link{From: end(from), To: end(to), Impairment: Impairment{MTU: mtu},
			Reverse: &Direction{Impairment: Impairment{MTU: back}}}
	}
	for _, test := range []struct {
		name string
		top  Topology
		want []Narrowing
	}{
		{"all alike", Topology{Hosts: []Host{host("a", false, "eth0"), host("b", false, "eth0")},
			Links: []Link{link("a.eth0", "b.eth0", 9000, 9000)}}, nil},
		{"the two ends of a link", Topology{Hosts: []Host{host("a", false, "eth0"), host("b", false, "eth0")},
			Links: []Link{link("a.eth0", "b.eth0", 9000, 1500)}},
			[]Narrowing{{end("a.eth0"), end("a.eth0"), 9000, end("b.eth0"), 1500}}},
		{"ports of a switch", Topology{Hosts: []Host{host("a", false, "eth0"), host("b", false, "eth0")},
			Switches: []Switch{{Name: "s"}},
			Links:    []Link{link("a.eth0", "s.a", 9000, 9000), link("b.eth0", "s.b", 9000, 1400)}},
			[]Narrowing{{end("a.eth0"), end("a.eth0"), 9000, end("s.b"), 1400},
				{end("b.eth0"), end("b.eth0"), 9000, end("s.b"), 1400}}},
		{"a router between", Topology{
			Hosts: []Host{host("a", false, "eth0"), host("r", true, "eth0", "eth1"), host("b", false, "eth0")},
			Links: []Link{link("a.eth0", "r.eth0", 9000, 9000), link("r.eth1", "b.eth0", 1500, 1500)}}, nil},
	} {
		if got := test.top.Narrowings(); !slices.Equal(got, test.want) {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}
