package discover

import (
	"net/netip"
	"slices"

	"linerate/internal/model/device"
	"linerate/internal/model/setting"
	"linerate/internal/model/topology"
)

// privateAS is the first number of autonomous systems for private use with 32 bits (RFC 6996).
const privateAS = 4_200_000_000

// hashPolicy is the kernel parameter by which a host of a twin hashes as the real one.
const hashPolicy = "net.ipv4.fib_multipath_hash_policy"

// twin returns the topology as a lab. If the links of switches form loops, or hosts use gateways that are
// no host, the switches are routers: each host and switch speaks BGP, and hosts keep their addresses
// without their networks.
func (b *builder) twin() topology.Topology {
	t := b.topology()
	routed := b.loops() || b.gateways()
	for i := range t.Hosts {
		h := &t.Hosts[i]
		h.Via = nil
		if policy := b.node(h.Name).Snapshot.Reading.Snapshot.Sysctls[hashPolicy]; slices.Contains([]string{"1", "2"},
			policy) {
			h.Sysctls = append(h.Sysctls, setting.Sysctl{Key: hashPolicy, Value: policy})
		}
	}
	for i := range t.Switches {
		t.Switches[i] = topology.Switch{Name: t.Switches[i].Name}
	}
	if routed {
		for i := range t.Hosts {
			flatten(&t.Hosts[i])
		}
		route(&t)
		return t
	}
	for i := range t.Hosts {
		bonds(&t, &t.Hosts[i])
	}
	return t
}

// loops reports whether frames could circle between the switches.
func (b *builder) loops() bool {
	g := groups[string]{}
	for _, l := range b.links {
		switches := true
		for _, e := range []topology.End{l.From, l.To} {
			if n := b.node(e.Node); n != nil && n.bridge == "" {
				switches = false
			}
		}
		if switches && g.root(l.From.Node) == g.root(l.To.Node) {
			return true
		} else if switches {
			g.join(l.From.Node, l.To.Node)
		}
	}
	return false
}

// gateways reports whether a host that is connected to a switch uses a gateway that is no host.
func (b *builder) gateways() bool {
	all := map[netip.Addr]bool{}
	for a := range b.holders {
		all[a] = true
	}
	return slices.ContainsFunc(b.nodes, func(n *node) bool {
		return n.bridge == "" && b.unresolved(n, all) && slices.ContainsFunc(n.ends(), func(e topology.End) bool {
			far, linked := b.far[e]
			return linked && (b.node(far.Node) == nil || b.node(far.Node).bridge != "")
		})
	})
}

// flatten removes the devices of a host; their addresses are then those of the first interface beneath. The
// network of each address has that address alone.
func flatten(h *topology.Host) {
	var kept []topology.Interface
	place := map[string]int{}
	for _, p := range h.Interfaces {
		addresses := p.Addresses
		for i := range addresses {
			addresses[i].Bits = addresses[i].First.BitLen()
		}
		if shape, is := p.Shape(p.Name); is && len(shape.Beneath) > 0 {
			at := place[shape.Beneath[0]]
			kept[at].Addresses, place[p.Name] = append(kept[at].Addresses, addresses...), at
			continue
		}
		place[p.Name] = len(kept)
		kept = append(kept, p)
	}
	h.Interfaces = kept
}

// route makes routers of the switches, and has everything speak BGP.
func route(t *topology.Topology) {
	for _, s := range t.Switches {
		h := topology.Host{Name: s.Name, Forward: true}
		for _, l := range t.Links {
			for _, e := range []topology.End{l.From, l.To} {
				if e.Node == s.Name {
					h.Interfaces = append(h.Interfaces, topology.Interface{Name: e.Interface})
				}
			}
		}
		slices.SortFunc(h.Interfaces, func(a, b topology.Interface) int { return natural(a.Name, b.Name) })
		if len(h.Interfaces) > 0 {
			t.Hosts = append(t.Hosts, h)
		}
	}
	t.Switches = nil
	for i := range t.Hosts {
		t.Hosts[i].Routes, t.Hosts[i].BGP = nil, &topology.BGP{AS: privateAS + i}
	}
}

// bonds gives the switch at the other end of a host's bonds the same bonds. A bond whose members lead to
// several switches or hosts is left with its first member.
func bonds(t *topology.Topology, h *topology.Host) {
	for k := range h.Interfaces {
		p := &h.Interfaces[k]
		if p.Bond == nil {
			continue
		}
		far := map[string][]string{}
		var nodes []string
		for _, m := range p.Bond.Members {
			if l, is := t.LinkAt(topology.End{Node: h.Name, Interface: m}); is {
				e := l.Other(topology.End{Node: h.Name, Interface: m})
				if far[e.Node] == nil {
					nodes = append(nodes, e.Node)
				}
				far[e.Node] = append(far[e.Node], e.Interface)
			}
		}
		if len(nodes) == 0 {
			continue
		}
		s, is := t.Switch(nodes[0])
		switch {
		case len(nodes) == 1 && is && p.Bond.Mode != "active-backup":
			name := numbered("bond-"+h.Name[:min(len(h.Name), longestInterface-8)], longestInterface,
				func(name string) bool {
					return slices.ContainsFunc(s.Ports, func(o topology.Port) bool { return o.Name == name })
				})
			s.Ports = append(s.Ports, topology.Port{Name: name, Bond: &device.Bond{Mode: p.Bond.Mode,
				Policy:  p.Bond.Policy,
				Members: far[s.Name]}})
		case len(nodes) > 1:
			keep := p.Bond.Members[:1]
			gone := func(name string) bool { return slices.Contains(p.Bond.Members[1:], name) }
			t.Links = slices.DeleteFunc(t.Links, func(l topology.Link) bool {
				return l.From.Node == h.Name && gone(l.From.Interface) || l.To.Node == h.Name && gone(l.To.Interface)
			})
			h.Interfaces = slices.DeleteFunc(slices.Clone(h.Interfaces),
				func(i topology.Interface) bool { return gone(i.Name) })
			for j := range h.Interfaces {
				if h.Interfaces[j].Bond == p.Bond {
					h.Interfaces[j].Bond = &device.Bond{Mode: "active-backup", Members: keep}
				}
			}
			bonds(t, h)
			return
		}
	}
}
