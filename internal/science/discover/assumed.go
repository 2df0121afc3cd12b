package discover

import (
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/fabric"
	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
	"linerate/internal/model/source"
	"linerate/internal/model/topology"
)

// groups are sets of elements that have something in common.
type groups[K comparable] map[K]K

func (g groups[K]) root(k K) K {
	for {
		up, is := g[k]
		if !is || up == k {
			return k
		}
		k = up
	}
}

func (g groups[K]) join(a, b K) { g[g.root(a)] = g.root(b) }

// open returns the first end without a link that carries the packets of an interface: itself, a member of
// the bond that it is, or the same of the interface beneath a VLAN.
func (b *builder) open(n *node, name string) (topology.End, bool) {
	for range 4 { // VLANs on VLANs
		beneath := ""
		for _, i := range n.Snapshot.Reading.Snapshot.Interfaces {
			if i.Interface == name || i.Master == name && n.of[name].Kind == "bond" {
				if end, is := b.end(n, i.Interface); is && b.far[end] == (topology.End{}) {
					return end, true
				}
			}
			if n.nics[name].VLAN > 0 && i.Index == n.nics[name].Peer {
				beneath = i.Interface
			}
		}
		if beneath == "" {
			break
		}
		name = beneath
	}
	return topology.End{}, false
}

// seen is what ends without a link have seen on their segment.
type seen struct {
	of        map[topology.End]map[topology.End]bool
	strangers map[topology.End]bool // it has seen machines that were not named
}

// seenBy collects what neighbour tables, answers to ARP and routes say of the ends without a link.
func (b *builder) seenBy() seen {
	s := seen{map[topology.End]map[topology.End]bool{}, map[topology.End]bool{}}
	see := func(at topology.End, of []topology.End) {
		for _, e := range of {
			if far, is := b.open(b.node(e.Node), e.Interface); is && e.Node != at.Node {
				if s.of[at] == nil {
					s.of[at] = map[topology.End]bool{}
				}
				s.of[at][far] = true
				return // others are members of the same bond
			}
		}
	}
	for _, n := range b.nodes {
		if n.bridge != "" {
			continue
		}
		snapshot := n.Snapshot.Reading.Snapshot
		for _, e := range slices.Concat(snapshot.Neighbours, snapshot.Answers) {
			at, is := b.open(n, e.Interface)
			if !is || !machine(e) {
				continue
			}
			if of := b.macs[strings.ToLower(e.MAC)]; len(of) > 0 {
				see(at, of)
			} else {
				s.strangers[at] = true
			}
		}
		for _, r := range snapshot.Routes {
			for _, hop := range append(r.Nexthops, netstate.RouteNexthop{Via: r.Via, Interface: r.Interface}) {
				at, is := b.open(n, hop.Interface)
				if via, err := netip.ParseAddr(hop.Via); err == nil && is && len(b.holders[via]) == 1 {
					see(at, b.holders[via])
				}
			}
		}
	}
	return s
}

// machine reports whether an entry of a neighbour table is of a machine that is there.
func machine(e netstate.Neighbour) bool {
	first, err := strconv.ParseUint(strings.SplitN(e.MAC, ":", 2)[0], 16, 8)
	return err == nil && first&1 == 0 && e.MAC != "00:00:00:00:00:00" &&
		!slices.Contains([]string{"FAILED", "INCOMPLETE", "NOARP"}, e.State)
}

// byNeighbours adds links between ends that have seen each other alone, and assumes a switch between others
// that are on one segment.
func (b *builder) byNeighbours() {
	s := b.seenBy()
	g := groups[topology.End]{}
	var open []topology.End
	for _, n := range b.nodes {
		for _, e := range n.ends() {
			if _, linked := b.far[e]; !linked && !slices.Contains(open, e) && n.bridge == "" {
				open = append(open, e)
			}
		}
	}
	for at, of := range s.of {
		for e := range of {
			g.join(at, e)
		}
	}
	networks := map[netip.Prefix]topology.End{}
	for _, at := range open {
		for _, p := range b.networks(at) {
			other, is := networks[p]
			if !is {
				networks[p] = at
			} else if len(s.of[at]) == 0 || len(s.of[other]) == 0 {
				g.join(at, other)
			}
		}
	}
	for _, first := range open {
		all := lists.Where(open, func(e topology.End) bool { return g.root(e) == g.root(first) })
		if len(all) < 2 || all[0] != first {
			continue
		}
		one, other := all[0], all[1]
		switch {
		case len(all) == 2 && (s.of[one][other] || s.of[other][one]) && !s.strangers[one] && !s.strangers[other]:
			b.link(one, other, fabric.SourceNeighbour)
		case len(all) == 2 && b.pointToPoint(one, other):
			b.link(one, other, fabric.SourceSubnet)
		default:
			lan := b.assumed("lan")
			for _, e := range all {
				b.link(e, topology.End{Node: lan.Name, Interface: lan.port(e.Node + "-" + e.Interface)},
					fabric.SourceSubnet)
			}
			b.say("LLDP of their switches, or --switch", "what connects %s: %s stands for it",
				source.And(source.Some(lists.Map(all, topology.End.String), 4)), lan.Name)
		}
	}
}

// networks returns the networks of more than one address at an end.
func (b *builder) networks(e topology.End) (list []netip.Prefix) {
	for _, p := range global(b.node(e.Node).of[e.Interface]) {
		if !p.IsSingleIP() {
			list = append(list, p.Masked())
		}
	}
	return list
}

