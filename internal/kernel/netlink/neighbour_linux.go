package netlink

import (
	"net"
	"net/netip"
	"syscall"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
)

// ndaProtocol is NDA_PROTOCOL (linux/neighbour.h): who made the entry.
const ndaProtocol = 12

// struct ndmsg: family, 3 bytes of padding, index, state (uint16), flags, type.
const ndmsgLen = 12

func ndmsg(family uint8, index int, state uint16, flags uint8) []byte {
	b := make([]byte, 0, 64)
	b = append(b, family, 0, 0, 0)
	b = native.AppendUint32(b, uint32(index))
	b = native.AppendUint16(b, state)
	return append(b, flags, 0)
}

var neighbourStates = []struct {
	bit  uint16
	name string
}{
	{unix.NUD_PERMANENT, "PERMANENT"}, {unix.NUD_NOARP, "NOARP"}, {unix.NUD_REACHABLE, "REACHABLE"},
	{unix.NUD_STALE, "STALE"}, {unix.NUD_DELAY, "DELAY"}, {unix.NUD_PROBE, "PROBE"},
	{unix.NUD_FAILED, "FAILED"}, {unix.NUD_INCOMPLETE, "INCOMPLETE"},
}

func neighbourState(state uint16) string {
	for _, s := range neighbourStates {
		if state&s.bit != 0 {
			return s.name
		}
	}
	return "NONE"
}

// Neighbours lists the IPv4 and IPv6 neighbour tables.
func (c *Conn) Neighbours() ([]Neighbour, error) {
	names, err := c.names()
	if err != nil {
		return nil, err
	}
	var list []Neighbour
	for _, family := range []uint8{unix.AF_INET, unix.AF_INET6} {
		before := len(list)
		err := c.dump("list neighbours", unix.RTM_GETNEIGH, ndmsg(family, 0, 0, 0),
			func() { list = list[:before] },
			func(kind uint16, body []byte, _ int64) error {
				if n, ok := parseNeighbour(kind, body, names); ok {
					list = append(list, n)
				}
				return nil
			})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

func parseNeighbour(kind uint16, body []byte, names map[int]string) (Neighbour, bool) {
	if kind != unix.RTM_NEWNEIGH || len(body) < ndmsgLen {
		return Neighbour{}, false
	}
	n := Neighbour{
		Interface: names[int(int32(native.Uint32(body[4:])))],
		State:     neighbourState(native.Uint16(body[8:])),
		Proxy:     body[10]&unix.NTF_PROXY != 0,
		Object:    append(Object(nil), body...),
	}
	for a := range attributes(body[ndmsgLen:]) {
		switch a.kind {
		case unix.NDA_DST:
			n.Address = a.addr()
		case unix.NDA_LLADDR:
			n.MAC = hardwareAddress(a.data)
		}
	}
	// Multicast and broadcast destinations are computed, not learned.
	ok := n.Interface != "" && n.Address.IsValid() && !n.Address.IsMulticast()
	return n, ok
}

// SetNeighbour makes a permanent entry, replacing what is there.
func (c *Conn) SetNeighbour(name string, address netip.Addr, mac string) error {
	object := address.String() + " on " + name
	index, err := c.index(name)
	if err != nil {
		return err
	}
	hardware, err := net.ParseMAC(mac)
	if err != nil || len(hardware) != 6 {
		return &kernel.Error{Op: "set neighbour", Object: object, Err: syscall.EINVAL, Detail: mac + " is not a MAC address"}
	}
	body := ndmsg(family(address), index, unix.NUD_PERMANENT, 0)
	body = appendAttribute(body, unix.NDA_DST, address.AsSlice())
	body = appendAttribute(body, unix.NDA_LLADDR, hardware)
	return c.request("set neighbour", object, unix.RTM_NEWNEIGH, unix.NLM_F_CREATE|unix.NLM_F_REPLACE, body, nil)
}

// RestoreNeighbour makes an entry as the kernel described it before. A learned
// one comes back as STALE: known, but to be confirmed before it is relied on,
// since what was reachable then may not be now.
func (c *Conn) RestoreNeighbour(o Object) error {
	if len(o) < ndmsgLen {
		return &kernel.Error{Op: "restore neighbour", Err: syscall.EINVAL, Detail: "entry is too short"}
	}
	state := native.Uint16(o[8:])
	if state&(unix.NUD_PERMANENT|unix.NUD_NOARP) == 0 {
		state = unix.NUD_STALE
	}
	body := ndmsg(o[0], int(int32(native.Uint32(o[4:]))), state, o[10])
	object := ""
	for a := range attributes(o[ndmsgLen:]) {
		switch a.kind {
		case unix.NDA_DST:
			object = a.addr().String()
			body = appendAttribute(body, a.kind, a.data)
		case unix.NDA_LLADDR, ndaProtocol:
			body = appendAttribute(body, a.kind, a.data)
		}
	}
	return c.request("restore neighbour", object, unix.RTM_NEWNEIGH, unix.NLM_F_CREATE|unix.NLM_F_REPLACE, body, nil)
}

// DeleteNeighbour removes an entry; one that is not there is no error.
func (c *Conn) DeleteNeighbour(name string, address netip.Addr) error {
	index, err := c.index(name)
	if err != nil {
		return err
	}
	body := ndmsg(family(address), index, 0, 0)
	body = appendAttribute(body, unix.NDA_DST, address.AsSlice())
	err = c.request("delete neighbour", address.String()+" on "+name, unix.RTM_DELNEIGH, 0, body, nil)
	if kernel.IsAbsent(err) {
		return nil
	}
	return err
}

// FDB lists the forwarding tables of all bridges of the namespace.
func (c *Conn) FDB() ([]FDBEntry, error) {
	links, err := c.Links()
	if err != nil {
		return nil, err
	}
	names, bridges := make(map[int]string, len(links)), map[int]bool{}
	for _, l := range links {
		names[l.Index] = l.Name
		if l.Kind == "bridge" {
			bridges[l.Index] = true
		}
	}
	var list []FDBEntry
	if len(bridges) == 0 {
		return nil, nil
	}
	err = c.dump("list forwarding tables", unix.RTM_GETNEIGH, ndmsg(unix.AF_BRIDGE, 0, 0, 0),
		func() { list = nil },
		func(kind uint16, body []byte, _ int64) error {
			if kind != unix.RTM_NEWNEIGH || len(body) < ndmsgLen {
				return nil
			}
			index := int(int32(native.Uint32(body[4:])))
			entry := FDBEntry{Interface: names[index]}
			vlan, master := false, 0
			for a := range attributes(body[ndmsgLen:]) {
				switch a.kind {
				case unix.NDA_LLADDR:
					entry.MAC = hardwareAddress(a.data)
				case unix.NDA_MASTER:
					master = int(a.uint32())
				case unix.NDA_VLAN:
					vlan = true
				}
			}
			// Devices also list the addresses that their hardware filter
			// accepts (flag self, no bridge): those forward nothing.
			if master == 0 && !(bridges[index] && body[10]&unix.NTF_SELF == 0) {
				return nil
			}
			entry.Local = native.Uint16(body[8:])&unix.NUD_PERMANENT != 0
			// Each local address is repeated for each VLAN of its interface.
			if entry.Local && vlan {
				return nil
			}
			if entry.MAC != "" && entry.Interface != "" {
				list = append(list, entry)
			}
			return nil
		})
	return list, err
}

func family(a netip.Addr) uint8 {
	if a.Is4() {
		return unix.AF_INET
	}
	return unix.AF_INET6
}
