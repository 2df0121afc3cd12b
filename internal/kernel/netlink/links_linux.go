//go:build !portable

package netlink

import (
	"cmp"
	"net"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
	"linerate/internal/model/device"
)

// struct ifinfomsg: family, pad, type (uint16), index, flags, change mask.
const ifinfomsgLen = unix.SizeofIfInfomsg

func ifinfomsg(family uint8, index int, flags, change uint32) []byte {
	b := make([]byte, 0, 64)
	b = append(b, family, 0, 0, 0)
	b = native.AppendUint32(b, uint32(index))
	b = native.AppendUint32(b, flags)
	return native.AppendUint32(b, change)
}

// Links lists all interfaces in the kernel's order, by index.
func (c *Conn) Links() ([]Link, error) {
	// Without statistics (see InterfaceCounters) the answer is much shorter.
	const skipStats = 1 << 3 // RTEXT_FILTER_SKIP_STATS
	request := appendUint32(ifinfomsg(unix.AF_UNSPEC, 0, 0, 0), unix.IFLA_EXT_MASK, skipStats)
	type indexed struct {
		Link
		master int
	}
	found, err := list(c, "list links", unix.RTM_GETLINK, unix.RTM_NEWLINK, ifinfomsgLen, [][]byte{request},
		each(func(body []byte) (l indexed) {
			l.Link, l.master = parseLink(body)
			return l
		}))
	names := make(map[int]string, len(found))
	for _, l := range found {
		names[l.Index] = l.Name
	}
	var links []Link
	for _, l := range found {
		l.Master = names[l.master]
		links = append(links, l.Link)
	}
	return links, err
}

// parseLink parses an RTM_NEWLINK message. It also returns the index of the master; 0: none.
func parseLink(body []byte) (link Link, master int) {
	flags := native.Uint32(body[8:])
	link = Link{Index: indexOf(body), Up: flags&unix.IFF_UP != 0, Loopback: flags&unix.IFF_LOOPBACK != 0}
	numbers := map[uint16]*int{unix.IFLA_MTU: &link.MTU, unix.IFLA_TXQLEN: &link.TxQueueLen, unix.IFLA_MASTER: &master,
		unix.IFLA_CARRIER_CHANGES: &link.CarrierChanges, unix.IFLA_LINK: &link.Peer}
	for _, size := range link.Packets.attributes() {
		numbers[size.kind] = size.bytes
	}
	for a := range attributes(body[ifinfomsgLen:]) {
		if number := numbers[a.kind]; number != nil {
			*number = int(a.uint32())
		}
		switch a.kind {
		case unix.IFLA_IFNAME:
			link.Name = cString(a.data)
		case unix.IFLA_OPERSTATE:
			if len(a.data) > 0 && int(a.data[0]) < len(operStates) {
				link.OperState = operStates[a.data[0]]
			}
		case unix.IFLA_CARRIER:
			link.Carrier = len(a.data) > 0 && a.data[0] == 1
		case unix.IFLA_PROMISCUITY:
			link.Promiscuous = a.uint32() > 0
		case unix.IFLA_XDP:
			link.XDP = int(within(a.data, xdpProgram).uint32())
		case unix.IFLA_ADDRESS:
			link.MAC = hardwareAddress(a.data)
		case unix.IFLA_LINKINFO:
			link.Kind = cString(within(a.data, unix.IFLA_INFO_KIND).data)
			switch data := within(a.data, unix.IFLA_INFO_DATA).data; link.Kind {
			case bondKind:
				link.XmitHashPolicy = bondPolicy(data)
			case "vlan":
				link.VLAN = within(data, unix.IFLA_VLAN_ID).uint16()
			}
		}
	}
	return link, master
}

// operStates has the names of IF_OPER_UNKNOWN and the following states of linux/if.h.
var operStates = [...]string{"unknown", "notpresent", "down", "lowerlayerdown", "testing", "dormant", "up"}

const bondKind = "bond"

// bondPolicy parses the transmit hash policy in the attributes of a bond.
func bondPolicy(data []byte) string {
	if a := within(data, unix.IFLA_BOND_XMIT_HASH_POLICY); len(a.data) > 0 {
		return device.PolicyOf(a.data[0])
	}
	return ""
}

// packetSize is one of PacketSizes with its attribute.
type packetSize struct {
	kind  uint16
	bytes *int
}

func (p *PacketSizes) attributes() [4]packetSize {
	return [...]packetSize{
		{unix.IFLA_GSO_MAX_SIZE, &p.GSO}, {unix.IFLA_GRO_MAX_SIZE, &p.GRO},
		{unix.IFLA_GSO_IPV4_MAX_SIZE, &p.GSOIPv4}, {unix.IFLA_GRO_IPV4_MAX_SIZE, &p.GROIPv4},
	}
}

