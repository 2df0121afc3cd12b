package discover

import (
	"math"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/device"
	"linerate/internal/model/fabric"
	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
	"linerate/internal/model/setting"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
)

// Limits of what is taken over of a host.
const mostAddresses, mostRoutes, mostHops = 1024, 256, 64

// topology returns the fabric as a study has it: hosts with via, and switches that are there.
func (b *builder) topology() (t topology.Topology) {
	given := map[netip.Addr]topology.End{}
	for _, n := range b.nodes {
		if n.bridge == "" {
			if h := b.host(n, given); len(h.Interfaces) > 0 {
				t.Hosts = append(t.Hosts, h)
			} else {
				b.say("lldpd on "+n.Name+", or LLDP of its switch", "where %s is connected: it is in no topology",
					n.Name)
			}
		}
	}
	var all []netip.Addr
	for a := range given {
		all = append(all, a)
	}
	slices.SortFunc(all, netip.Addr.Compare)
	for i := range t.Hosts {
		h := &t.Hosts[i]
		h.Routes = b.routes(&t, h, b.node(h.Name), all)
	}
	for _, n := range b.nodes {
		if n.bridge != "" {
			s := topology.Switch{Name: n.Name, Via: n.Via}
			if n.bridge != n.Name {
				s.Bridge = n.bridge
			}
			t.Switches = append(t.Switches, s)
		}
	}
	for _, d := range b.devices {
		t.Switches = append(t.Switches, d.real(b.far))
	}
	slices.SortStableFunc(t.Switches, func(a, b topology.Switch) int { return natural(a.Name, b.Name) })
	t.Links = lists.Map(b.links, linkOf)
	return t
}

// real returns the switch without an agent: read by SNMP if it was, with the names of its ports.
func (d *unmanaged) real(far map[topology.End]topology.End) topology.Switch {
	s := topology.Switch{Name: d.Name}
	if d.read == nil || d.read.Credentials == "" {
		s.Unmanaged = true
		return s
	}
	s.SNMP = &topology.SNMP{Address: d.read.Given, Credentials: d.read.Credentials}
	if d.read.Version != "2c" {
		s.SNMP.Version = d.read.Version
	}
	for own, name := range d.ports {
		if _, linked := far[topology.End{Node: d.Name, Interface: name}]; linked && own != name {
			s.SNMP.Ports = append(s.SNMP.Ports, topology.SNMPPort{Port: name, Interface: own})
		}
	}
	slices.SortFunc(s.SNMP.Ports, func(a, b topology.SNMPPort) int { return natural(a.Port, b.Port) })
	return s
}

func linkOf(l fabric.Link) topology.Link {
	rate := func(bps float64) unit.BitRate { return unit.BitRate(math.Round(bps)) }
	made := topology.Link{From: l.From, To: l.To}
	switch made.Rate = rate(l.RateBps); {
	case l.RateBps == l.BackBps:
	case l.BackBps > 0 && l.RateBps > 0:
		made.Reverse = &topology.Direction{Impairment: topology.Impairment{Rate: rate(l.BackBps)}}
	case l.BackBps > 0:
		made.Reverse = &topology.Direction{Impairment: topology.Impairment{Rate: rate(l.BackBps)}}
	default:
		made.Rate = 0
		made.Forward = &topology.Direction{Impairment: topology.Impairment{Rate: rate(l.RateBps)}}
	}
	const least, most = 1280, 65521 // IPv6, and what a lab's links carry
	if l.MTU >= least && l.MTU <= most && l.MTU != topology.DefaultMTU {
		made.MTU = l.MTU
	}
	return made
}

// host returns a host with the interfaces that are ends of links, and the devices on top of them. given has
// the addresses of other hosts, to which its own are added.
func (b *builder) host(n *node, given map[netip.Addr]topology.End) topology.Host {
	h := topology.Host{Name: n.Name, Via: n.Via, Forward: n.router}
	snapshot := n.Snapshot.Reading.Snapshot
	there := map[int]string{} // interfaces by index
	add := func(i netstate.InterfaceSnapshot, d device.Device) {
		p := topology.Interface{Name: i.Interface, Device: d}
		for _, prefix := range global(i) {
			at, taken := given[prefix.Addr()]
			switch a, err := topology.ParseAddress(prefix.String()); {
			case err != nil || reserved(prefix) || len(p.Addresses) >= mostAddresses:
			case taken:
				b.say("nothing: addresses of several hosts are left out",
					"which host packets for %s go to: %s and %s.%s have it",
					prefix.Addr(), at, n.Name, i.Interface)
			default:
				p.Addresses = append(p.Addresses, a)
				given[prefix.Addr()] = topology.End{Node: n.Name, Interface: i.Interface}
			}
		}
		if d.Dummy == nil || len(p.Addresses) > 0 {
			h.Interfaces, there[i.Index] = append(h.Interfaces, p), i.Interface
		}
	}
	var rest []netstate.InterfaceSnapshot
	for _, i := range snapshot.Interfaces {
		if _, linked := b.far[topology.End{Node: n.Name, Interface: i.Interface}]; linked {
			add(i, device.Device{})
		} else {
			rest = append(rest, i)
		}
	}
	for _, i := range rest {
		bond := n.bond(i)
		for _, m := range snapshot.Interfaces {
			if m.Master == i.Interface && bond != nil && there[m.Index] != "" {
				bond.Members = append(bond.Members, m.Interface)
			}
		}
		if bond != nil && len(bond.Members) > 0 {
			add(i, device.Device{Bond: bond})
		} else if i.Kind == "dummy" {
			dummy := device.Dummy(true)
			add(i, device.Device{Dummy: &dummy})
		}
	}
	for _, i := range rest {
		nic := n.nics[i.Interface]
		if beneath := there[nic.Peer]; nic.VLAN > 0 && beneath != "" {
			tag := device.VLAN(nic.VLAN)
			d := device.Device{VLAN: &tag}
			if at := strings.LastIndexByte(i.Interface, '.'); at < 0 || i.Interface[:at] != beneath {
				d.Link = beneath
			}
			add(i, d)
		}
	}
	return h
}

