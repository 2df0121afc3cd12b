package topology

import (
	"fmt"
	"slices"

	"linerate/internal/model/source"
	"linerate/internal/model/unit"
)

// links checks the ends and the impairments of links.
func (c *checker) links() {
	taken := map[End]End{} // linked ends and their far ends
	joined := groups{}
	sound := true
	if len(c.t.Links) == 0 {
		c.report("topology.links", "no links: nothing could flow")
	}
	for i, l := range c.t.Links {
		path := fmt.Sprintf("topology.links[%d]", i)
		from, fromKnown := c.end(l.From, path+".from")
		to, toKnown := c.end(l.To, path+".to")
		if !fromKnown || !toKnown {
			sound = false
			continue
		}
		if from.Node == to.Node {
			c.report(path, "link joins %s to itself: expected two different hosts or switches", from.Node)
			sound = false
			continue
		}
		c.occupy(taken, from, to, path+".from")
		c.occupy(taken, to, from, path+".to")
		c.sameWorld(from, to, path)
		c.loop(joined, c.whole.Links[i], path)
		mtu := unit.Bytes(0)
		if c.hasIPv6(from) || c.hasIPv6(to) {
			mtu = minIPv6MTU
		}
		impairmentChecker{c.report, path, mtu}.check(l)
	}
	if !sound {
		return // interfaces may lack a link only because their link is wrong
	}
	c.sameMAC()
	for i, h := range c.t.Hosts {
		for j, p := range h.Interfaces {
			if _, linked := taken[End{h.Name, p.Name}]; !linked && !p.Is() {
				c.report(fmt.Sprintf("topology.hosts[%d].interfaces[%d]", i, j), "interface %s.%s has no link",
					h.Name, p.Name)
			}
		}
	}
}

// CheckNodes reports links to hosts and switches that do not exist.
func (t *Topology) CheckNodes(report source.Report) {
	c := &checker{t, report, t, newIndex(t)}
	for i, l := range t.Links {
		c.node(l.From, fmt.Sprintf("topology.links[%d].from", i))
		c.node(l.To, fmt.Sprintf("topology.links[%d].to", i))
	}
}

// node returns the host of a link's end. Nil: it belongs to a switch. Known is false if neither
// exists.
func (c *checker) node(e End, path string) (h *Host, known bool) {
	if h = c.hosts[e.Node]; h != nil || c.switches[e.Node] != nil {
		return h, true
	}
	nodes := c.t.HostNames()
	for _, s := range c.t.Switches {
		if c.switches[s.Name] != nil {
			nodes = append(nodes, s.Name)
		}
	}
	c.report(path, "link to %q: no such host or switch%s", e.Node, source.DidYouMean(e.Node, nodes))
	return nil, false
}

// end resolves an end of a link. An end without an interface is a port of a switch, or the only
// interface of a host.
func (c *checker) end(e End, path string) (End, bool) {
	h, known := c.node(e, path)
	if h == nil {
		if why := badInterfaceName(e.Interface); known && e.Interface != "" && why != "" {
			c.report(path, "interface name %q: %s", e.Interface, why)
		}
		return e, known
	}
	e = c.t.complete(e)
	if e.Interface == "" {
		c.report(path, "link to %q: the host has several interfaces; expected %s", e.Node,
			source.Or(h.interfaceNames(h.Name+".")))
		return e, false
	}
	p, ok := h.Interface(e.Interface)
	if !ok {
		c.report(path, "link to %q: host %q has no interface %q%s", e, e.Node, e.Interface,
			source.DidYouMean(e.Interface, h.interfaceNames("")))
		return e, false
	}
	if shape, is := p.Shape(p.Name); is {
		c.report(path, "link to %q: %s is a %s and has no link of its own", e, e.Interface, shape.Key)
		return e, false
	}
	return e, true
}

// interfaceNames lists the host's interfaces, each after a prefix.
func (h *Host) interfaceNames(prefix string) []string {
	names := make([]string, len(h.Interfaces))
	for i, p := range h.Interfaces {
		names[i] = prefix + p.Name
	}
	return names
}

// occupy reports an interface that is linked twice. Unnamed switch ports are all different.
func (c *checker) occupy(taken map[End]End, e, far End, path string) {
	if other, twice := taken[e]; twice && e.Interface != "" {
		c.report(path, "interface %s is already linked to %s", e, other)
		return
	}
	taken[e] = far
}

// real reports whether a node exists independently of linerate.
func (c *checker) real(node string) bool {
	if h := c.hosts[node]; h != nil {
		return len(h.Via) > 0
	}
	s := c.switches[node]
	return len(s.Via) > 0 || s.Agentless()
}

// sameWorld reports a link between a node that linerate creates and a real one.
func (c *checker) sameWorld(from, to End, path string) {
	if a, b := c.real(from.Node), c.real(to.Node); a != b {
		made, there := from.Node, to.Node
		if a {
			made, there = there, made
		}
		c.report(path,
			"link joins %s, which linerate makes, to %s, which is real: give both via (an unmanaged switch counts "+
				"as real), or neither", made, there)
	}
}

// loop reports the link that closes a loop of switches. The switches of a lab do not speak a
// spanning tree protocol, so a frame would circulate forever.
func (c *checker) loop(joined groups, l Link, path string) {
	from, to := l.From, l.To
	both := c.switches[from.Node] != nil && c.switches[to.Node] != nil
	if near, _, is := c.whole.Device(from); both && is {
		if far, _, is := c.whole.Device(to); is && !joined.join("bonds "+near.String(), "bonds "+far.String()) {
			return // a further link of two bonds
		}
	}
	if both && !c.real(from.Node) && !joined.join(from.Node, to.Node) {
		c.report(path, "link between %s and %s closes a loop of switches, in which frames would circle for ever",
			from.Node, to.Node)
	}
}

func (c *checker) hasIPv6(e End) bool {
	h := c.hosts[e.Node]
	if h == nil {
		return false
	}
	p, _ := h.Interface(e.Interface)
	return slices.ContainsFunc(p.Addresses, func(a Address) bool { return a.First.Is6() })
}
