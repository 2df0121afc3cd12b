package run

import (
	"net/netip"
	"strings"
	"testing"

	"linerate/internal/control/trial"
	"linerate/internal/model/netstate"
	"linerate/internal/model/topology"
)

// said are reports of hosts with a kernel of one release.
type said string

func (said) mac(topology.End) (string, error) { return "02:00:00:00:00:01", nil }
func (s said) kernel(string) string           { return string(s) }

// TestSpread: the member that a bond's hash chooses is predicted by the kernel of the bond's host.
func TestSpread(t *testing.T) {
	p := treatments(t, `
study: bonds
topology:
  hosts:
    a: {interfaces: {"eth{0..1}": {}, bond0: {bond: {mode: balance-xor, members: [eth0, eth1]}, addresses: ["fd00::1/64"]}}}
    b: {interfaces: {"eth{0..1}": {}, bond0: {bond: {mode: balance-xor, members: [eth0, eth1]}, addresses: ["fd00::2/64"]}}}
  links: [{from: "a.eth{n=0..1}", to: "b.eth{n}", rate: 1gbit}]
workload: {flows: [{from: a, to: b}]}
`)
	over := &p.Study.Topology
	for kernel, member := range map[said]string{"6.1.0": "a.eth1", "": "a.eth1", "5.10.0": ""} {
		flows := trial.Planned(p.Treatments[0].Flows, over)
		for _, f := range flows {
			f.Opened, f.Accepted = netip.MustParseAddrPort("[fd00::1]:40000"), netip.MustParseAddrPort("[fd00::2]:5201")
		}
		f := traces(multipath(over, flows))[flows[0]]
		f.at = f.sender
		f.step(over, netstate.RouteLookup{Interface: "bond0", Nexthops: 1}, kernel)
		if member != "" && (len(f.path) == 0 || f.path[0].String() != member) || member == "" &&
			!strings.Contains(f.note, "its kernel is 5.10.0") {
			t.Errorf("kernel %q: %v (%s), want %q", kernel, f.path, f.note, member)
		}
	}
}
