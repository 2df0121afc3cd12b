package diagnose

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/model/source"
	"linerate/internal/model/topology"
)

// parsed decodes a topology.
func parsed(t *testing.T, text string) *topology.Topology {
	t.Helper()
	doc, problems := source.Parse("test.yaml", []byte(text))
	over := &topology.Topology{}
	if doc != nil {
		problems = append(problems, doc.Decode(over)...)
	}
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	over.Complete()
	return over
}

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
		over := parsed(t, strings.ReplaceAll(text, "POLICY", c.policy))
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
		for _, f := range Diagnose(trial, over) {
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

// TestVLANMismatch names the place at which frames are not taken.
func TestVLANMismatch(t *testing.T) {
	const text = `
hosts:
  a: {interfaces: {eth0: {}, NEAR}}
  b: {interfaces: {eth0: {}, FAR}}
switches: {switch: PORTS}
links: LINKS
`
	const switched, direct = "[{from: a.eth0, to: switch.pa}, {from: b.eth0, to: switch.pb}]",
		"[{from: a.eth0, to: b.eth0}]"
	tagged := func(n, address string) string {
		return "eth0." + n + ": {vlan: " + n + ", addresses: [" + address + "/24]}"
	}
	for _, c := range []struct {
		near, far, ports, links string
		want                    []string // in the summary, and in the fix
	}{
		{tagged("5", "10.0.0.1"), tagged("5", "10.0.0.2"), "{}", direct, nil},
		{tagged("5", "10.0.0.1"), tagged("6", "10.0.0.2"), "{}", direct,
			[]string{"b.eth0 with tag 5", "on b: ip link add link eth0 name eth0.5 type vlan id 5"}},
		{tagged("5", "10.0.0.1"), tagged("6", "10.0.0.2"), "{}", switched,
			[]string{"b.eth0 with tag 5", "on b: ip link add"}},
		{tagged("5", "10.0.0.1"), tagged("5", "10.0.0.2"), "{ports: {pa: {tagged: [5]}, pb: {untagged: 1}}}", switched,
			[]string{"switch.pa with tag 5", "on switch: bridge vlan add dev pb vid 5"}},
		{tagged("5", "10.0.0.1"), tagged("5", "10.0.0.2"), "{ports: {pa: {untagged: 5}, pb: {tagged: [5]}}}",
			switched, nil},
		{tagged("5", "10.0.0.1"), tagged("5", "10.0.0.2"), "{ports: {pa: {tagged: [5]}, pb: {untagged: 5}}}", switched,
			[]string{"b.eth0 without a tag", "give the address to b.eth0 itself"}},
		{tagged("5", "10.0.0.1"), tagged("5", "10.0.0.2"), "{ports: {pa: {tagged: [5]}, pb: {tagged: [5]}}}",
			switched, nil},
	} {
		over := parsed(t, strings.NewReplacer("NEAR", c.near, "FAR", c.far, "PORTS", c.ports, "LINKS",
			c.links).Replace(text))
		trial := record.Trial{Flows: []record.Flow{{ID: "f", From: "a", To: "b", OpenedBy: "a", Source: "10.0.0.1:0",
			Destination: "10.0.0.2:5201", Error: "timed out"}}}
		var got []string
		for _, f := range Diagnose(trial, over) {
			switch f.ID {
			case "vlan-mismatch":
				got = []string{f.Summary, f.Fix[0]}
			case "unreachable":
				if c.want != nil {
					t.Errorf("%v: an explained flow is unreachable as well", c)
				}
			}
		}
		if len(got) != len(c.want) || got != nil && !(strings.Contains(got[0], c.want[0]) &&
			strings.HasPrefix(got[1], c.want[1])) {
			t.Errorf("%s, %s, %s: %q, want %q", c.near, c.far, c.ports, got, c.want)
		}
	}
}
