package nic_test

import (
	"slices"
	"testing"

	"linerate/internal/model/cause"
	"linerate/internal/model/netstate"

	"linerate/internal/science/diagnose"
	"linerate/internal/science/diagnose/diagnosetest"
)

// TestOffloads: an offload that a command switches on is a likely finding; one that is kept off
// without scatter-gather is possible, and one that is requested has no command.
func TestOffloads(t *testing.T) {
	const tso, gso, gro = "tx-tcp-segmentation", "tx-generic-segmentation", "rx-gro"
	for _, test := range []struct {
		name       string
		off, unmet []string
		want       string
		sets       []string // options of ethtool(8)
		args       any      // nil: none
	}{
		{"all are on", nil, nil, "", nil, nil},
		{"off by a command", []string{tso, gso}, nil, "offload-off nas likely", []string{"gso", "tso"}, nil},
		{"a stock r8169", []string{"tx-scatter-gather", tso, gso}, []string{gso}, "offload-off nas possible", nil,
			cause.Offload{NoGather: true}},
		{"with GRO off as well", []string{"tx-scatter-gather", tso, gso, gro}, []string{gso}, "offload-off nas likely",
			[]string{"gro"}, nil},
		{"transmit checksums are off", []string{"tx-scatter-gather", tso, gso}, []string{"tx-scatter-gather", tso, gso},
			"offload-off nas possible", nil, cause.Offload{NoGather: true, Requested: true}},
		{"kept off by the driver", []string{tso}, []string{tso}, "", nil, nil},
		{"kept off beside one that is off", []string{tso, gro}, []string{tso}, "offload-off nas likely",
			[]string{"gro"}, nil},
	} {
		s := diagnosetest.HostNamed("nas", 15)
		n := &s.State.NICs[0]
		n.Features, n.Unmet = map[string]bool{"tx-scatter-gather": true, tso: true, gso: true, gro: true}, test.unmet
		for _, name := range test.off {
			n.Features[name] = false
		}
		list := diagnose.Hosts([]netstate.HostSnapshot{s}).Findings
		if got := diagnosetest.Names(list); got != test.want {
			t.Errorf("%s: found %q, want %q", test.name, got, test.want)
			continue
		}
		if len(list) == 0 {
			continue
		}
		var sets []string
		for _, change := range list[0].Changes() {
			for _, o := range change.NIC.Features {
				sets = append(sets, o.Key)
			}
		}
		if !slices.Equal(sets, test.sets) || list[0].Args != test.args {
			t.Errorf("%s: %q, %+v", test.name, sets, list[0].Args)
		}
	}
}

// TestOffloadsNotOffered: of a paravirtual NIC without TSO the hypervisor is named, and no command of this machine.
func TestOffloadsNotOffered(t *testing.T) {
	const tso = "tx-tcp-segmentation"
	for _, c := range []struct {
		name, driver string
		change       func(s *netstate.HostSnapshot, n *netstate.NIC)
		want         string
	}{
		{"a snapshot, which leaves out what is fixed", "virtio_net", nil, "offloads-not-offered nas likely"},
		{"a text", "vmxnet3", func(s *netstate.HostSnapshot, n *netstate.NIC) {
			s.Pasted, n.Fixed = []string{"features"}, []string{tso}
		}, "offloads-not-offered nas likely"},
		{"a text without the line", "virtio_net", func(s *netstate.HostSnapshot, _ *netstate.NIC) {
			s.Pasted = []string{"features"}
		}, ""},
		{"offered", "virtio_net", func(_ *netstate.HostSnapshot, n *netstate.NIC) { n.Features[tso] = true }, ""},
		{"no features", "virtio_net", func(_ *netstate.HostSnapshot, n *netstate.NIC) { n.Features = nil }, ""},
		{"a card", "r8169", nil, ""},
	} {
		s := diagnosetest.HostNamed("nas", 15)
		n := &s.State.NICs[0]
		n.Driver, n.Features = c.driver, map[string]bool{"rx-gro": true}
		if c.change != nil {
			c.change(&s, n)
		}
		list := diagnosetest.FoundBy(diagnose.Hosts([]netstate.HostSnapshot{s}), "offloads-not-offered")
		if got := diagnosetest.Names(list); got != c.want {
			t.Errorf("%s: found %q, want %q", c.name, got, c.want)
		} else if len(list) > 0 && len(list[0].Fix) > 0 {
			t.Errorf("%s: %v", c.name, list[0].Fix)
		}
	}
}
