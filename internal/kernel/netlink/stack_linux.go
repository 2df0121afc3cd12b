//go:build !portable

package netlink

import (
	"fmt"

	"golang.org/x/sys/unix"

	"linerate/internal/model/netstate"
)

// Attributes of linux/if_link.h and linux/if_bridge.h that package unix lacks.
const (
	infoSlaveData = 5 // IFLA_INFO_SLAVE_DATA

	bridgeSTP, bridgeFiltering = 5, 7 // IFLA_BR_STP_STATE, IFLA_BR_VLAN_FILTERING

	bridgeVLANs                                  = 2 // IFLA_BRIDGE_VLAN_INFO
	vlanPVID, vlanUntagged, vlanBegin, vlanRange = 1 << 1, 1 << 2, 1 << 3, 1 << 4
	compressedVLANs                              = 1 << 2 // RTEXT_FILTER_BRVLAN_COMPRESSED

	bondMode, bondMIIMon, bondLACPRate                    = 1, 3, 21
	slaveState, slaveLink, slaveFailures, slaveAggregator = 1, 2, 3, 6
)

var (
	bondModes = [...]string{"balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb",
		"balance-alb"}
	bondLinks  = [...]string{"up", "going down", "down", "going back"}
	bondStates = [...]string{"active", "backup"}
	lacpRates  = [...]string{"slow", "fast"}
)

// nameOf returns the name of a number, or the number if there is no name.
func nameOf(names []string, data []byte) string {
	if len(data) == 0 {
		return ""
	}
	if n := int(data[0]); n < len(names) {
		return names[n]
	}
	return fmt.Sprint(data[0])
}

// Bridges lists the bridges with their ports and VLANs, in the kernel's order.
func (c *Conn) Bridges() ([]netstate.Bridge, error) {
	bridges, _, err := c.stacks()
	if err != nil || len(bridges) == 0 {
		return nil, err
	}
	names, err := c.names()
	if err != nil {
		return nil, err
	}
	type port struct {
		index, master int
		vlans         []string
	}
	request := appendUint32(ifinfomsg(unix.AF_BRIDGE, 0, 0, 0), unix.IFLA_EXT_MASK, compressedVLANs)
	ports, err := list(c, "list VLANs of bridges", unix.RTM_GETLINK, unix.RTM_NEWLINK, ifinfomsgLen, [][]byte{request},
		each(func(body []byte) (p port) {
			a := byKind(body[ifinfomsgLen:])
			return port{indexOf(body), int(a[unix.IFLA_MASTER].uint32()), vlansOf(a[unix.IFLA_AF_SPEC].data)}
		}))
	for i := range bridges {
		b := &bridges[i]
		for _, p := range ports {
			if names[p.master] == b.Interface || names[p.index] == b.Interface {
				b.Ports = append(b.Ports, netstate.BridgePort{Interface: names[p.index], VLANs: p.vlans})
			}
		}
	}
	return bridges, err
}

// vlansOf formats the VLANs of a port: "1 PVID untagged", "10-20".
func vlansOf(spec []byte) (list []string) {
	begin := 0
	for a := range attributes(spec) {
		if a.kind != bridgeVLANs || len(a.data) < 4 {
			continue
		}
		flags, id := native.Uint16(a.data), int(native.Uint16(a.data[2:]))
		if flags&vlanBegin != 0 {
			begin = id
			continue
		}
		text := fmt.Sprint(id)
		if flags&vlanRange != 0 {
			text = fmt.Sprintf("%d-%d", begin, id)
		}
		if flags&vlanPVID != 0 {
			text += " PVID"
		}
		if flags&vlanUntagged != 0 {
			text += " untagged"
		}
		list = append(list, text)
	}
	return list
}

// Bonds lists the bonds with their slaves, in the kernel's order.
func (c *Conn) Bonds() ([]netstate.Bond, error) {
	_, bonds, err := c.stacks()
	return bonds, err
}

// stacks reads the bridges and bonds of the namespace.
func (c *Conn) stacks() (bridges []netstate.Bridge, bonds []netstate.Bond, err error) {
	type member struct {
		master int
		netstate.BondMember
	}
	// The indices of bonds in the list, by interface index.
	of := map[int]int{}
	request := appendUint32(ifinfomsg(unix.AF_UNSPEC, 0, 0, 0), unix.IFLA_EXT_MASK, 1<<3) // RTEXT_FILTER_SKIP_STATS
	members, err := list(c, "list bridges and bonds", unix.RTM_GETLINK, unix.RTM_NEWLINK, ifinfomsgLen,
		[][]byte{request},
		func(body []byte, _ int64) (member, bool) {
			l, master := parseLink(body)
			m := member{master: master, BondMember: netstate.BondMember{Interface: l.Name}}
			info := byKind(within(body[ifinfomsgLen:], unix.IFLA_LINKINFO).data)
			switch data, has := info[unix.IFLA_INFO_DATA]; {
			case has && l.Kind == "bridge":
				bridges = append(bridges, parseBridge(l.Name, data.data))
			case has && l.Kind == bondKind:
				of[l.Index] = len(bonds)
				bonds = append(bonds, parseBond(l.Name, data.data))
			}
			slave := cString(info[unix.IFLA_INFO_SLAVE_KIND].data) == bondKind
			if slave {
				m.BondMember = parseSlave(l.Name, info[infoSlaveData].data)
			}
			return m, slave
		})
	for _, m := range members {
		if place, is := of[m.master]; is {
			bonds[place].Slaves = append(bonds[place].Slaves, m.BondMember)
		}
	}
	return bridges, bonds, err
}

func parseBridge(name string, data []byte) netstate.Bridge {
	a := byKind(data)
	return netstate.Bridge{Interface: name, STP: a[bridgeSTP].uint32() != 0,
		VLANFiltering: a[bridgeFiltering].octet() != 0}
}

func parseBond(name string, data []byte) netstate.Bond {
	a := byKind(data)
	b := netstate.Bond{Interface: name, Mode: nameOf(bondModes[:], a[bondMode].data),
		MIIMonMs: int(a[bondMIIMon].uint32()), HashPolicy: bondPolicy(data)}
	if b.Mode == "802.3ad" {
		b.LACPRate = nameOf(lacpRates[:], a[bondLACPRate].data)
	}
	return b
}

func parseSlave(name string, data []byte) netstate.BondMember {
	a := byKind(data)
	return netstate.BondMember{Interface: name, State: nameOf(bondStates[:], a[slaveState].data),
		Link: nameOf(bondLinks[:], a[slaveLink].data), LinkFailures: int(a[slaveFailures].uint32()),
		Aggregator: a[slaveAggregator].uint16()}
}
