package topology_test

import (
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"

	. "linerate/internal/model/topology"

	"linerate/internal/model/source"
)

// parsed decodes a topology without a mistake.
func parsed(t *testing.T, text string) *Topology {
	t.Helper()
	doc, problems := source.Parse("test.yaml", []byte(text))
	if doc == nil {
		t.Fatal(problems)
	}
	over := &Topology{}
	problems = append(problems, doc.Decode(over)...)
	over.Validate(func(path, format string, args ...any) { t.Errorf(path+": "+format, args...) })
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	over.Complete()
	return over
}

func texts(paths [][]End) (list []string) {
	for _, path := range paths {
		var ends []string
		for _, e := range path {
			ends = append(ends, e.String())
		}
		list = append(list, strings.Join(ends, " "))
	}
	return list
}

const stacked = `
hosts:
  nas:
    interfaces:
      eth0: {}
      eth1: {}
      bond0: {bond: {mode: 802.3ad, members: [eth0, eth1]}, addresses: [10.0.1.1/24]}
      bond0.5: {vlan: 5, addresses: [10.0.5.1/24]}
  client:
    interfaces:
      eth0: {addresses: [10.0.1.2/24]}
      eth0.5: {vlan: 5, addresses: [10.0.5.2/24]}
      vx: {vxlan: {id: 42, local: 10.0.1.2, remote: 10.0.2.2}, addresses: [10.7.0.1/24]}
    routes: [{to: 10.0.2.0/24, via: 10.0.1.254}]
  access:
    interfaces:
      eth0: {addresses: [10.0.5.3/24]}
  router:
    forward: true
    interfaces:
      left: {addresses: [10.0.1.254/24]}
      right: {addresses: [10.0.2.254/24]}
      other: {addresses: [10.0.9.254/24]}
      red: {vrf: {table: 10, members: [left, right]}}
  far:
    interfaces:
      eth0: {addresses: [10.0.2.2/24]}
      vx: {vxlan: {id: 42, local: 10.0.2.2, remote: 10.0.1.2}, addresses: [10.7.0.2/24]}
    routes: [{to: default, via: 10.0.2.254}]
  outside:
    interfaces:
      eth0: {addresses: [10.0.9.1/24]}
    routes: [{to: default, via: 10.0.9.254}]
switches:
  switch:
    ports:
      nas: {bond: {mode: 802.3ad, members: [p0, p1]}, untagged: 1, tagged: [5]}
      client-eth0: {untagged: 1, tagged: [5]}
      access-eth0: {untagged: 5}
links:
  - {from: nas.eth0, to: switch.p0}
  - {from: nas.eth1, to: switch.p1}
  - {from: client, to: switch}
  - {from: access, to: switch}
  - {from: router.left, to: switch}
  - {from: router.right, to: far}
  - {from: router.other, to: outside}
`

