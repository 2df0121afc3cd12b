package facts

import (
	"net/netip"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// Devices returns an interface and those below or above it; none if name is empty.
func (h *Host) Devices(name string) (touches []record.Touch) {
	if name == "" {
		return nil
	}
	touches = []record.Touch{{Device: name}}
	nic := h.Port(netstate.InterfaceSnapshot{Interface: name}).NIC
	for _, i := range h.Reading.Snapshot.Interfaces {
		if i.Master == name || nic.VLAN != 0 && i.Index != 0 && i.Index == nic.Peer {
			touches = append(touches, record.Touch{Device: i.Interface})
		}
	}
	return touches[:min(len(touches), MostPlaces)]
}

// path returns what a connection depends on: its ends, and the route by which it leaves.
func (h *Host) path(c netstate.Connection) (touches []record.Touch) {
	local, err := netip.ParseAddrPort(c.Local)
	remote, remoteErr := netip.ParseAddrPort(c.Remote)
	if err != nil || remoteErr != nil {
		return []record.Touch{{AnyRoute: true}}
	}
	for _, end := range []netip.AddrPort{remote, local} {
		touches = append(touches, record.Touch{Socket: netip.AddrPortFrom(end.Addr().Unmap(), end.Port())},
			record.Touch{Port: end.Port()})
	}
	from, to := local.Addr().Unmap().WithZone(""), remote.Addr().Unmap().WithZone("")
	touches = append(touches, record.Touch{Address: to}, record.Touch{Back: netip.PrefixFrom(from, from.BitLen())})
	r, found := h.Back(to)
	if !found || h.OtherRoutes() {
		return append(touches, record.Touch{AnyRoute: true})
	}
	prefix, _ := destination(r, to.Is4())
	touches = append(touches, record.Touch{Route: prefix})
	for _, hop := range hopsOf(r) {
		touches = append(touches, h.Devices(hop.Interface)...)
		if via := Parse(hop.Via); via.IsValid() {
			touches = append(touches, record.Touch{Via: via})
		}
	}
	return touches
}

// Paths returns what the connections that meet a condition depend on, one list for each.
func (h *Host) Paths(where func(netstate.Connection) bool) (list [][]record.Touch) {
	for _, c := range h.State.Notable {
		if where(c) && len(list) < MostPlaces {
			list = append(list, h.path(c))
		}
	}
	return list
}

// ListenerAt returns the address and port of a listener, or only the port if it listens on all
// addresses.
func ListenerAt(local string) record.Touch {
	end, err := netip.ParseAddrPort(local)
	if err == nil && end.Addr().IsUnspecified() {
		return record.Touch{Port: end.Port()}
	}
	return record.Touch{Socket: end}
}

// To returns the destination of a route.
func To(r netstate.RouteEntry) (touches []record.Touch) {
	for _, v4 := range []bool{true, false} {
		if to, is := destination(r, v4); is {
			touches = append(touches, record.Touch{Route: to})
		}
	}
	return touches
}
