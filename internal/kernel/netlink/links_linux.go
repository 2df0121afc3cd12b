package netlink

import (
	"net"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
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

// Links lists all devices in the kernel's order, by index.
func (c *Conn) Links() ([]Link, error) {
	var links []Link
	var masters []int
	// Statistics are read by PortCounters; leaving them out here makes the
	// answer a good deal smaller on a host with many interfaces.
	const skipStats = 1 << 3 // RTEXT_FILTER_SKIP_STATS
	ask := appendUint32(ifinfomsg(unix.AF_UNSPEC, 0, 0, 0), unix.IFLA_EXT_MASK, skipStats)
	err := c.dump("list links", unix.RTM_GETLINK, ask, func() { links, masters = nil, nil },
		func(kind uint16, body []byte, _ int64) error {
			if kind == unix.RTM_NEWLINK && len(body) >= ifinfomsgLen {
				link, master := parseLink(body)
				links, masters = append(links, link), append(masters, master)
			}
			return nil
		})
	if err != nil {
		return nil, err
	}
	names := make(map[int]string, len(links))
	for _, l := range links {
		names[l.Index] = l.Name
	}
	for i := range links {
		if masters[i] != 0 {
			links[i].Master = names[masters[i]]
		}
	}
	return links, nil
}

// parseLink reads one RTM_NEWLINK message; the second result is the master's
// index.
func parseLink(body []byte) (Link, int) {
	flags := native.Uint32(body[8:])
	link := Link{
		Index:    int(int32(native.Uint32(body[4:]))),
		Up:       flags&unix.IFF_UP != 0,
		Loopback: flags&unix.IFF_LOOPBACK != 0,
	}
	master := 0
	for a := range attributes(body[ifinfomsgLen:]) {
		switch a.kind {
		case unix.IFLA_IFNAME:
			link.Name = cString(a.data)
		case unix.IFLA_ADDRESS:
			link.MAC = hardwareAddress(a.data)
		case unix.IFLA_MTU:
			link.MTU = int(a.uint32())
		case unix.IFLA_TXQLEN:
			link.TxQueueLen = int(a.uint32())
		case unix.IFLA_GSO_MAX_SIZE:
			link.Packets.GSO = int(a.uint32())
		case unix.IFLA_GRO_MAX_SIZE:
			link.Packets.GRO = int(a.uint32())
		case unix.IFLA_GSO_IPV4_MAX_SIZE:
			link.Packets.GSOIPv4 = int(a.uint32())
		case unix.IFLA_GRO_IPV4_MAX_SIZE:
			link.Packets.GROIPv4 = int(a.uint32())
		case unix.IFLA_MASTER:
			master = int(a.uint32())
		case unix.IFLA_LINKINFO:
			for info := range attributes(a.data) {
				if info.kind == unix.IFLA_INFO_KIND {
					link.Kind = cString(info.data)
				}
			}
		}
	}
	return link, master
}

func hardwareAddress(b []byte) string {
	if len(b) != 6 {
		return ""
	}
	return net.HardwareAddr(b).String()
}

// LinkByName finds one device.
func (c *Conn) LinkByName(name string) (Link, error) {
	index, err := c.index(name)
	if err != nil {
		return Link{}, err
	}
	links, err := c.Links() // the master's name needs the list
	if err != nil {
		return Link{}, err
	}
	for _, l := range links {
		if l.Index == index {
			return l, nil
		}
	}
	return Link{}, noInterface(name)
}

func noInterface(name string) error {
	return &kernel.Error{Op: "find interface", Object: name, Err: syscall.ENODEV}
}

// index finds a device's index by name: asked each time, since a device that was
// removed and made anew has another.
func (c *Conn) index(name string) (int, error) {
	if name == "" || len(name) >= unix.IFNAMSIZ || strings.ContainsAny(name, "/ \x00") {
		return 0, &kernel.Error{Op: "find interface", Object: name, Err: syscall.EINVAL, Detail: "not a device name"}
	}
	index := 0
	ask := appendText(ifinfomsg(unix.AF_UNSPEC, 0, 0, 0), unix.IFLA_IFNAME, name)
	err := c.request("find interface", name, unix.RTM_GETLINK, 0, ask,
		func(kind uint16, body []byte, _ int64) error {
			if kind == unix.RTM_NEWLINK && len(body) >= ifinfomsgLen {
				index = int(int32(native.Uint32(body[4:])))
			}
			return nil
		})
	if err == nil && index == 0 {
		err = noInterface(name)
	}
	return index, err
}

// names maps device indices to names.
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

// ChangeLink changes attributes of a device.
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
		mac, err := net.ParseMAC(*change.MAC)
		if err != nil || len(mac) != 6 {
			return &kernel.Error{Op: "change link", Object: name, Err: syscall.EINVAL, Detail: *change.MAC + " is not a MAC address"}
		}
		body = appendAttribute(body, unix.IFLA_ADDRESS, mac)
	}
	if change.MTU != nil {
		body = appendUint32(body, unix.IFLA_MTU, uint32(*change.MTU))
	}
	if change.TxQueueLen != nil {
		body = appendUint32(body, unix.IFLA_TXQLEN, uint32(*change.TxQueueLen))
	}
	for _, size := range []struct {
		kind  uint16
		bytes int
	}{
		{unix.IFLA_GSO_MAX_SIZE, change.Packets.GSO}, {unix.IFLA_GRO_MAX_SIZE, change.Packets.GRO},
		{unix.IFLA_GSO_IPV4_MAX_SIZE, change.Packets.GSOIPv4}, {unix.IFLA_GRO_IPV4_MAX_SIZE, change.Packets.GROIPv4},
	} {
		if size.bytes != 0 {
			body = appendUint32(body, size.kind, uint32(size.bytes))
		}
	}
	return c.request("change link", name, unix.RTM_NEWLINK, 0, body, nil)
}
