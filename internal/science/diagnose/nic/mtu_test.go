package nic_test

import (
	"fmt"
	"strings"
	"testing"

	"linerate/internal/model/cause"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose"
	"linerate/internal/science/diagnose/diagnosetest"
)

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
		want                    []string // where frames are not taken, and the first command
	}{
		{tagged("5", "10.0.0.1"), tagged("5", "10.0.0.2"), "{}", direct, nil},
		{tagged("5", "10.0.0.1"), tagged("6", "10.0.0.2"), "{}", direct,
			[]string{"b.eth0[5]", "b: ip link add link eth0 name eth0.5 type vlan id 5"}},
		{tagged("5", "10.0.0.1"), tagged("6", "10.0.0.2"), "{}", switched,
			[]string{"b.eth0[5]", "b: ip link add"}},
		{tagged("5", "10.0.0.1"), tagged("5", "10.0.0.2"), "{ports: {pa: {tagged: [5]}, pb: {untagged: 1}}}", switched,
			[]string{"switch.pa[5]", "switch: bridge vlan add dev pb vid 5"}},
		{tagged("5", "10.0.0.1"), tagged("5", "10.0.0.2"), "{ports: {pa: {untagged: 5}, pb: {tagged: [5]}}}",
			switched, nil},
		{tagged("5", "10.0.0.1"), tagged("5", "10.0.0.2"), "{ports: {pa: {tagged: [5]}, pb: {untagged: 5}}}", switched,
			[]string{"b.eth0[]", ""}},
		{tagged("5", "10.0.0.1"), tagged("5", "10.0.0.2"), "{ports: {pa: {tagged: [5]}, pb: {tagged: [5]}}}",
			switched, nil},
	} {
		over := diagnosetest.Parsed(t, strings.NewReplacer("NEAR", c.near, "FAR", c.far, "PORTS", c.ports, "LINKS",
			c.links).Replace(text))
		trial := record.Trial{Flows: []record.Flow{{ID: "f", From: "a", To: "b", OpenedBy: "a", Source: "10.0.0.1:0",
			Destination: "10.0.0.2:5201", Error: "timed out"}}}
		var got []string
		for _, f := range diagnose.Diagnose(trial, over) {
			switch f.ID {
			case "vlan-mismatch":
				args, step := f.Args.(cause.Frames), ""
				if len(f.Steps) > 0 {
					step = f.Steps[0].Host + ": " + strings.Join(f.Steps[0].Command, " ")
				}
				got = []string{fmt.Sprint(args.At, args.Tags), step}
			case "unreachable":
				if c.want != nil {
					t.Errorf("%v: an explained flow is unreachable as well", c)
				}
			}
		}
		if len(got) != len(c.want) || got != nil && (got[0] != c.want[0] || !strings.HasPrefix(got[1], c.want[1])) {
			t.Errorf("%s, %s, %s: %q, want %q", c.near, c.far, c.ports, got, c.want)
		}
	}
}

// TestSmallMTU: the MTU of a link can be 1500, and that of a tunnel is what its path leaves.
func TestSmallMTU(t *testing.T) {
	for kind, want := range map[string]string{"": "mtu-below-minimum nas likely",
		"veth": "mtu-below-minimum nas likely", "wireguard": "mtu-below-minimum nas possible",
		"gre": "mtu-below-minimum nas possible"} {
		s := diagnosetest.HostNamed("nas", 15)
		i := &s.Reading.Snapshot.Interfaces[0]
		if i.Kind, i.MTU = kind, 1200; kind == "wireguard" {
			i.MAC = ""
		}
		list := diagnose.Hosts([]netstate.HostSnapshot{s}).Findings
		if got := diagnosetest.Names(list); got != want ||
			(len(list[0].Changes()) > 0) != strings.HasSuffix(want, "likely") {
			t.Errorf("%q: found %s: %+v", kind, got, list)
		}
	}
}
