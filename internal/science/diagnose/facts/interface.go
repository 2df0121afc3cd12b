package facts

import (
	"slices"
	"strings"

	"linerate/internal/model/device"
	"linerate/internal/model/netstate"
)

// Port is an interface with the settings of its driver. NIC is zero if they were not read.
type Port struct {
	Host      *Host
	NIC       netstate.NIC
	Interface netstate.InterfaceSnapshot
}

// Hardware reports whether the interface belongs to a device, not to software. Where no device was
// read, an interface with link modes, a ring or delayed interrupts counts as hardware, and one
// that is half duplex: software reports full duplex, or none.
func (p Port) Hardware() bool {
	return p.Interface.Kind == "" && (p.NIC.NUMA != nil || p.NIC.Device != "" || p.NIC.Bus != "" ||
		p.NIC.BestMbps > 0 || p.NIC.Duplex == "half" || p.NIC.Rings != nil && p.NIC.Rings.MostRx > 0 ||
		p.NIC.Coalesce != nil && p.NIC.Coalesce.RxUs > 0)
}

// Port returns an interface of the host with its NIC.
func (h *Host) Port(i netstate.InterfaceSnapshot) Port {
	p := Port{Host: h, Interface: i}
	p.NIC, _ = find(&h.lookups.nics, h.State.NICs, func(n netstate.NIC) string { return n.Interface }, i.Interface)
	return p
}

// GlobalAddresses returns the interface's addresses without link-local IPv6 ones.
func (p Port) GlobalAddresses() []string {
	return slices.DeleteFunc(slices.Clone(p.Interface.Addresses), func(a string) bool {
		return strings.HasPrefix(a, "fe80:")
	})
}

// Stacked reports whether an interface is of a kind that uses the MAC address of the interface
// below it.
func Stacked(i netstate.InterfaceSnapshot) bool {
	return slices.Contains([]string{"vlan", "macvlan", "ipvlan", "bond", "bridge", "vrf", "team"}, i.Kind)
}

// Tunnel returns the kind of an interface that sends its packets inside others; "": it is no
// tunnel. The errors that it counts are of those packets, not of a link (net/ipv4/ip_tunnel.c,
// drivers/net/vxlan). A missing MAC address shows nothing: many pasted texts mask it, and that of
// IPoIB is longer.
func (h *Host) Tunnel(name string) string {
	if i, _ := h.Snapshot(name); device.TunnelKind(i.Kind) {
		return i.Kind
	}
	return ""
}
