package topology

import (
	"fmt"
	"slices"

	"linerate/internal/model/device"
	"linerate/internal/model/source"
)

// named returns the topology with the names of switch ports, even if links are wrong.
func (t *Topology) named() *Topology {
	whole := *t
	whole.Links = slices.Clone(t.Links)
	whole.completeLinks()
	return &whole
}

// devices checks how devices and the ports of switches fit together. Package device checks each
// kind by itself.
func (c *checker) devices() {
	for i := range c.t.Hosts {
		h := &c.t.Hosts[i]
		for j, p := range h.Interfaces {
			path := fmt.Sprintf("topology.hosts[%d].interfaces[%d]", i, j)
			p.Check(p.Name, func(at, format string, args ...any) { c.report(path+at, format, args...) })
			if shape, is := p.Shape(p.Name); is {
				deviceChecker{c, h, p, shape, path}.check()
			}
		}
	}
	for i := range c.t.Switches {
		c.ports(i)
	}
	for i, l := range c.whole.Links {
		from, to := c.known(l.From), c.known(l.To)
		if from && to && !c.real(l.From.Node) {
			c.partners(l, fmt.Sprintf("topology.links[%d]", i))
		}
	}
}

// deviceChecker checks one device of a host.
type deviceChecker struct {
	*checker
	h     *Host
	p     Interface
	shape device.Shape
	path  string
}

func (c deviceChecker) check() {
	path := c.path + "." + c.shape.Key
	for _, name := range c.shape.Slaves {
		other, ok := c.h.Interface(name)
		below, is := c.h.shape(name)
		switch master, _ := c.h.Master(name); {
		case !ok:
			c.report(path+".members", "host %s has no interface %q%s", c.h.Name, name,
				source.DidYouMean(name, c.h.interfaceNames("")))
		case master != c.p.Name:
			c.report(path+".members", "%s is a member of %s already", name, master)
		case c.shape.Members && is:
			c.report(path+".members", "%s is a %s: expected interfaces with a link", name, below.Key)
		case c.shape.Members && len(other.Addresses) > 0:
			c.report(path+".members", "%s has addresses, and receives nothing as a member of %s: give them to %s", name,
				c.p.Name, c.p.Name)
		}
	}
	for _, name := range c.shape.Beneath {
		if name == "" || slices.Contains(c.shape.Slaves, name) {
			continue
		}
		_, ok := c.h.Interface(name)
		below, is := c.h.shape(name)
		switch master, held := c.h.Master(name); {
		case !ok:
			c.report(path, "%s: host %s has no interface %q%s", c.p.Name, c.h.Name, name,
				source.DidYouMean(name, c.h.interfaceNames("")))
		case held.Members:
			c.report(path, "%s is a member of %s and has no frames of its own: expected %s", name, master, master)
		case slices.Contains(c.h.below(name), c.p.Name) || name == c.p.Name:
			c.report(path, "%s is on itself", c.p.Name)
		case is && len(c.h.lowers(name)) == 0:
			c.report(path,
				"%s is on %s, which is a %s and has no link: expected an interface with a link, a bond or a VLAN",
				c.p.Name, name, below.Key)
		}
	}
	c.sameMTU()
	c.fits()
	c.tunnel()
	if c.shape.Table != 0 && !c.h.Forward {
		c.report(path, "%s: no flow's socket is bound to a VRF, so only a router's are useful: expected forward: true",
			c.p.Name)
	}
}

// below lists all interfaces beneath an interface, directly or indirectly.
func (h *Host) below(name string) (all []string) {
	next := []string{name}
	for len(next) > 0 {
		shape, _ := h.shape(next[0])
		next = next[1:]
		for _, b := range shape.Beneath {
			if !slices.Contains(all, b) {
				all, next = append(all, b), append(next, b)
			}
		}
	}
	return all
}

// sameMTU reports members with different MTUs: the kernel sets all of them to that of the bond.
func (c deviceChecker) sameMTU() {
	if !c.shape.Members {
		return
	}
	for _, name := range c.shape.Slaves[min(1, len(c.shape.Slaves)):] {
		first, other := c.whole.MTUAt(End{c.h.Name, c.shape.Slaves[0]}), c.whole.MTUAt(End{c.h.Name, name})
		if first != 0 && other != 0 && first != other {
			c.report(c.path+"."+c.shape.Key, "%s and %s have links with MTU %d and %d: members of %s have the same",
				c.shape.Slaves[0], name, first, other, c.p.Name)
		}
	}
}

