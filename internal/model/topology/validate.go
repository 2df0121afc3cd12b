package topology

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/pattern"
	"linerate/internal/model/source"
)

// checker checks a topology with the help of an index.
type checker struct {
	t      *Topology
	report source.Report
	whole  *Topology // with the names of switch ports
	index
}

// Validate calls report for each mistake in the topology. Mistakes are located by paths in
// a study file: topology.hosts[0].interfaces[1].
func (t *Topology) Validate(report source.Report) {
	c := &checker{t, report, t.named(), newIndex(t)}
	if len(t.Hosts) == 0 {
		report("topology.hosts", "no hosts: a topology needs at least two")
	}
	for i := range t.Hosts {
		c.checkHost(i)
	}
	for i := range t.Switches {
		c.checkSwitch(i)
	}
	c.addresses()
	c.links()
	c.devices()
	c.bgp()
	for i := range t.Hosts {
		c.hostSettings(i)
		c.services(i)
	}
}

// nodeName is restrictive because a name becomes part of a bus subject, a process title and a
// switch port's name.
var nodeName = pattern.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$`)

const nodeNameRule = "expected 1 to 32 letters, digits, - and _, a letter or digit first"

func (c *checker) checkHost(i int) {
	h, path := c.t.Hosts[i], fmt.Sprintf("topology.hosts[%d]", i)
	if !nodeName.MatchString(h.Name) {
		c.report(path, "host name %q: %s", h.Name, nodeNameRule)
	}
	if h.Agent != "" && len(h.Via) == 0 {
		c.report(path+".agent", "agent is the program's path on a real host: it needs via")
	}
	c.via(path, h.Via)
	if len(h.Interfaces) == 0 {
		c.report(path+".interfaces", "host %q has no interfaces", h.Name)
	}
	for j, p := range h.Interfaces {
		path := fmt.Sprintf("%s.interfaces[%d]", path, j)
		if why := badInterfaceName(p.Name); why != "" {
			c.report(path, "interface name %q: %s", p.Name, why)
		}
		if why := wrongMAC(p.MAC); p.MAC != "" && why != "" {
			c.report(path+".mac", "%s", why)
		}
	}
}

func (c *checker) checkSwitch(i int) {
	s, path := c.t.Switches[i], fmt.Sprintf("topology.switches[%d]", i)
	if c.hosts[s.Name] != nil {
		c.report(path, "%q is the name of a host and of a switch", s.Name)
	}
	if !nodeName.MatchString(s.Name) {
		c.report(path, "switch name %q: %s", s.Name, nodeNameRule)
	}
	c.via(path, s.Via)
	if len(s.Via) == 0 {
		if s.Agent != "" {
			c.report(path+".agent", "agent is the program's path on a real switch: it needs via")
		}
		if s.Bridge != "" {
			c.report(path+".bridge", "bridge names the device of a real switch: it needs via")
		}
	}
	if s.Unmanaged && len(s.Via) > 0 {
		c.report(path+".unmanaged", "an unmanaged switch has no agent: leave out via, or unmanaged")
	}
	c.checkSNMP(i)
	if why := badInterfaceName(s.Bridge); s.Bridge != "" && why != "" {
		c.report(path+".bridge", "bridge name %q: %s", s.Bridge, why)
	}
}

func (c *checker) via(path string, via []string) {
	for i, word := range via {
		if word == "" || strings.ContainsRune(word, 0) {
			c.report(fmt.Sprintf("%s.via[%d]", path, i), "an empty word in the command that reaches the host")
		}
	}
}

// reservedName reports whether an interface cannot have the name: every namespace already has an
// interface of that name, or the kernel's parameters use it for all or for future interfaces.
func reservedName(name string) bool {
	return name == "lo" || name == "all" || name == "default"
}

// badInterfaceName applies the kernel's rule for interface names (dev_valid_name in net/core/dev.c)
// and returns what is wrong with the name. Empty: it is valid.
func badInterfaceName(name string) string {
	switch {
	case name == "" || len(name) > maxInterfaceName:
		return fmt.Sprintf("the kernel allows 1 to %d characters", maxInterfaceName)
	case name == "." || name == ".." || strings.ContainsFunc(name, func(r rune) bool {
		return r == '/' || r == ':' || r <= ' ' || r > '~'
	}):
		return "the kernel allows no spaces, slashes and colons, and linerate no letters beyond ASCII"
	case reservedName(name):
		return "the name is reserved"
	}
	return ""
}

var macAddress = pattern.MustCompile(`^[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}$`)

// wrongMAC returns why text cannot be the MAC address of an interface. Empty: it can.
func wrongMAC(text string) string {
	switch {
	case !macAddress.MatchString(text):
		return fmt.Sprintf("%q is not a MAC address: expected six bytes such as 02:00:00:01:00:01", text)
	case strings.ContainsAny(text[1:2], "13579bdfBDF"):
		return fmt.Sprintf("%q is a multicast MAC address; an interface's first byte is even", text)
	}
	return ""
}

// addresses checks every address, and that no two interfaces have the same one.
func (c *checker) addresses() {
	type given struct {
		Address
		path string
		end  End
	}
	var all []given
	for i, h := range c.t.Hosts {
		for j, p := range h.Interfaces {
			for k, a := range p.Addresses {
				path := fmt.Sprintf("topology.hosts[%d].interfaces[%d].addresses[%d]", i, j, k)
				if why := wrongHostAddress(a); why != "" {
					c.report(path, "%s: %s", a, why)
					continue
				}
				all = append(all, given{a, path, End{h.Name, p.Name}})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b given) int { return a.First.Compare(b.First) })
	// In the order of first addresses, an overlap is with the range that extends farthest so far.
	for i, farthest := 1, 0; i < len(all); i++ {
		earlier, later := all[farthest], all[i]
		if earlier.Contains(later.First) && !sameScope(earlier.First, earlier.end, later.end) {
			copied := ""
			const digits = "0123456789"
			base := strings.TrimRight(later.end.Node, digits)
			if earlier.Address == later.Address && earlier.end.Node != later.end.Node && base != later.end.Node &&
				strings.TrimRight(earlier.end.Node, digits) == base {
				copied = fmt.Sprintf(
					"; of an entry %s{1..3} each host has all addresses: %[1]s{n=1..3} with {100+n} gives each its own",
					base)
			}
			c.report(later.path, "address %s is already on %s%s", later.First, earlier.end, copied)
		}
		if earlier.Last.Less(later.Last) {
			farthest = i
		}
	}
}

// sameScope reports whether two interfaces may have the same address: a link-local one.
func sameScope(a netip.Addr, one, other End) bool {
	return a.IsLinkLocalUnicast() && one != other
}

func wrongHostAddress(a Address) string {
	network := netip.PrefixFrom(a.First, a.Bits).Masked()
	switch {
	case a.First.IsUnspecified() || a.First.IsMulticast() || a.Last.IsMulticast():
		return "not an address that a host can have"
	case a.First.IsLoopback():
		return "loopback addresses stay inside a host"
	case a.First.Is4() && a.Bits < 31 && a.Contains(network.Addr()):
		return fmt.Sprintf("%s is the network's own address; hosts start at %s", network.Addr(), network.Addr().Next())
	case a.First.Is4() && a.Bits < 31 && a.Contains(broadcast(netip.PrefixFrom(a.Last, a.Bits))):
		return fmt.Sprintf("%s is the network's broadcast address", broadcast(netip.PrefixFrom(a.Last, a.Bits)))
	}
	return ""
}

// broadcast returns the last address of an IPv4 network.
func broadcast(p netip.Prefix) netip.Addr {
	b := p.Masked().Addr().As4()
	for bit := p.Bits(); bit < 32; bit++ {
		b[bit/8] |= 0x80 >> (bit % 8)
	}
	return netip.AddrFrom4(b)
}
