package run

import (
	"slices"
	"testing"

	"linerate/internal/model/message"
	"linerate/internal/model/topology"
)

// TestNotRunning: what is waited for are interfaces that are up and have no carrier, or have
// one and are not activated; not those at the other end of an interface that is down.
func TestNotRunning(t *testing.T) {
	end := func(node, iface string) topology.End { return topology.End{Node: node, Interface: iface} }
	planned := &topology.Topology{Links: []topology.Link{
		{From: end("a", "eth0"), To: end("b", "eth0")},
		{From: end("a", "eth1"), To: end("switch", "port1")},
	}}
	up, running := message.LinkState{Up: true}, message.LinkState{Up: true, Running: true}
	for _, test := range []struct {
		name   string
		states map[topology.End]message.LinkState
		want   []topology.End
	}{
		{"all run", map[topology.End]message.LinkState{end("a", "eth0"): running, end("b", "eth0"): running}, nil},
		{"an end follows", map[topology.End]message.LinkState{end("a", "eth0"): up, end("b", "eth0"): running},
			[]topology.End{end("a", "eth0")}},
		{"the other end is down", map[topology.End]message.LinkState{end("a", "eth0"): up, end("b", "eth0"): {}}, nil},
		{"a switch that has no agent", map[topology.End]message.LinkState{end("a", "eth1"): up},
			[]topology.End{end("a", "eth1")}},
		{"a bond without members", map[topology.End]message.LinkState{end("a", "bond0"): up},
			[]topology.End{end("a", "bond0")}},
	} {
		if got := notRunning(planned, test.states); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}
