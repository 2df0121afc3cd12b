package facts

import (
	"slices"
	"strings"

	"linerate/internal/model/device"
	"linerate/internal/model/record"
)

// Port is an interface as all parts of a host's snapshot have it.
type Port struct {
	Host      *Host
	NIC       record.NIC
	Interface record.InterfaceSnapshot
}

// Hardware: a device has the interface, and no software. What has link modes is one, where the
// device model was not read.
func (p Port) Hardware() bool {
	return p.Interface.Kind == "" && (p.NIC.NUMA != nil || p.NIC.Device != "" || p.NIC.Bus != "" || p.NIC.BestMbps > 0)
}

// Port is an interface of a host.
func (h *Host) Port(i record.InterfaceSnapshot) Port {
	if h.nics == nil {
		h.nics = map[string]int{}
		for n := len(h.State.NICs) - 1; n >= 0; n-- { // of two with one name the first
			h.nics[h.State.NICs[n].Interface] = n
		}
	}
	p := Port{Host: h, Interface: i}
	if n, is := h.nics[i.Interface]; is {
		p.NIC = h.State.NICs[n]
	}
	return p
}

// GlobalAddresses are those but link-local ones.
func (p Port) GlobalAddresses() []string {
	return slices.DeleteFunc(slices.Clone(p.Interface.Addresses), func(a string) bool {
		return strings.HasPrefix(a, "fe80:")
	})
}

// Stacked interfaces share the address of the one that they are made on.
func Stacked(i record.InterfaceSnapshot) bool {
	return slices.Contains([]string{"vlan", "macvlan", "ipvlan", "bond", "bridge", "vrf", "team"}, i.Kind)
}

// Tunnel is the kind of an interface that sends its packets inside others; "": it does not. What it
// counts as errors of a link is of those packets (net/ipv4/ip_tunnel.c, drivers/net/vxlan). Its kind
// tells, and not that no MAC address is known: one is masked in many pasted texts, and IPoIB has a
// longer one.
func (h *Host) Tunnel(name string) (kind string) {
	for _, i := range h.Reading.Snapshot.Interfaces {
		if i.Interface == name && device.TunnelKind(i.Kind) {
			kind = i.Kind
		}
	}
	return kind
}
