// Package discover derives the fabric behind hosts from what hosts and switches say: neighbours by LLDP,
// forwarding tables, neighbour tables, routes and addresses. What is derived depends on the given values
// alone, and its order on their order.
package discover

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/fabric"
	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
	"linerate/internal/model/source"
	"linerate/internal/model/topology"
)

// Node is a host, or a Linux bridge that has an agent, with its state.
type Node struct {
	Name     string // as it was named
	Via      []string
	Snapshot netstate.HostSnapshot
}

// mostSwitches bounds the switches of a fabric: every neighbour can name others.
const mostSwitches = 1024

// node is a Node with what is looked up of it.
type node struct {
	Node
	bridge string // it is a switch: name of its bridge device; empty: a host
	router bool
	nics   map[string]netstate.NIC
	of     map[string]netstate.InterfaceSnapshot
}

// unmanaged is a switch without an agent.
type unmanaged struct {
	fabric.Switch
	read      *fabric.Device // what it says by SNMP; nil: it was not read
	addresses []string       // for management
	ports     map[string]string
	speeds    map[string]float64 // by port in the topology, in bits per second
}

// builder collects links.
type builder struct {
	nodes    []*node
	devices  []*unmanaged
	nodeOf   map[string]*node // by name
	deviceOf map[string]*unmanaged
	names    map[string]bool           // of nodes and devices
	macs     map[string][]topology.End // of nodes' interfaces that may be ends
	holders  map[netip.Addr][]topology.End
	links    []fabric.Link
	far      map[topology.End]topology.End
	unknown  []fabric.Unknown
	unnamed  map[string][]string // by switch, neighbours of it that were not named
}

// Fabric derives the fabric. It returns an error if no link is found.
func Fabric(nodes []Node, devices []fabric.Device) (fabric.Fabric, error) {
	b := &builder{nodeOf: map[string]*node{}, deviceOf: map[string]*unmanaged{}, names: map[string]bool{},
		macs: map[string][]topology.End{}, far: map[topology.End]topology.End{},
		holders: map[netip.Addr][]topology.End{}, unnamed: map[string][]string{}}
	for _, n := range nodes {
		b.addNode(n)
	}
	b.findRouters()
	for i := range devices {
		b.addDevice(&devices[i])
	}
	b.byLLDP()
	b.byForwarding()
	b.byNeighbours()
	b.assume()
	b.notSaid()
	f := fabric.Fabric{Schema: fabric.Schema, Links: b.links}
	if len(b.links) == 0 {
		return f, fmt.Errorf("no link was found between %s: their switches send no LLDP, and they have not spoken to "+
			"each other", source.And(source.Some(lists.Map(b.nodes, func(n *node) string { return n.Name }), 4)))
	}
	for _, n := range b.nodes {
		if n.bridge != "" {
			f.Switches = append(f.Switches, fabric.Switch{Name: n.Name, Read: true})
		} else {
			f.Hosts = append(f.Hosts, fabric.Host{Name: n.Name, Router: n.router, Rack: b.rack(n)})
		}
	}
	for _, d := range b.devices {
		f.Switches = append(f.Switches, d.Switch)
	}
	slices.SortStableFunc(f.Switches, func(a, b fabric.Switch) int { return natural(a.Name, b.Name) })
	b.measureLinks()
	slices.SortStableFunc(f.Links, func(a, b fabric.Link) int {
		return cmp.Or(natural(a.From.String(), b.From.String()), natural(a.To.String(), b.To.String()))
	})
	b.links = f.Links
	f.Topology = b.topology()
	f.Twin = b.twin()
	f.Unknown = b.unknown
	return f, nil
}

// say adds something that is not known.
func (b *builder) say(tell, format string, args ...any) {
	u := fabric.Unknown{What: fmt.Sprintf(format, args...), Tell: tell}
	if !slices.Contains(b.unknown, u) {
		b.unknown = append(b.unknown, u)
	}
}

func (b *builder) addNode(given Node) {
	n := &node{Node: given, nics: map[string]netstate.NIC{}, of: map[string]netstate.InterfaceSnapshot{}}
	n.Name = b.name(given.Name)
	s := given.Snapshot.Reading.Snapshot
	for _, i := range given.Snapshot.State.NICs {
		n.nics[i.Interface] = i
	}
	addressed, ports := 0, map[string]int{}
	for _, i := range s.Interfaces {
		n.of[i.Interface] = i
		addressed += len(global(i))
		if i.Master != "" {
			ports[i.Master]++
		}
	}
	for _, i := range s.Interfaces {
		if i.Kind == "bridge" && ports[i.Interface] > 1 && addressed == 0 && n.bridge == "" {
			n.bridge = i.Interface
		}
	}
	n.router = n.bridge == "" && cmp.Or(s.Sysctls["net.ipv4.ip_forward"],
		given.Snapshot.State.Parameters["net.ipv4.ip_forward"]) == "1"
	for _, i := range s.Interfaces {
		if mac := strings.ToLower(i.MAC); mac != "" && (n.cabled(i) != "" || n.bridge == "" && i.Kind == "bond") {
			b.macs[mac] = append(b.macs[mac], topology.End{Node: n.Name, Interface: i.Interface})
		}
		for _, p := range prefixes(i) {
			b.holders[p.Addr()] = append(b.holders[p.Addr()], topology.End{Node: n.Name, Interface: i.Interface})
		}
	}
	b.nodes, b.nodeOf[n.Name] = append(b.nodes, n), n
}

