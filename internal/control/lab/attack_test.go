package lab

import (
	"net"
	"strings"
	"testing"

	"linerate/internal/bus/hub"
	"linerate/internal/control/reach"
	"linerate/internal/host/agent"
	"linerate/internal/model/message"
	"linerate/internal/model/study"
	"linerate/internal/model/topology"
)

// TestAttackKey: a lab with a real host or switch has none to give, nor has one that linerate
// did not make.
func TestAttackKey(t *testing.T) {
	good, err := study.ParseTopology("lab.yaml", []byte(`study: lab
topology:
  hosts:
    a: {interfaces: {eth0: {addresses: [10.0.0.1/24]}}}
    b: {interfaces: {eth0: {addresses: [10.0.0.2/24]}}}
  links: [{from: a, to: b}]
`))
	if err != nil {
		t.Fatal(err)
	}
	b, err := hub.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	real, err := reach.Start(t.Context(), b, []reach.Host{{Name: "a", Here: true}}, reach.Change,
		reach.Options{Self: func(node string, access message.Access) net.Conn {
			near, far := net.Pipe()
			go func() { _ = agent.Serve(t.Context(), far, agent.Options{Node: node, Access: access}) }()
			return near
		}})
	if err != nil {
		t.Fatal(err)
	}
	defer real.End()
	for name, l := range map[string]*Lab{
		"alone, and a is not made by linerate: it is reached by via": {
			topology: &topology.Topology{Hosts: []topology.Host{{Name: "a", Via: []string{"env"}}}},
			init:     &initProcess{}, key: "k"},
		"alone, and s is not made by linerate: it is unmanaged": {
			topology: &topology.Topology{Switches: []topology.Switch{{Name: "s", Unmanaged: true}}},
			init:     &initProcess{}, key: "k"},
		"this one has hosts that linerate did not make": {topology: good, key: "k"},
		"alone, and this one has hosts that linerate did not make": {topology: good, init: &initProcess{},
			reached: real, key: "k"},
	} {
		if key, err := l.AttackKey(); key != "" || err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%q, %v; want no key and %q", key, err, name)
		}
	}
	if key, err := (&Lab{topology: good, init: &initProcess{}, key: "k"}).AttackKey(); key != "k" || err != nil {
		t.Errorf("%q, %v", key, err)
	}
}
