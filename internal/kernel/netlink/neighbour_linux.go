//go:build !portable

package netlink

import (
	"net/netip"
	"slices"

	"golang.org/x/sys/unix"

	"linerate/internal/model/netstate"
)

// ndaProtocol is NDA_PROTOCOL (linux/neighbour.h): the program that created the entry.
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

// Neighbours lists the IPv4 and IPv6 neighbour tables, without multicast and broadcast
// destinations, whose MAC addresses are computed.
func (c *Conn) Neighbours() ([]Neighbour, error) {
	names, err := c.names()
	if err != nil {
		return nil, err
	}
	return list(c, "list neighbours", unix.RTM_GETNEIGH, unix.RTM_NEWNEIGH, ndmsgLen, bothFamilies(ndmsgLen),
		func(body []byte, _ int64) (Neighbour, bool) {
			n := parseNeighbour(body, names)
			return n, n.Interface != "" && n.Address.IsValid() && !n.Address.IsMulticast()
		})
}

// NextHop returns the neighbour entry that packets to an address use: that of the address itself or
// of a gateway. If there is none, Address is invalid.
func (c *Conn) NextHop(to netip.Addr) (Neighbour, error) {
	route, err := c.LookupRoute(netstate.RouteLookup{Destination: to.WithZone("").String()}, nil)
	if to.Zone() != "" { // the zone of a link-local address is the interface
		route.Interface, route.Gateway, err = to.Zone(), "", nil
	}
	if err != nil {
		return Neighbour{}, err
	}
	hop := to.WithZone("")
	if gateway, err := netip.ParseAddr(route.Gateway); err == nil {
		hop = gateway
	}
	list, err := c.Neighbours()
	i := slices.IndexFunc(list, func(n Neighbour) bool {
		return n.Address == hop && n.Interface == route.Interface &&
			!n.Proxy
	})
	if err != nil || i < 0 {
		return Neighbour{}, err
	}
	return list[i], nil
}

func parseNeighbour(body []byte, names map[int]string) Neighbour {
	n := Neighbour{
		Interface: names[indexOf(body)],
		State:     neighbourState(native.Uint16(body[8:])),
		Proxy:     body[10]&unix.NTF_PROXY != 0,
		Object:    slices.Clone(body),
	}
	for a := range attributes(body[ndmsgLen:]) {
		switch a.kind {
		case unix.NDA_DST:
			n.Address = a.addr()
		case unix.NDA_LLADDR:
			n.MAC = hardwareAddress(a.data)
		}
	}
	return n
}

// SetNeighbour creates a permanent entry (ip-neighbour(8)), which replaces any other for the
// address.
func (c *Conn) SetNeighbour(name string, address netip.Addr, mac string) error {
	object := address.String() + " on " + name
	index, err := c.index(name)
	if err != nil {
		return err
	}
	hardware, err := parseMAC("set neighbour", object, mac)
	if err != nil {
		return err
	}
	body := ndmsg(family(address), index, unix.NUD_PERMANENT, 0)
	body = appendAttribute(body, unix.NDA_DST, address.AsSlice())
	body = appendAttribute(body, unix.NDA_LLADDR, hardware)
	return c.request("set neighbour", object, unix.RTM_NEWNEIGH, flagsReplace, body, nil)
}

// RestoreNeighbour creates an entry from its description. A learned entry becomes STALE, so that it
// is confirmed when it is next used.
func (c *Conn) RestoreNeighbour(o Object) error {
	if err := o.check("restore neighbour", ndmsgLen); err != nil {
		return err
	}
	state := native.Uint16(o[8:])
	if state&(unix.NUD_PERMANENT|unix.NUD_NOARP) == 0 {
		state = unix.NUD_STALE
	}
	body := ndmsg(o[0], indexOf(o), state, o[10])
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
	return c.request("restore neighbour", object, unix.RTM_NEWNEIGH, flagsReplace, body, nil)
}

// DeleteNeighbour removes an entry. It is no error if the entry does not exist.
func (c *Conn) DeleteNeighbour(name string, address netip.Addr) error {
	index, err := c.index(name)
	if err != nil {
		return err
	}
	body := ndmsg(family(address), index, 0, 0)
	body = appendAttribute(body, unix.NDA_DST, address.AsSlice())
	return c.remove("delete neighbour", address.String()+" on "+name, unix.RTM_DELNEIGH, body)
}

// FDB lists the forwarding tables of all bridges in the namespace (bridge(8)). An address with
// entries in several VLANs of a port is listed once.
func (c *Conn) FDB() ([]netstate.FDBEntry, error) {
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
	if len(bridges) == 0 {
		return nil, nil
	}
	entries, err := list(c, "list forwarding tables", unix.RTM_GETNEIGH, unix.RTM_NEWNEIGH, ndmsgLen,
		[][]byte{ndmsg(unix.AF_BRIDGE, 0, 0, 0)},
		func(body []byte, _ int64) (netstate.FDBEntry, bool) {
			index := indexOf(body)
			entry := netstate.FDBEntry{Interface: names[index], Local: native.Uint16(body[8:])&unix.NUD_PERMANENT != 0}
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
			// Interfaces also list the addresses that their hardware filter accepts (flag self, no
			// bridge). These are not used for forwarding.
			ofBridge := master != 0 || bridges[index] && body[10]&unix.NTF_SELF == 0
			// Each local address is repeated for each VLAN of its interface.
			return entry, ofBridge && !(entry.Local && vlan) && entry.MAC != "" && entry.Interface != ""
		})
	seen := make(map[netstate.FDBEntry]bool, len(entries))
	return slices.DeleteFunc(entries, func(e netstate.FDBEntry) bool {
		again := seen[e]
		seen[e] = true
		return again
	}), err
}
