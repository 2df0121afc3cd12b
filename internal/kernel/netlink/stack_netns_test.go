//go:build linux && !portable

package netlink

import (
	"os/exec"
	"reflect"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/netstate"
)

// TestBridgesAndBonds: as ip(8) and bridge(8) made them, with ports, VLANs and slaves.
func TestBridgesAndBonds(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		do := func(args ...string) { t.Helper(); kerneltest.Do(t, "ip", append([]string{"link"}, args...)...) }
		do("add", "name", "plain0", "type", "bridge")
		do("add", "name", "d0", "type", "veth", "peer", "name", "p0")
		do("set", "dev", "d0", "master", "plain0")
		c, err := Dial()
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		bridges, err := c.Bridges()
		if err != nil || len(bridges) != 1 || bridges[0].Interface != "plain0" || bridges[0].VLANFiltering ||
			len(bridges[0].Ports) == 0 {
			t.Errorf("%+v, %v", bridges, err)
		}
		if bonds, err := c.Bonds(); err != nil || len(bonds) > 0 {
			t.Errorf("%+v, %v", bonds, err)
		}
		t.Run("VLANs", func(t *testing.T) {
			if out, err := exec.Command("ip", "link", "add", "name", "br0", "type", "bridge", "vlan_filtering",
				"1").CombinedOutput(); err != nil {
				kerneltest.Without(t, "no VLANs of bridges here: "+string(out))
			}
			do("add", "name", "d1", "type", "veth", "peer", "name", "p1")
			do("set", "dev", "d1", "master", "br0")
			if out, err := exec.Command("bridge", "vlan", "add", "dev", "d1", "vid",
				"10-20").CombinedOutput(); err != nil {
				kerneltest.Without(t, "no VLANs of bridges here: "+string(out))
			}
			bridges, err := c.Bridges()
			var ports []netstate.BridgePort
			for _, b := range bridges {
				if b.Interface == "br0" && b.VLANFiltering {
					ports = b.Ports
				}
			}
			own := netstate.BridgePort{Interface: "br0", VLANs: []string{"1 PVID untagged"}}
			port := netstate.BridgePort{Interface: "d1", VLANs: []string{"1 PVID untagged", "10-20"}}
			if err != nil || !reflect.DeepEqual(ports, []netstate.BridgePort{own, port}) &&
				!reflect.DeepEqual(ports, []netstate.BridgePort{port, own}) {
				t.Errorf("%+v, %v", bridges, err)
			}
		})
		t.Run("bond", func(t *testing.T) {
			if out, err := exec.Command("ip", "link", "add", "name", "bond0", "type", "bond", "mode", "802.3ad",
				"xmit_hash_policy", "layer3+4", "miimon", "100", "lacp_rate", "fast").CombinedOutput(); err != nil {
				kerneltest.Without(t, "no bonds here: "+string(out))
			}
			do("add", "name", "s0", "type", "veth", "peer", "name", "s1")
			do("set", "dev", "s0", "master", "bond0")
			bonds, err := c.Bonds()
			if err != nil || len(bonds) != 1 || len(bonds[0].Slaves) != 1 {
				t.Fatalf("%+v, %v", bonds, err)
			}
			slave := bonds[0].Slaves[0]
			bonds[0].Slaves = nil
			if want := (netstate.Bond{Interface: "bond0", Mode: "802.3ad", HashPolicy: "layer3+4", MIIMonMs: 100,
				LACPRate: "fast"}); !reflect.DeepEqual(bonds[0], want) {
				t.Errorf("%+v, want %+v", bonds[0], want)
			}
			if slave.Interface != "s0" || slave.State == "" || slave.Link == "" {
				t.Errorf("%+v", slave)
			}
		})
	})
}

// TestParseStacks: what the kernel says of a bond, a slave and VLANs, also on a kernel without them.
func TestParseStacks(t *testing.T) {
	attribute := func(kind uint16, data ...byte) []byte { return appendAttribute(nil, kind, data) }
	number := func(kind uint16, n uint32) []byte { return appendUint32(nil, kind, n) }
	join := func(parts ...[]byte) []byte { return slices.Concat(parts...) }
	bond := parseBond("bond0", join(attribute(bondMode, 4), number(bondMIIMon, 100), attribute(bondLACPRate, 1),
		attribute(unix.IFLA_BOND_XMIT_HASH_POLICY, 1)))
	if want := (netstate.Bond{Interface: "bond0", Mode: "802.3ad", HashPolicy: "layer3+4", MIIMonMs: 100,
		LACPRate: "fast"}); !reflect.DeepEqual(bond, want) {
		t.Errorf("%+v, want %+v", bond, want)
	}
	if bond := parseBond("bond0",
		join(attribute(bondMode, 1), attribute(bondLACPRate, 0))); bond.Mode != "active-backup" || bond.LACPRate != "" {
		t.Errorf("%+v", bond)
	}
	slave := parseSlave("eth0", join(attribute(slaveState, 1), attribute(slaveLink, 2), number(slaveFailures, 3),
		appendAttribute(nil, slaveAggregator, native.AppendUint16(nil, 7))))
	if want := (netstate.BondMember{Interface: "eth0", State: "backup", Link: "down", LinkFailures: 3,
		Aggregator: 7}); slave != want {
		t.Errorf("%+v, want %+v", slave, want)
	}
	if slave := parseSlave("eth0", join(attribute(slaveState, 9), attribute(slaveLink),
		attribute(slaveAggregator, 1))); slave.State != "9" || slave.Link != "" {
		t.Errorf("%+v", slave)
	}
	vlan := func(flags, id uint16) []byte {
		return appendAttribute(nil, bridgeVLANs, native.AppendUint16(native.AppendUint16(nil, flags), id))
	}
	if got, want := vlansOf(join(vlan(vlanPVID|vlanUntagged, 1), vlan(vlanBegin, 10), vlan(vlanRange, 20),
		attribute(bridgeVLANs, 1))), []string{"1 PVID untagged", "10-20"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
