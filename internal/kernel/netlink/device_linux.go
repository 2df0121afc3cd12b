//go:build !portable

package netlink

import (
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
	"linerate/internal/model/device"
)

// AddBridge creates a bridge (Documentation/networking/bridge.rst) and sets it up, with the
// kernel's defaults: no spanning tree, so that its ports forward immediately, and an ageing time of
// 300 s. With filtering it uses VLANs, and a port has none until AddVLAN.
func (n *Namespace) AddBridge(name string, filtering bool) error {
	body := appendText(ifinfomsg(unix.AF_UNSPEC, 0, 0, 0), unix.IFLA_IFNAME, name)
	info := appendText(nil, unix.IFLA_INFO_KIND, "bridge")
	if filtering {
		const vlanFiltering, defaultPVID = 7, 39 // IFLA_BR_*
		options := appendAttribute(nil, vlanFiltering, []byte{1})
		options = appendAttribute(options, defaultPVID, native.AppendUint16(nil, 0))
		info = appendAttribute(info, unix.IFLA_INFO_DATA, options)
	}
	body = appendAttribute(body, unix.IFLA_LINKINFO, info)
	if err := n.conn.request("make bridge", name, unix.RTM_NEWLINK, flagsAdd, body, nil); err != nil {
		return n.addName(err)
	}
	return n.SetUp(name)
}

// AddVLAN adds a VLAN to a port of a bridge (bridge vlan add). If untagged is true, untagged frames
// that arrive belong to it, and its frames leave without a tag.
func (n *Namespace) AddVLAN(port string, vlan device.VLAN, untagged bool) error {
	return n.addName(n.conn.addVLAN(port, vlan, untagged, false))
}

func (c *Conn) addVLAN(name string, vlan device.VLAN, untagged, bridge bool) error {
	const (
		flagsAttribute, infoAttribute = 0, 2 // IFLA_BRIDGE_FLAGS, IFLA_BRIDGE_VLAN_INFO
		self                          = 2    // BRIDGE_FLAGS_SELF
		pvid, untag                   = 1 << 1, 1 << 2
	)
	index, err := c.index(name)
	if err != nil {
		return err
	}
	flags := uint16(0)
	if untagged {
		flags = pvid | untag
	}
	info := native.AppendUint16(native.AppendUint16(nil, flags), uint16(vlan))
	spec := appendAttribute(nil, infoAttribute, info)
	if bridge {
		spec = appendAttribute(appendAttribute(nil, flagsAttribute, native.AppendUint16(nil, self)),
			infoAttribute, info)
	}
	body := appendAttribute(ifinfomsg(unix.AF_BRIDGE, index, 0, 0), unix.IFLA_AF_SPEC, spec)
	return c.request(fmt.Sprintf("add VLAN %d to", vlan), name, unix.RTM_SETLINK, 0, body, nil)
}

// SetMaster makes an interface a slave of a bridge, a bond or a VRF (ip link set master).
func (n *Namespace) SetMaster(name, master string) error {
	index, err := n.conn.index(name)
	if err != nil {
		return n.addName(err)
	}
	above, err := n.conn.index(master)
	if err != nil {
		return n.addName(err)
	}
	body := appendUint32(ifinfomsg(unix.AF_UNSPEC, index, 0, 0), unix.IFLA_MASTER, uint32(above))
	return n.addName(n.conn.request("add to "+master, name, unix.RTM_NEWLINK, 0, body, nil))
}

// AddDevice creates an interface on top of others and sets it up (ip link add).
func (n *Namespace) AddDevice(d Device) error {
	return n.addName(n.addDevice(d))
}

func (n *Namespace) addDevice(d Device) error {
	body := appendText(ifinfomsg(unix.AF_UNSPEC, 0, 0, 0), unix.IFLA_IFNAME, d.Interface)
	if d.MAC != "" {
		mac, err := parseMAC("make "+d.Shape.Kind, d.Interface, d.MAC)
		if err != nil {
			return err
		}
		body = appendAttribute(body, unix.IFLA_ADDRESS, mac)
	}
	if d.MTU != 0 {
		body = appendUint32(body, unix.IFLA_MTU, uint32(d.MTU))
	}
	if d.Shape.OnLink {
		index, err := n.conn.index(d.Shape.Beneath[0])
		if err != nil {
			return err
		}
		body = appendUint32(body, unix.IFLA_LINK, uint32(index))
	}
	body = appendAttribute(body, unix.IFLA_LINKINFO, linkInfo(d.Shape))
	if err := n.conn.request("make "+d.Shape.Kind, d.Interface, unix.RTM_NEWLINK, flagsAdd, body, nil); err != nil {
		return err
	}
	for _, slave := range d.Shape.Slaves {
		// A bond only accepts interfaces that are down.
		down := false
		if err := n.conn.ChangeLink(slave, LinkChange{Up: &down}); err != nil {
			return err
		}
		if err := n.SetMaster(slave, d.Interface); err != nil {
			return err
		}
		if err := n.SetUp(slave); err != nil {
			return err
		}
	}
	return n.SetUp(d.Interface)
}

