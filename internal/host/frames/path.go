package frames

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/proc"
	"linerate/internal/model/flow"
	"linerate/internal/model/netstate"
)

// FindPath asks the kernel for the route of a datagram between these two ends and for the neighbour's MAC
// address. The neighbour must be resolved, as after sending to it.
func FindPath(local, remote netip.AddrPort) (Path, error) {
	p := Path{Local: local, Remote: remote}
	c, err := netlink.Dial()
	if err != nil {
		return p, err
	}
	defer c.Close()
	route, err := c.LookupRoute(netstate.RouteLookup{
		Source: local.Addr().WithZone("").String(), Destination: remote.Addr().WithZone("").String(),
		Protocol: flow.UDP, SourcePort: local.Port(), DestinationPort: remote.Port(),
	}, nil)
	if err != nil {
		return p, err
	}
	p.Interface = cmp.Or(remote.Addr().Zone(), route.Interface)
	links, err := c.Links()
	if err != nil {
		return p, err
	}
	i := slices.IndexFunc(links, func(l netlink.Link) bool { return l.Name == p.Interface })
	if i < 0 {
		return p, fmt.Errorf("the route to %s has no interface", remote.Addr())
	}
	p.MTU = links[i].MTU
	if links[i].Loopback {
		return p, acceptsLocal(local.Addr(), p.Interface) // its MAC addresses are zero
	}
	var ok bool
	if p.From, ok = mac(links[i].MAC); !ok {
		return p, fmt.Errorf("%s, to which the route to %s leads, is no Ethernet", p.Interface, remote.Addr())
	}
	hop := cmp.Or(route.Gateway, remote.Addr().WithZone("").String())
	neighbours, err := c.Neighbours()
	if err != nil {
		return p, err
	}
	for _, n := range neighbours {
		if n.Interface == p.Interface && n.Address.String() == hop && n.MAC != "" {
			if p.To, ok = mac(n.MAC); ok {
				return p, nil
			}
		}
	}
	return p, fmt.Errorf("the neighbour %s on %s is not resolved", hop, p.Interface)
}

// acceptsLocal returns nil if the loopback interface delivers a frame sent from one of the host's own
// addresses. Such a frame has no route yet, unlike what the kernel sends to itself, and over IPv4 the kernel
// drops it as a martian without these settings (Documentation/networking/ip-sysctl.rst).
func acceptsLocal(a netip.Addr, name string) error {
	keys := []string{"accept_local"}
	if a.IsLoopback() {
		keys = append(keys, "route_localnet")
	}
	for _, key := range keys {
		key = "net.ipv4.conf." + name + "." + key
		if value, err := (proc.Sysctls{}).Read(key); a.Is4() && (err != nil || value != "1") {
			return fmt.Errorf("the kernel throws away frames that a host sends to itself, unless %s is 1", key)
		}
	}
	return nil
}