// fits reports an MTU that the interfaces beneath do not support.
func (c deviceChecker) fits() {
	room, mtu := c.whole.room(c.h, c.p.Name), c.whole.deviceMTU(c.h, c.p.Name)
	least := minMTU
	if slices.ContainsFunc(c.p.Addresses, func(a Address) bool { return a.First.Is6() }) {
		least = minIPv6MTU
	}
	why := ""
	if c.shape.Overhead > 0 {
		why = fmt.Sprintf(", less %d bytes for what %s adds", c.shape.Overhead, c.shape.Key)
	}
	switch {
	case mtu != 0 && (mtu < least || mtu > maxMTU):
		c.report(c.path+".mtu", "MTU %d of %s: expected %d to %d", mtu, c.p.Name, least, maxMTU)
	case room != 0 && mtu > room:
		c.report(c.path+".mtu", "MTU %d of %s: the interfaces beneath carry %d bytes%s", mtu, c.p.Name,
			room+c.shape.Overhead, why)
	}
}

// tunnel reports a tunnel whose ends do not exist.
func (c deviceChecker) tunnel() {
	if c.shape.Tunnel == nil {
		return
	}
	local := false
	for name, a := range c.h.Addresses() {
		local = local || name != c.p.Name && a.Contains(c.shape.Tunnel.Local)
	}
	if !local {
		c.report(c.path+"."+c.shape.Key+".local", "%s is an address of no other interface of %s",
			c.shape.Tunnel.Local, c.h.Name)
	}
}

// ports checks the configuration of a switch's ports.
func (c *checker) ports(i int) {
	s := &c.t.Switches[i]
	var names []string // of ports with a link
	for _, e := range c.whole.ends() {
		if e.Node == s.Name {
			names = append(names, e.Interface)
		}
	}
	member := map[string]string{}
	for j, p := range s.Ports {
		path := fmt.Sprintf("topology.switches[%d].ports[%d]", i, j)
		linked := slices.Contains(names, p.Name)
		switch {
		case s.Agentless():
			c.report(path, "linerate does not know the ports of an unmanaged switch")
		case p.Bond == nil && !linked:
			c.report(path, "switch %s has no port %q%s", s.Name, p.Name, source.DidYouMean(p.Name, names))
		case p.Bond != nil && linked:
			c.report(path, "%s is a bond and has no link of its own: its members have", p.Name)
		}
		if why := badInterfaceName(p.Name); why != "" {
			c.report(path, "port name %q: %s", p.Name, why)
		}
		if p.Untagged != 0 && !p.Untagged.Valid() || slices.ContainsFunc(p.Tagged, func(v device.VLAN) bool {
			return !v.Valid()
		}) {
			c.report(path, "VLANs of port %s: expected 1 to 4094", p.Name)
		}
		if slices.Contains(p.Tagged, p.Untagged) {
			c.report(path+".tagged", "VLAN %d has frames with a tag and frames without one on %s: expected one of them",
				p.Untagged, p.Name)
		}
		if p.Bond == nil {
			continue
		}
		d := p.Device()
		d.Check(p.Name, func(at, format string, args ...any) { c.report(path+at, format, args...) })
		for _, name := range p.Bond.Members {
			if !slices.Contains(names, name) {
				c.report(path+".bond.members", "switch %s has no port %q%s", s.Name, name,
					source.DidYouMean(name, names))
			} else if member[name] != "" {
				c.report(path+".bond.members", "%s is a member of %s already", name, member[name])
			}
			member[name] = p.Name
		}
	}
	for j, p := range s.Ports {
		if bond := member[p.Name]; bond != "" {
			c.report(fmt.Sprintf("topology.switches[%d].ports[%d]", i, j), "%s is a member of %s, whose VLANs it has",
				p.Name, bond)
		}
	}
}

// partners reports a link in a lab that is a member of a bond at one end only, or of bonds that are
// incompatible: the other end would consider each member a different host, or wait for LACP.
func (c *checker) partners(l Link, path string) {
	for _, end := range []End{l.From, l.To} {
		near, shape, is := c.whole.Device(end)
		if !is || shape.Spread == nil {
			continue
		}
		far, other, bonded := c.whole.Device(l.Other(end))
		switch {
		case !bonded:
			c.report(path, "%s is a member of %s, and %s of no bond: both ends of such a link are members of a bond",
				end, near, l.Other(end))
		case other.LACP != shape.LACP || other.Spread == nil:
			c.report(path, "%s and %s are bonds with different modes", near, far)
		default:
			first, ok := c.whole.LinkAt(End{near.Node, shape.Slaves[0]})
			if !ok {
				continue
			}
			if apart, _, _ := c.whole.Device(first.Other(End{near.Node, shape.Slaves[0]})); apart != far {
				c.report(path, "the members %s and %s of %s lead to different bonds, %s and %s", shape.Slaves[0],
					end.Interface, near, apart, far)
			}
		}
	}
}

// known reports whether the end of a link belongs to an existing host or switch.
func (c *checker) known(e End) bool {
	return e.Interface != "" && (c.hosts[e.Node] != nil || c.switches[e.Node] != nil)
}
