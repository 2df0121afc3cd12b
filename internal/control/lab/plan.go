package lab

import (
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/device"
	"linerate/internal/model/setting"
	"linerate/internal/model/topology"
)

// bridgeName is the name of the bridge in the namespace of every switch.
const bridgeName = "br0"

// plan is what the init process makes. It is sent as JSON on the control stream.
type plan struct {
	Nodes []planNode `json:"nodes"`
	Links []planLink `json:"links"`
	// ImpairedBy is the topology's.
	ImpairedBy topology.Mechanism `json:"impaired_by,omitempty"`
	// Key is drawn for the lab; its agents get it from the init process (message.Membership).
	Key string `json:"key"`
}

type planNode struct {
	Name   string `json:"name"`
	Switch bool   `json:"switch,omitempty"`
	// IPv6 is enabled only where the topology uses it: router solicitations and
	// multicast listener reports would appear on links that are being measured.
	IPv6 bool `json:"ipv6,omitempty"`
	// Devices are made when the links are there, in this order.
	Devices []planDevice `json:"devices,omitempty"`
	// VLANs are those of a switch's ports; empty: it does not filter.
	VLANs map[string]planVLANs `json:"vlans,omitempty"`
}

// planDevice is an interface on top of others.
type planDevice struct {
	Interface string `json:"interface"`
	MAC       string `json:"mac,omitempty"`
	MTU       int    `json:"mtu,omitempty"`
	// Device is as in the study.
	Device device.Device `json:"device"`
}

// planVLANs are the VLANs of a port.
type planVLANs struct {
	Untagged device.VLAN   `json:"untagged,omitempty"`
	Tagged   []device.VLAN `json:"tagged,omitempty"`
}

// planLink is a link's two ends.
type planLink [2]planEnd

// planEnd is an interface and the direction of the link that leaves it.
type planEnd struct {
	Node       int                 `json:"node"` // index into Nodes
	Interface  string              `json:"interface"`
	MAC        string              `json:"mac"`
	Impairment topology.Impairment `json:"impairment"`
	// Segments reports whether the host's frames can be too large for an interface that they meet.
	// They then leave it one by one: veth and bridges, unlike hardware, do not hold the packets of
	// segmentation offload against their MTU (is_skb_forwardable in net/core/dev.c).
	Segments bool `json:"segments,omitempty"`
}

// planOf returns what to make of a topology: the nodes without `via` that are
// not unmanaged switches, and the links between them.
func planOf(t *topology.Topology) plan {
	p := plan{ImpairedBy: t.ImpairedBy}
	index := map[string]int{}
	ipv6 := withIPv6(t)
	for _, h := range t.Hosts {
		if len(h.Via) == 0 {
			index[h.Name] = len(p.Nodes)
			p.Nodes = append(p.Nodes, planNode{Name: h.Name, IPv6: ipv6[h.Name], Devices: devicesOf(t, &h)})
		}
	}
	for _, s := range t.Switches {
		if len(s.Via) == 0 && !s.Agentless() {
			index[s.Name] = len(p.Nodes)
			p.Nodes = append(p.Nodes, switchNode(t, &s))
		}
	}
	for _, l := range t.Links {
		from, made := index[l.From.Node]
		to, madeToo := index[l.To.Node]
		if !made || !madeToo {
			continue // a link between real hosts exists already
		}
		end := func(node int, e topology.End) planEnd {
			return planEnd{Node: node, Interface: e.Interface, MAC: t.MAC(e), Impairment: l.Towards(e)}
		}
		p.Links = append(p.Links, planLink{end(from, l.From), end(to, l.To)})
	}
	p.segment(t)
	return p
}

// segment marks the interfaces of hosts whose frames can be too large in a topology with the same
// links, such as that of a treatment.
func (p *plan) segment(t *topology.Topology) {
	for _, narrow := range t.Narrowings() {
		for i := range p.Links {
			for k := range p.Links[i] {
				e := &p.Links[i][k]
				e.Segments = e.Segments || e.Interface == narrow.First.Interface &&
					p.Nodes[e.Node].Name == narrow.First.Node
			}
		}
	}
}

