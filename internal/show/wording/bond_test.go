package wording

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/record"

	"linerate/internal/science/diagnose"
	"linerate/internal/science/diagnose/diagnosetest"
)

// TestBondHash: a bond that hashes addresses alone is found where its flows use fewer members
// than they could, and one that hashes ports is not.
func TestBondHash(t *testing.T) {
	const text = `
hosts:
  nas:
    interfaces:
      eth0: {}
      eth1: {}
      bond0: {bond: {mode: 802.3ad, xmit_hash_policy: POLICY, members: [eth0, eth1]}, addresses: [10.0.0.1/24]}
  client: {interfaces: {eth0: {addresses: [10.0.0.2/24]}}}
switches:
  switch: {ports: {nas: {bond: {mode: 802.3ad, xmit_hash_policy: POLICY, members: [p0, p1]}}}}
links:
  - {from: nas.eth0, to: switch.p0, rate: 1gbit}
  - {from: nas.eth1, to: switch.p1, rate: 1gbit}
  - {from: client, to: switch, rate: 10gbit}
`
	for _, c := range []struct {
		policy, from string
		members      [2]int // of the two flows
		want         string // host and the beginning of the fix
	}{
		{"layer2", "nas", [2]int{0, 0}, "nas on nas: ip link set dev bond0 type bond xmit_hash_policy layer3+4"},
		{"layer2+3", "nas", [2]int{1, 1}, "nas on nas: ip link set dev bond0 type bond xmit_hash_policy layer3+4"},
		{"layer2", "client", [2]int{0, 0}, "switch on the switch switch: hash by IP addresses and ports (layer3+4)"},
		{"layer2", "nas", [2]int{0, 1}, ""},   // by no such hash: both members are used
		{"layer3+4", "nas", [2]int{0, 0}, ""}, // chance
	} {
		over := diagnosetest.Parsed(t, strings.ReplaceAll(text, "POLICY", c.policy))
		trial := record.Trial{WindowS: 1, LimitBps: 2e9, PlacementLimitBps: 1e9, GoodputBps: 1e9}
		for i, member := range c.members {
			f := record.Flow{ID: "f", From: "nas", To: "client", OpenedBy: "client", Connected: true, Paths: 2,
				Source: "10.0.0.1:5201", Destination: "10.0.0.2:4000" + string("12"[i]),
				Path: []string{"nas.eth" + string("01"[member]), "switch.p" + string("01"[member]),
					"switch.client-eth0", "client.eth0"}}
			if c.from == "client" {
				f.From, f.To, f.Source, f.Destination = f.To, f.From, f.Destination, f.Source
				slices.Reverse(f.Path)
			}
			f.Predicted, f.Observed = f.Path, f.Path[1:2]
			trial.Flows = append(trial.Flows, f)
		}
		got := ""
		for _, f := range Findings(diagnose.Diagnose(trial, over), false) {
			if f.ID == "bond-hash" {
				got = f.Host + " " + f.Fix[0]
				if f.Confidence != record.Certain || len(f.Evidence) < 2 ||
					!strings.HasPrefix(f.Evidence[1], "they have 1 pair of ") ||
					(len(f.Settings) == 1) != (f.Host == "nas") {
					t.Errorf("%+v: %+v", c, f)
				}
			}
		}
		if got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