// TestPathsOverDevices follows flows through bonds, VLANs, a VRF and a tunnel: paths are those
// of the links.
func TestPathsOverDevices(t *testing.T) {
	over := parsed(t, stacked)
	for name, c := range map[string]struct {
		from, source, to string
		want             []string
		wraps            map[string]Wrap
		mtu              int
	}{
		"bond": {"client", "", "10.0.1.1", []string{
			"client.eth0 switch.client-eth0 switch.p0 nas.eth0",
			"client.eth0 switch.client-eth0 switch.p1 nas.eth1"}, nil, 1500},
		"bond, the other way": {"nas", "", "10.0.1.2", []string{
			"nas.eth0 switch.p0 switch.client-eth0 client.eth0",
			"nas.eth1 switch.p1 switch.client-eth0 client.eth0"}, nil, 1500},
		"tagged at both ends": {"client", "", "10.0.5.1", []string{
			"client.eth0 switch.client-eth0 switch.p0 nas.eth0",
			"client.eth0 switch.client-eth0 switch.p1 nas.eth1"},
			map[string]Wrap{"client.eth0": {VLANs: 1}, "switch.p0": {VLANs: 1}, "switch.p1": {VLANs: 1}}, 1500},
		"tagged at one end": {"access", "", "10.0.5.2",
			[]string{"access.eth0 switch.access-eth0 switch.client-eth0 client.eth0"},
			map[string]Wrap{"switch.client-eth0": {VLANs: 1}}, 1500},
		"VRF": {"client", "", "10.0.2.2",
			[]string{"client.eth0 switch.client-eth0 switch.router-left router.left router.right far.eth0"}, nil, 0},
		"tunnel": {"client", "", "10.7.0.2",
			[]string{"client.eth0 switch.client-eth0 switch.router-left router.left router.right far.eth0"},
			map[string]Wrap{"client.eth0": {Tunnel: 50}, "switch.router-left": {Tunnel: 50},
				"router.right": {Tunnel: 50}}, 1450},
	} {
		var source netip.Addr
		destination := netip.MustParseAddr(c.to)
		paths, err := over.Paths(c.from, source, destination)
		if got := texts(paths); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: paths %q, %v; want %q", name, got, err, c.want)
		}
		wraps, mtu := over.Wraps(c.from, source, destination)
		if mtu != c.mtu || len(wraps) != len(paths) {
			t.Errorf("%s: %v, MTU %d; want one for each path, MTU %d", name, wraps, mtu, c.mtu)
		}
		for i, path := range wraps {
			for k, got := range path {
				want := c.wraps[got.From.String()]
				if want.From = paths[i][2*k]; !reflect.DeepEqual(got, want) {
					t.Errorf("%s: path %d has %+v, want %+v", name, i, got, want)
				}
			}
			if 2*len(path) != len(paths[i]) {
				t.Errorf("%s: path %d of %d ends has %+v", name, i, len(paths[i]), path)
			}
		}
	}
	for _, c := range []struct{ from, to, want string }{
		{"outside", "10.0.2.2", "router has neither an interface on its prefix nor a route"}, // outside the VRF
		{"access", "10.0.1.2", "access has neither an interface"},                            // in another VLAN
		{"far", "10.0.1.254", "VRF red"},
	} {
		if paths, err := over.Paths(c.from, netip.Addr{}, netip.MustParseAddr(c.to)); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s to %s: %q, %v; want an error with %q", c.from, c.to, texts(paths), err, c.want)
		}
	}
}

// TestVLANsSeparate: a frame leaves a switch only by ports in its VLAN.
func TestVLANsSeparate(t *testing.T) {
	const text = `
hosts:
  a: {interfaces: {eth0: {addresses: [10.0.0.1/24]}, eth0.7: {vlan: 7, addresses: [10.0.7.1/24]}}}
  b: {interfaces: {eth0: {addresses: [10.0.0.2/24]}, eth0.7: {vlan: 7, addresses: [10.0.7.2/24]}}}
switches: {switch: PORTS}
links: [{from: a, to: switch}, {from: b, to: switch}]
`
	for ports, want := range map[string][2]bool{ // untagged, VLAN 7
		"{}": {true, true}, // without filtering tags are no matter
		"{ports: {a-eth0: {untagged: 1, tagged: [7]}}}":                                        {true, false},
		"{ports: {a-eth0: {untagged: 1, tagged: [7]}, b-eth0: {untagged: 1, tagged: [7]}}}":    {true, true},
		"{ports: {a-eth0: {tagged: [7]}, b-eth0: {tagged: [7]}}}":                              {false, true},
		"{ports: {a-eth0: {untagged: 7}, b-eth0: {untagged: 7}}}":                              {true, false},
		"{ports: {a-eth0: {untagged: 2, tagged: [7]}, b-eth0: {untagged: 3, tagged: [7, 8]}}}": {false, true},
	} {
		over := parsed(t, strings.Replace(text, "PORTS", ports, 1))
		for i, to := range []string{"10.0.0.2", "10.0.7.2"} {
			if _, err := over.Paths("a", netip.Addr{}, netip.MustParseAddr(to)); (err == nil) != want[i] {
				t.Errorf("%s: path to %s: %v, want one: %t", ports, to, err, want[i])
			}
		}
	}
}