// findRouters leaves as routers those that forward and that another host has as its next hop: with containers
// or virtual machines many hosts forward, which are no routers of the fabric.
func (b *builder) findRouters() {
	used := map[string]bool{}
	for _, n := range b.nodes {
		for _, r := range n.Snapshot.Reading.Snapshot.Routes {
			for _, hop := range append(slices.Clone(r.Nexthops), netstate.RouteNexthop{Via: r.Via}) {
				via, err := netip.ParseAddr(hop.Via)
				if holders := b.holders[via]; err == nil && len(holders) == 1 && holders[0].Node != n.Name {
					used[holders[0].Node] = true
				}
			}
		}
	}
	for _, n := range b.nodes {
		n.router = n.router && used[n.Name]
	}
}

// node finds a node by name. Nil: it is a switch without an agent.
func (b *builder) node(name string) *node {
	return b.nodeOf[name]
}

// unmanaged finds a switch without an agent by name. Nil: there is none.
func (b *builder) unmanaged(name string) *unmanaged {
	return b.deviceOf[name]
}

// cabled returns the name that the end of a cable at the interface has in a topology: its own, or that of
// the bridge or team with the host's addresses. Empty: it has no cable, as the interfaces of containers
// and of virtual machines on a host have none.
func (n *node) cabled(i netstate.InterfaceSnapshot) string {
	inside := !n.Snapshot.State.FirstNamespace // a namespace, whose interfaces are virtual
	if !i.Up || i.Kind != "" && !(inside && slices.Contains([]string{"veth", "tun"}, i.Kind)) {
		return ""
	}
	switch master := n.of[i.Master]; {
	case n.bridge != "" && i.Master != n.bridge:
		return ""
	case n.bridge == "" && (master.Kind == "bridge" || master.Kind == "team"):
		return master.Interface
	}
	return i.Interface
}

// ends lists the interfaces with a cable, and the name of each in a topology.
func (n *node) ends() (list []topology.End) {
	for _, i := range n.Snapshot.Reading.Snapshot.Interfaces {
		if name := n.cabled(i); name != "" {
			list = append(list, topology.End{Node: n.Name, Interface: name})
		}
	}
	return list
}

// end returns the end of a cable at an interface of a node. It returns false if it has no cable.
func (b *builder) end(n *node, name string) (topology.End, bool) {
	i, is := n.of[name]
	if !is || n.cabled(i) == "" {
		return topology.End{}, false
	}
	return topology.End{Node: n.Name, Interface: n.cabled(i)}, true
}

// prefixes returns the addresses of an interface that are used.
func prefixes(i netstate.InterfaceSnapshot) (list []netip.Prefix) {
	for _, text := range i.Addresses {
		if p, err := netip.ParsePrefix(text); err == nil && !slices.Contains(i.Duplicates, text) {
			list = append(list, p)
		}
	}
	return list
}

// global returns those that are not link-local.
func global(i netstate.InterfaceSnapshot) []netip.Prefix {
	return lists.Where(prefixes(i), func(p netip.Prefix) bool {
		a := p.Addr()
		return !a.IsLinkLocalUnicast() && !a.IsLoopback() && !a.IsMulticast() && !a.IsUnspecified()
	})
}

// link adds a link, unless one of its ends has another one.
func (b *builder) link(from, to topology.End, by string) bool {
	if far, is := b.far[from]; is {
		return far == to
	}
	if _, is := b.far[to]; is || from.Node == to.Node {
		return false
	}
	b.far[from], b.far[to] = to, from
	b.links = append(b.links, fabric.Link{From: from, To: to, Source: by})
	return true
}

// rack returns what a host is connected to: a switch, or a router. Empty: neither is known.
func (b *builder) rack(n *node) string {
	var switches, routers []string
	for _, l := range b.links {
		far := l.To.Node
		if far == n.Name {
			far = l.From.Node
		} else if l.From.Node != n.Name {
			continue
		}
		switch other := b.node(far); {
		case other == nil && !b.unmanaged(far).Assumed, other != nil && other.bridge != "":
			switches = append(switches, far)
		case other != nil && other.router && !n.router:
			routers = append(routers, far)
		}
	}
	for _, list := range [][]string{switches, routers} {
		if len(list) > 0 {
			return slices.MinFunc(list, natural)
		}
	}
	return ""
}