// linkInfo returns the payload of IFLA_LINKINFO for a device.
func linkInfo(s device.Shape) []byte {
	var options []byte
	for _, a := range s.Attributes {
		var order binary.AppendByteOrder = native
		if a.BigEndian {
			order = binary.BigEndian
		}
		var value []byte
		switch v := a.Value.(type) {
		case uint8:
			value = []byte{v}
		case uint16:
			value = order.AppendUint16(nil, v)
		case uint32:
			value = order.AppendUint32(nil, v)
		case []byte:
			value = v
		}
		options = appendAttribute(options, a.Type, value)
	}
	info := appendText(nil, unix.IFLA_INFO_KIND, s.Kind)
	if len(options) > 0 {
		info = appendAttribute(info, unix.IFLA_INFO_DATA, options)
	}
	return info
}

// HasDevices reports whether the kernel supports a kind of device, by creating one in the
// namespace. An error other than that of an unknown kind counts as support, because creating the
// real device later gives the definite answer.
func (n *Namespace) HasDevices(s device.Shape) bool {
	const name = "probe0"
	body := appendText(ifinfomsg(unix.AF_UNSPEC, 0, 0, 0), unix.IFLA_IFNAME, name)
	body = appendAttribute(body, unix.IFLA_LINKINFO, appendText(nil, unix.IFLA_INFO_KIND, s.Kind))
	err := n.conn.request("try "+s.Kind, name, unix.RTM_NEWLINK, flagsAdd, body, nil)
	if err == nil {
		_ = n.conn.deleteLink(name)
	}
	return !errors.Is(err, syscall.EOPNOTSUPP)
}

// HasVLANFiltering reports whether bridges of the kernel support VLANs, by creating one in the
// namespace. A kernel without support ignores the bridge's options.
func (n *Namespace) HasVLANFiltering() bool {
	const name = "probe0"
	if n.AddBridge(name, true) != nil {
		return true // as in HasDevices
	}
	err := n.conn.addVLAN(name, 2, false, true)
	_ = n.conn.deleteLink(name)
	return !errors.Is(err, syscall.EOPNOTSUPP)
}

func (c *Conn) deleteLink(name string) error {
	index, err := c.index(name)
	if err != nil {
		return err
	}
	return c.request("delete interface", name, unix.RTM_DELLINK, 0, ifinfomsg(unix.AF_UNSPEC, index, 0, 0), nil)
}

// AwaitLACP waits until a slave of a bond in mode 802.3ad carries data, which means that both ends
// are collecting and distributing (IEEE 802.1AX, section 6.4).
func (n *Namespace) AwaitLACP(slave string, timeout time.Duration) error {
	const collecting, distributing, pause = 0x10, 0x20, 50 * time.Millisecond
	for end := time.Now().Add(timeout); ; time.Sleep(pause) {
		state, err := n.conn.actorState(slave)
		switch {
		case err != nil:
			return n.addName(err)
		case state&collecting != 0 && state&distributing != 0:
			return nil
		case time.Now().After(end):
			return n.addName(&kernel.Error{Op: "wait for LACP on", Object: slave, Err: syscall.ETIMEDOUT,
				Detail: fmt.Sprintf("the ends have not agreed within %v (state %#x)", timeout, state)})
		}
	}
}

// actorState returns the LACP state of a bond's slave (IEEE 802.1AX, 6.4.2.3).
func (c *Conn) actorState(slave string) (state uint8, err error) {
	const slaveData, actorOperState = 5, 7 // IFLA_INFO_SLAVE_DATA, IFLA_BOND_SLAVE_AD_ACTOR_OPER_PORT_STATE
	request := appendText(ifinfomsg(unix.AF_UNSPEC, 0, 0, 0), unix.IFLA_IFNAME, slave)
	err = c.request("read", slave, unix.RTM_GETLINK, 0, request, func(kind uint16, body []byte, _ int64) {
		if kind != unix.RTM_NEWLINK || len(body) < ifinfomsgLen {
			return
		}
		state = uint8(within(body[ifinfomsgLen:], unix.IFLA_LINKINFO, slaveData, actorOperState).octet())
	})
	return state, err
}