// bond returns the bond that an interface is, without its members. Nil: it is none, or of another mode than
// a topology can have.
func (n *node) bond(i netstate.InterfaceSnapshot) *device.Bond {
	for _, of := range n.Snapshot.State.Bonds {
		if of.Interface == i.Interface && i.Kind == "bond" && of.Kind == "" &&
			slices.Contains([]string{"802.3ad", "balance-xor", "active-backup"}, of.Mode) {
			made := &device.Bond{Mode: of.Mode}
			if _, is := device.PolicyNumber(of.HashPolicy); is && of.Mode != "active-backup" {
				made.Policy = of.HashPolicy
			}
			return made
		}
	}
	return nil
}

// reserved reports whether no host may have an IPv4 address: that of its network, or for all hosts there.
func reserved(p netip.Prefix) bool {
	if !p.Addr().Is4() || p.Bits() > 30 {
		return p.Bits() < 1
	}
	last := p.Masked().Addr().As4()
	for bit := p.Bits(); bit < 32; bit++ {
		last[bit/8] |= 0x80 >> (bit % 8)
	}
	return p.Bits() < 1 || p.Masked().Addr() == p.Addr() || netip.AddrFrom4(last) == p.Addr()
}

// routes returns the routes of a host that lead to one of the addresses.
func (b *builder) routes(t *topology.Topology, h *topology.Host, n *node, all []netip.Addr) (list []setting.Route) {
	const mainTable = 254
	for _, r := range n.Snapshot.Reading.Snapshot.Routes {
		to, err := netip.ParsePrefix(r.To)
		if err != nil || r.Table != mainTable || r.Type != "" && r.Type != "unicast" || r.Protocol == "kernel" ||
			len(list) >= mostRoutes || !holdsAny(to, all) {
			continue
		}
		made := setting.Route{To: to.Masked().String(), Metric: int(min(r.Metric, math.MaxInt32))}
		if made.To == "0.0.0.0/0" {
			made.To = "default"
		}
		if made.Metric == 1024 && to.Addr().Is6() { // the kernel's own
			made.Metric = 0
		}
		hops := r.Nexthops
		if len(hops) == 0 {
			hops = []netstate.RouteNexthop{{Via: r.Via, Interface: r.Interface}}
		}
		for _, hop := range hops[:min(len(hops), mostHops)] {
			if _, is := h.Interface(hop.Interface); is && !hop.Down {
				one := setting.Nexthop{Via: b.via(t, h, hop.Via), Interface: hop.Interface}
				if hop.Weight > 1 && hop.Weight <= 256 {
					one.Weight = hop.Weight
				}
				made.Nexthops = append(made.Nexthops, one)
			}
		}
		if len(made.Nexthops) == 1 {
			made.Via, made.Interface, made.Nexthops = made.Nexthops[0].Via, made.Nexthops[0].Interface, nil
		}
		same := func(o setting.Route) bool { return o.To == made.To && o.Metric == made.Metric }
		if (made.Interface != "" || len(made.Nexthops) > 0) && !slices.ContainsFunc(list, same) {
			list = append(list, made)
		}
	}
	return list
}

// holdsAny reports whether a network has one of the addresses, which are sorted.
func holdsAny(p netip.Prefix, all []netip.Addr) bool {
	i, _ := slices.BinarySearchFunc(all, p.Masked().Addr(), netip.Addr.Compare)
	return i < len(all) && p.Contains(all[i])
}

// via returns a gateway as routes of topologies have it: an address of a host, or host.interface if it is
// link-local. Empty: no host has it. What is behind such a gateway is reached as if it were on the link:
// the routers between hosts are part of the fabric.
func (b *builder) via(t *topology.Topology, h *topology.Host, text string) string {
	addr, err := netip.ParseAddr(text)
	if err != nil || len(b.holders[addr]) != 1 {
		return ""
	}
	end := b.holders[addr][0]
	other, is := t.Host(end.Node)
	if !is || other.Name == h.Name {
		return ""
	}
	p, is := other.Interface(end.Interface)
	switch {
	case !is:
		return ""
	case addr.IsLinkLocalUnicast():
		return end.String()
	case slices.ContainsFunc(p.Addresses, func(a topology.Address) bool { return a.Contains(addr) }):
		return addr.String()
	}
	return ""
}

// unresolved reports whether a host has a route through a gateway that no host has.
func (b *builder) unresolved(n *node, all map[netip.Addr]bool) bool {
	return slices.ContainsFunc(n.Snapshot.Reading.Snapshot.Routes, func(r netstate.RouteEntry) bool {
		hops := append(slices.Clone(r.Nexthops), netstate.RouteNexthop{Via: r.Via})
		return r.Protocol != "kernel" && slices.ContainsFunc(hops, func(hop netstate.RouteNexthop) bool {
			addr, err := netip.ParseAddr(hop.Via)
			return err == nil && !addr.IsLinkLocalUnicast() && !all[addr]
		})
	})
}