// parseMAC parses a 6-byte MAC address. Op and object are for the error.
func parseMAC(op, object, text string) (net.HardwareAddr, error) {
	mac, err := net.ParseMAC(text)
	if err != nil || len(mac) != 6 {
		return nil, &kernel.Error{Op: op, Object: object, Err: syscall.EINVAL, Detail: text + " is not a MAC address"}
	}
	return mac, nil
}

func hardwareAddress(b []byte) string {
	if len(b) != 6 {
		return ""
	}
	return net.HardwareAddr(b).String()
}

// LinkByName returns the interface with a name. The error is ENODEV if there is none.
func (c *Conn) LinkByName(name string) (Link, error) {
	if _, err := c.index(name); err != nil {
		return Link{}, err
	}
	links, err := c.Links() // all of them, for the name of the master
	if i := slices.IndexFunc(links, func(l Link) bool { return l.Name == name }); i >= 0 {
		return links[i], nil
	}
	return Link{}, cmp.Or(err, noInterface(name))
}

func noInterface(name string) error {
	return &kernel.Error{Op: "find interface", Object: name, Err: syscall.ENODEV}
}

// index returns the index of an interface. It is not cached: an interface that is deleted and
// created again has another one.
func (c *Conn) index(name string) (int, error) {
	if name == "" || len(name) >= unix.IFNAMSIZ || strings.ContainsAny(name, "/ \x00") {
		return 0, &kernel.Error{Op: "find interface", Object: name, Err: syscall.EINVAL,
			Detail: "not an interface name"}
	}
	index := 0
	request := appendText(ifinfomsg(unix.AF_UNSPEC, 0, 0, 0), unix.IFLA_IFNAME, name)
	err := c.request("find interface", name, unix.RTM_GETLINK, 0, request, func(kind uint16, body []byte, _ int64) {
		if kind == unix.RTM_NEWLINK && len(body) >= ifinfomsgLen {
			index = indexOf(body)
		}
	})
	if err == nil && index == 0 {
		err = noInterface(name)
	}
	return index, err
}

// names maps interface indices to names.
func (c *Conn) names() (map[int]string, error) {
	links, err := c.Links()
	if err != nil {
		return nil, err
	}
	names := make(map[int]string, len(links))
	for _, l := range links {
		names[l.Index] = l.Name
	}
	return names, nil
}

func deviceText(index int, names map[int]string) string {
	if name := names[index]; name != "" {
		return name
	}
	return "if" + strconv.Itoa(index) // as ip(8) prints an interface without a name
}

// Attributes of IFLA_XDP, and a flag (linux/if_link.h).
const (
	xdpFD, xdpFlags, xdpProgram = 1, 3, 4
	xdpIfNone                   = 1 // XDP_FLAGS_UPDATE_IF_NOEXIST
)

// ChangeLink changes attributes of an interface (RTM_NEWLINK). Some drivers only accept a new MAC
// address while the interface is down.
func (c *Conn) ChangeLink(name string, change LinkChange) error {
	index, err := c.index(name)
	if err != nil {
		return err
	}
	var flags, mask uint32
	if change.Up != nil {
		mask = unix.IFF_UP
		if *change.Up {
			flags = unix.IFF_UP
		}
	}
	body := ifinfomsg(unix.AF_UNSPEC, index, flags, mask)
	if change.MAC != nil {
		mac, err := parseMAC("change link", name, *change.MAC)
		if err != nil {
			return err
		}
		body = appendAttribute(body, unix.IFLA_ADDRESS, mac)
	}
	if change.MTU != nil {
		body = appendUint32(body, unix.IFLA_MTU, uint32(*change.MTU))
	}
	if change.TxQueueLen != nil {
		body = appendUint32(body, unix.IFLA_TXQLEN, uint32(*change.TxQueueLen))
	}
	if change.XmitHashPolicy != nil {
		number, ok := device.PolicyNumber(*change.XmitHashPolicy)
		if !ok {
			return &kernel.Error{Op: "change link", Object: name, Err: syscall.EINVAL, Detail: *change.XmitHashPolicy +
				" is not a transmit hash policy"}
		}
		info := appendText(nil, unix.IFLA_INFO_KIND, bondKind)
		info = appendAttribute(info, unix.IFLA_INFO_DATA, appendAttribute(nil, unix.IFLA_BOND_XMIT_HASH_POLICY,
			[]byte{number}))
		body = appendAttribute(body, unix.IFLA_LINKINFO, info)
	}
	if change.XDP != nil {
		part := appendUint32(nil, xdpFD, uint32(*change.XDP))
		if *change.XDP >= 0 {
			part = appendUint32(part, xdpFlags, xdpIfNone)
		}
		body = appendAttribute(body, unix.IFLA_XDP, part)
	}
	for _, size := range change.Packets.attributes() {
		if *size.bytes != 0 {
			body = appendUint32(body, size.kind, uint32(*size.bytes))
		}
	}
	return c.request("change link", name, unix.RTM_NEWLINK, 0, body, nil)
}