// devicesOf are a host's devices, each behind those that it is made on.
func devicesOf(t *topology.Topology, h *topology.Host) (list []planDevice) {
	made := map[string]bool{}
	var add func(p topology.Interface)
	add = func(p topology.Interface) {
		shape, is := p.Shape(p.Name)
		if !is || made[p.Name] {
			return
		}
		made[p.Name] = true
		for _, name := range slices.Concat(shape.Beneath, shape.Slaves) {
			if below, ok := h.Interface(name); ok {
				add(*below)
			}
		}
		end := topology.End{Node: h.Name, Interface: p.Name}
		d := planDevice{Interface: p.Name, MTU: t.DeviceMTU(end), Device: p.Device}
		if !shape.SharesMAC || p.MAC != "" {
			d.MAC = t.MAC(end)
		}
		list = append(list, d)
	}
	for _, p := range h.Interfaces {
		add(p)
	}
	return list
}

// switchNode is a switch with the bonds of its ports and their VLANs.
func switchNode(t *topology.Topology, s *topology.Switch) planNode {
	n := planNode{Name: s.Name, Switch: true}
	member := map[string]bool{}
	for _, p := range s.Ports {
		if p.Bond == nil {
			continue
		}
		d := planDevice{Interface: p.Name, Device: p.Device()}
		for _, name := range p.Bond.Members {
			member[name] = true
			if l, ok := t.LinkAt(topology.End{Node: s.Name, Interface: name}); ok {
				d.MTU = l.Towards(topology.End{Node: s.Name, Interface: name}).MTU
			}
		}
		n.Devices = append(n.Devices, d)
	}
	if !s.Filters() {
		return n
	}
	n.VLANs = map[string]planVLANs{}
	port := func(name string) {
		untagged, tagged := s.VLANs(name)
		n.VLANs[name] = planVLANs{untagged, tagged}
	}
	for _, d := range n.Devices {
		port(d.Interface)
	}
	for _, l := range t.Links {
		for _, e := range []topology.End{l.From, l.To} {
			if e.Node == s.Name && !member[e.Interface] {
				port(e.Interface)
			}
		}
	}
	return n
}

// withIPv6 returns the hosts that need IPv6: those that use it, and the two ends of a
// route whose next hop can only be a link-local address (see Lab.via).
func withIPv6(t *topology.Topology) map[string]bool {
	need := map[string]bool{}
	by := func(host, to, via string) {
		if far, ok := t.EndOf(via); ok {
			if _, ok := t.AddressToward(host, far, strings.Contains(to, ":")); !ok {
				need[host], need[far.Node] = true, true
			}
		}
	}
	for _, h := range t.Hosts {
		if usesIPv6(&h) || h.BGP != nil { // its sessions use link-local addresses
			need[h.Name] = true
		}
		for _, r := range h.Routes {
			for _, hop := range append([]setting.Nexthop{{Via: r.Via}}, r.Nexthops...) {
				by(h.Name, r.To, hop.Via)
			}
		}
		for _, n := range h.Nexthops {
			by(h.Name, "", n.Via)
		}
	}
	return need
}

func usesIPv6(h *topology.Host) bool {
	for _, i := range h.Interfaces {
		if slices.ContainsFunc(i.Addresses, func(a topology.Address) bool { return a.First.Is6() }) {
			return true
		}
	}
	six := func(text string) bool {
		address, _, _ := strings.Cut(text, "/")
		addr, err := netip.ParseAddr(address)
		return strings.HasPrefix(text, "inet6") || err == nil && addr.Is6()
	}
	return slices.ContainsFunc(h.Routes, func(r setting.Route) bool {
		return six(r.To) || six(r.Via) || slices.ContainsFunc(r.Nexthops, func(n setting.Nexthop) bool {
			return six(n.Via)
		})
	})
}