// pointToPoint reports whether two ends have a network with room for two addresses alone.
func (b *builder) pointToPoint(one, other topology.End) bool {
	return slices.ContainsFunc(b.networks(one), func(p netip.Prefix) bool {
		return p.Addr().BitLen()-p.Bits() <= 2 && slices.Contains(b.networks(other), p)
	})
}

// assumed adds a switch that stands for what is not known.
func (b *builder) assumed(name string) *unmanaged {
	d := &unmanaged{ports: map[string]string{}, speeds: map[string]float64{}}
	d.Name, d.Assumed = b.name(name), true
	b.devices, b.deviceOf[d.Name] = append(b.devices, d), d
	return d
}

// forwards reports whether traffic of others passes a node.
func (b *builder) forwards(name string) bool {
	n := b.node(name)
	return n == nil || n.bridge != "" || n.router
}

// assume connects what is not known to be connected by a switch that stands for it.
func (b *builder) assume() {
	g := groups[string]{}
	linked := map[string]bool{}
	for _, l := range b.links {
		linked[l.From.Node], linked[l.To.Node] = true, true
		if b.forwards(l.From.Node) && b.forwards(l.To.Node) {
			g.join(l.From.Node, l.To.Node)
		}
	}
	// The parts, each with what its uplink is assumed at.
	uplinks := map[string][]topology.End{}
	var parts []string
	part := func(name string, at ...topology.End) {
		if _, is := uplinks[name]; !is {
			parts = append(parts, name)
		}
		uplinks[name] = append(uplinks[name], at...)
	}
	for _, d := range b.devices {
		if d.Read || d.Assumed {
			part(g.root(d.Name))
		} else {
			part(g.root(d.Name), topology.End{Node: d.Name})
		}
	}
	for _, n := range b.nodes {
		switch {
		case n.bridge != "" || n.router && linked[n.Name]:
			part(g.root(n.Name))
		case !linked[n.Name]:
			if end, is := b.outward(n); is {
				part(n.Name, end)
			}
		}
	}
	if len(parts) < 2 {
		return
	}
	core := b.assumed("core")
	var joined []string
	for _, name := range parts {
		at := uplinks[name]
		if len(at) == 0 {
			at = b.anyUplink(g, name)
		}
		for _, e := range at {
			if d := b.unmanaged(e.Node); d != nil && e.Interface == "" {
				e.Interface = d.port(core.Name)
			}
			b.link(e, topology.End{Node: core.Name, Interface: core.port(e.Node)}, fabric.SourceAssumed)
			joined = append(joined, e.Node)
		}
	}
	b.say("--switch of each, or of what is between them", "how %s are connected: %s stands for it",
		source.And(source.Some(joined, 4)), core.Name)
}

// anyUplink returns where a part is connected to others that has no switch whose links are not known: at its
// first switch, or at a free interface of a router.
func (b *builder) anyUplink(g groups[string], part string) []topology.End {
	for _, d := range b.devices {
		if g.root(d.Name) == part {
			return []topology.End{{Node: d.Name}}
		}
	}
	for _, n := range b.nodes {
		if g.root(n.Name) == part && n.router {
			if end, is := b.outward(n); is {
				return []topology.End{end}
			}
		}
	}
	return nil
}

// outward returns the end without a link through which a host reaches others: that of its default route, or
// the first one with an address.
func (b *builder) outward(n *node) (topology.End, bool) {
	for _, r := range n.Snapshot.Reading.Snapshot.Routes {
		if strings.HasSuffix(r.To, "/0") || r.To == "default" {
			if end, is := b.open(n, r.Interface); is {
				return end, true
			}
		}
	}
	for _, i := range n.Snapshot.Reading.Snapshot.Interfaces {
		if end, is := b.open(n, i.Interface); is && len(global(i)) > 0 {
			return end, true
		}
	}
	return topology.End{}, false
}

// notSaid says what is not known of switches and of the ends of cables.
func (b *builder) notSaid() {
	for _, d := range b.devices {
		if !d.Read && !d.Assumed {
			tell := "--switch with its address"
			if d.Address != "" {
				tell = "--switch " + d.Address
			}
			b.say(tell, "which other switches and hosts %s is connected to", d.Name)
		}
	}
	for _, n := range b.nodes {
		silent := false
		for _, end := range n.ends() {
			if far, linked := b.far[end]; !linked && (n.bridge != "" || len(global(n.of[end.Interface])) > 0) {
				b.say("lldpd on "+n.Name+", LLDP or --switch of its switch", "where %s leads", end)
				silent = true
			} else if linked && b.node(far.Node) == nil && b.unmanaged(far.Node).Assumed {
				silent = true
			}
		}
		for _, p := range n.Snapshot.State.Parts {
			if p.Part == "lldp" && p.Missing != "" && silent {
				b.say("lldpd on "+n.Name+", or root there", "the LLDP neighbours of %s: %s", n.Name, p.Missing)
			}
		}
	}
	for _, name := range slices.SortedFunc(maps.Keys(b.unnamed), natural) {
		list := slices.Clone(b.unnamed[name])
		slices.SortFunc(list, natural)
		list = slices.Compact(list)
		b.say("name them as hosts", "what is behind %d neighbours of %s that were not named: %s", len(list), name,
			source.And(source.Some(list, 5)))
	}
}
