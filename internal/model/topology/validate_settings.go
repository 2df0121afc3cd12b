package topology

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/setting"
	"linerate/internal/model/source"
	"linerate/internal/model/unit"
)

// hostSettings checks a host's own routes, rules and kernel parameters.
func (c *checker) hostSettings(i int) {
	h, path := &c.t.Hosts[i], fmt.Sprintf("topology.hosts[%d]", i)
	check := settingChecker{c.t, h, c.report}
	for j, n := range h.Nexthops {
		check.nexthopObject(n, fmt.Sprintf("%s.nexthops[%d]", path, j))
	}
	for j, r := range h.Routes {
		check.route(r, fmt.Sprintf("%s.routes[%d]", path, j))
	}
	for j, r := range h.Rules {
		check.rule(r, fmt.Sprintf("%s.rules[%d]", path, j))
	}
	check.sysctls(h.Sysctls, path+".sysctls")
}

// HostNames lists the hosts in the order of the file.
func (t *Topology) HostNames() []string {
	names := make([]string, len(t.Hosts))
	for i, h := range t.Hosts {
		names[i] = h.Name
	}
	return names
}

// FindHost finds a host by the name at a path of the file, and reports if there is none.
func (t *Topology) FindHost(name, path string, report source.Report) (*Host, bool) {
	if h, ok := t.Host(name); ok {
		return h, true
	}
	if _, isSwitch := t.Switch(name); isSwitch {
		report(path, "%q is a switch; expected a host", name)
	} else {
		hint := source.DidYouMean(name, t.HostNames())
		if end, ok := t.EndOf(name); ok {
			hint = fmt.Sprintf(": it is an interface; expected %s", end.Node)
		}
		report(path, "no host %q%s", name, hint)
	}
	return nil, false
}

// CheckSetting reports what is wrong with a setting of a level at a path.
func (t *Topology) CheckSetting(s setting.Setting, path string, report source.Report) {
	kinds := s.Kinds()
	if len(kinds) != 1 {
		found := "none"
		if len(kinds) > 1 {
			found = strings.Join(kinds, " and ")
		}
		report(path, "a setting is exactly one of %s; found %s", source.Or(setting.Kinds), found)
	}
	h, ok := t.FindHost(s.Host, path+".host", report)
	if !ok {
		return
	}
	c := settingChecker{t, h, report}
	c.sysctls(s.Sysctl, path+".sysctl")
	if s.Neighbour != nil {
		c.neighbour(*s.Neighbour, path+".neighbour")
	}
	if a := s.Address; a != nil {
		c.interfaceExists(a.Interface, path+".address.interface")
		if a.Count < 0 || a.Count > maxAliases || !a.Last().IsValid() {
			report(path+".address.count", "%d addresses from %s on: expected 1 to %d, and no more than there are",
				a.Count, a.Address, maxAliases)
		} else if why := wrongHostAddress(added(a)); why != "" {
			report(path+".address.address", "%s: %s", a, why)
		}
	}
	if s.Nexthop != nil {
		c.nexthopObject(*s.Nexthop, path+".nexthop")
	}
	if s.Route != nil {
		c.route(*s.Route, path+".route")
	}
	if s.Rule != nil {
		c.rule(*s.Rule, path+".rule")
	}
	if s.Link != nil {
		c.link(*s.Link, path+".link")
	}
	if s.NFT != nil {
		if place, why := s.NFT.Check(); why != "" {
			report(path+".nft."+place, "%s", why)
		}
	}
	if s.Qdisc != nil {
		c.qdisc(*s.Qdisc, path+".qdisc")
	}
	if s.NIC != nil {
		c.interfaceExists(s.NIC.Interface, path+".nic.interface")
		if place, why := s.NIC.Check(); why != "" {
			report(strings.TrimSuffix(path+".nic."+place, "."), "%s", why)
		}
	}
	if s.CPU != nil {
		if why := s.CPU.Check(); why != "" {
			report(path+".cpu.governor", "%s", why)
		}
	}
}

// settingChecker checks settings of a host.
type settingChecker struct {
	t      *Topology
	h      *Host
	report source.Report
}

// interfaceExists reports an interface that the host does not have. Every host has lo.
func (c settingChecker) interfaceExists(name, path string) {
	if _, ok := c.h.Interface(name); !ok && name != "lo" {
		c.report(path, "host %q has no interface %q%s", c.h.Name, name, source.DidYouMean(name, c.h.interfaceNames("")))
	}
}

// hostPort reports host.interface if it is malformed or does not exist.
func (c settingChecker) hostPort(text, path, expected string) {
	node, iface, dot := strings.Cut(text, ".")
	if !dot {
		c.report(path, "%q: expected %s", text, expected)
		return
	}
	if h, ok := c.t.FindHost(node, path, c.report); ok {
		settingChecker{c.t, h, c.report}.interfaceExists(iface, path)
	}
}

func (c settingChecker) neighbour(n setting.Neighbour, path string) {
	c.interfaceExists(n.Interface, path+".interface")
	if wrongMAC(n.LLAddr) == "" {
		return
	}
	// Text with colons was meant as a MAC address.
	if strings.Contains(n.LLAddr, ":") {
		c.report(path+".lladdr", "%s", wrongMAC(n.LLAddr))
		return
	}
	c.hostPort(n.LLAddr, path+".lladdr", "a MAC address such as 02:00:00:01:00:01, or host.interface")
}

const (
	maxInitCwnd = 65535     // more than any receiver allows
	maxTable    = 1<<32 - 1 // RTA_TABLE and NHA_ID have 32 bits
	maxWeight   = 256       // of a next hop
)

// number reports a value outside low to high, or below low if high is 0. 0: the key is absent.
func (c settingChecker) number(path, key string, value, low, high int) {
	switch {
	case value == 0 || value >= low && (high == 0 || value <= high):
	case high == 0:
		c.report(path+"."+key, "%s %d: expected a number of at least %d", key, value, low)
	default:
		c.report(path+"."+key, "%s %d: expected %d to %d", key, value, low, high)
	}
}

func (c settingChecker) route(r setting.Route, path string) {
	if r.To != "default" {
		c.prefix(r.To, path+".to", "a destination prefix such as 10.0.0.0/8, an address, or default")
	}
	if why := r.WrongCount(); why != "" {
		c.report(path+".count", "%s", why)
	}
	c.number(path, "table", r.Table, 1, maxTable)
	c.number(path, "initcwnd", r.InitCwnd, 1, maxInitCwnd)
	c.number(path, "metric", r.Metric, 0, 0)
	if r.Source.IsValid() && !c.h.holds(r.Source) {
		c.report(path+".source", "%s is not an address of host %q", r.Source, c.h.Name)
	}
	if r.Object != 0 {
		if _, ok := c.h.Nexthop(r.Object); !ok && len(c.h.Via) == 0 {
			c.report(path+".nexthop", "host %q has no nexthop object %d", c.h.Name, r.Object)
		}
		if len(r.Nexthops) > 0 || r.Via != "" || r.Interface != "" {
			c.report(path, "a route has either a nexthop object, or via, interface and nexthops of its own")
		}
		return
	}
	switch {
	case len(r.Nexthops) > 0 && (r.Via != "" || r.Interface != ""):
		c.report(path, "a route has either nexthops, or via and interface")
	case len(r.Nexthops) == 0 && r.Via == "" && r.Interface == "":
		c.report(path, "a route needs a next hop: expected via, interface or nexthops")
	case len(r.Nexthops) == 0:
		c.nexthop(setting.Nexthop{Via: r.Via, Interface: r.Interface}, path)
	}
	for i, n := range r.Nexthops {
		path := fmt.Sprintf("%s.nexthops[%d]", path, i)
		if n.Via == "" && n.Interface == "" {
			c.report(path, "a next hop needs via or interface")
		}
		c.number(path, "weight", n.Weight, 1, maxWeight)
		c.nexthop(n, path)
	}
}

func (c settingChecker) nexthop(n setting.Nexthop, path string) {
	if n.Interface != "" {
		c.interfaceExists(n.Interface, path+".interface")
	}
	if n.Via == "" {
		return
	}
	const expected = "an address, 'inet6 ADDRESS', or host.interface"
	text, inet6 := strings.CutPrefix(n.Via, "inet6 ")
	addr, err := netip.ParseAddr(strings.TrimSpace(text))
	switch {
	case err == nil && inet6 && !addr.Is6():
		c.report(path+".via", "%q: %s is not an IPv6 address", n.Via, addr)
	case err == nil && addr.IsLinkLocalUnicast() && n.Interface == "":
		c.report(path+".via", "%q: a link-local next hop needs interface as well, since it exists on every link", n.Via)
	case err == nil && c.h.holds(addr):
		c.report(path+".via", "%q: host %q itself has that address", n.Via, c.h.Name)
	case err == nil && !c.onLink(addr, n.Interface):
		c.report(path+".via", "%q: no interface of host %q is on a network with that address%s", n.Via, c.h.Name,
			c.networks())
	case err != nil && inet6:
		c.report(path+".via", "%q: expected %s", n.Via, expected)
	case err != nil:
		c.hostPort(n.Via, path+".via", expected)
	}
}

// onLink reports whether the host can reach a next hop directly, as the kernel requires: by the
// prefix of an interface, or by a route out of one. A real host may have more of both than the file
// contains.
func (c settingChecker) onLink(hop netip.Addr, iface string) bool {
	if len(c.h.Via) > 0 || hop.IsLinkLocalUnicast() {
		return true
	}
	for name, a := range c.h.Addresses() {
		if (iface == "" || iface == name) && a.Prefix().Contains(hop) {
			return true
		}
	}
	return slices.ContainsFunc(c.h.Routes, func(r setting.Route) bool {
		to, err := netip.ParsePrefix(r.To)
		return r.Interface != "" && r.Via == "" && (err != nil || to.Contains(hop))
	})
}

// networks returns the part of a message that lists the networks of the host's interfaces.
func (c settingChecker) networks() string {
	var list []string
	for _, a := range c.h.Addresses() {
		if network := a.Prefix().Masked().String(); !slices.Contains(list, network) {
			list = append(list, network)
		}
	}
	if len(list) == 0 || len(list) > 8 {
		return ""
	}
	return ": expected one on " + source.Or(list) + ", or host.interface"
}

// prefix checks the destination or source of a route or rule.
func (c settingChecker) prefix(text, path, expected string) {
	if p, err := netip.ParsePrefix(text); err == nil {
		if p != p.Masked() {
			c.report(path, "%q has bits behind the prefix: expected %s", text, p.Masked())
		}
		return
	}
	if _, err := netip.ParseAddr(text); err != nil {
		c.report(path, "%q: expected %s", text, expected)
	}
}

func (c settingChecker) rule(r setting.Rule, path string) {
	if r.From != "" {
		c.prefix(r.From, path+".from", "a source prefix such as 10.0.0.0/8, or an address")
	}
	if r.To != "" {
		c.prefix(r.To, path+".to", "a destination prefix such as 10.0.0.0/8, or an address")
	}
	if r.Table == 0 {
		c.report(path+".table", "table 0: expected 1 to %d", maxTable)
	}
	c.number(path, "table", r.Table, 1, maxTable)
	c.number(path, "priority", r.Priority, 0, 0)
}

// switchWords are values of switches that the kernel does not accept: its switches are numbers.
var switchWords = map[string]string{"yes": "1", "on": "1", "true": "1", "no": "0", "off": "0", "false": "0"}

// sysctls checks the form of keys, and the names of interfaces in them.
func (c settingChecker) sysctls(list []setting.Sysctl, path string) {
	for i, s := range list {
		path := fmt.Sprintf("%s[%d]", path, i)
		parts := strings.Split(s.Key, ".")
		if len(parts) < 2 || slices.Contains(parts, "") || slices.Contains(parts, "..") ||
			strings.ContainsFunc(s.Key, func(r rune) bool { return r <= ' ' || r > '~' }) {
			c.report(path, "%q is not a kernel parameter: expected a name with dots such as net.ipv4.ip_forward", s.Key)
			continue
		}
		if strings.TrimSpace(s.Value) == "" {
			c.report(path, "%s has no value", s.Key)
		}
		if number, word := switchWords[strings.ToLower(s.Value)]; word && parts[0] == "net" {
			c.report(path, "%s: the kernel takes numbers here; expected %s in place of %q", s.Key, number, s.Value)
		}
		// A real host has further interfaces.
		if iface := setting.InterfaceOf(s.Key); iface != "" && len(c.h.Via) == 0 {
			c.interfaceExists(iface, path)
		}
	}
}

// The largest packets that Linux allows for segmentation and receive offload (MAX_TCP_HEADER;
// GRO_MAX_SIZE in include/linux/netdevice.h).
const (
	minPacket = 2048
	maxPacket = 8 * 65535
)

// shaped returns the host's ends of links whose rate or impairment is applied in front of them.
func (c settingChecker) shaped() (list []End) {
	for _, i := range c.h.Interfaces {
		end := End{c.h.Name, i.Name}
		if l, ok := c.t.LinkAt(end); ok {
			if made := l.towards(end); made != (Impairment{MTU: made.MTU}) {
				list = append(list, end)
			}
		}
	}
	return list
}

func (c settingChecker) link(l setting.Link, path string) {
	c.interfaceExists(l.Interface, path+".interface")
	if l.MTU == 0 && l.TxQueueLen == nil && l.MAC == "" && l.Up == nil && l.GSOMaxSize == 0 && l.GROMaxSize == 0 &&
		l.XmitHashPolicy == "" && l.XDP == "" {
		c.report(path,
			"nothing to change: expected mtu, txqueuelen, mac, up, gso_max_size, gro_max_size, xmit_hash_policy or xdp")
	}
	if shape, _ := c.h.shape(l.Interface); l.XmitHashPolicy != "" && shape.Spread == nil {
		c.report(path+".xmit_hash_policy", "%s is no bond whose members are chosen by a hash", l.Interface)
	}
	for _, end := range c.shaped() {
		if l.XDP == setting.XDPForward && len(c.h.Via) == 0 {
			c.report(path+".xdp",
				"the link of %s has a rate or an impairment, whose queue frames of xdp pass by: expected a host "+
					"whose links have none", end)
			break
		}
	}
	c.number(path, "gso_max_size", int(l.GSOMaxSize), minPacket, maxPacket)
	c.number(path, "gro_max_size", int(l.GROMaxSize), minPacket, maxPacket)
	c.number(path, "mtu", l.MTU, minMTU, maxMTU)
	if l.TxQueueLen != nil {
		c.number(path, "txqueuelen", *l.TxQueueLen, 0, 0)
	}
	if why := wrongMAC(l.MAC); l.MAC != "" && why != "" {
		c.report(path+".mac", "%s", why)
	}
}

func (c settingChecker) qdisc(q setting.Qdisc, path string) {
	c.interfaceExists(q.Interface, path+".interface")
	end := End{c.h.Name, q.Interface}
	if l, ok := c.t.LinkAt(end); ok && len(c.h.Via) == 0 && l.Towards(end).ECN != (unit.Depth{}) {
		c.report(path,
			"the link of %s has ecn, so that its queue is the link emulator's, before which a qdisc has no queue: "+
				"expected a link without ecn; codel, fq_codel and red have ecn of their own", end)
	}
	switch key, why := q.Check(); {
	case why != "" && key != "":
		c.report(path+"."+key, "%s", why)
	case why != "":
		c.report(path, "%s", why)
	case q.Burst != 0 && q.Burst < DefaultMTU+ethernetHeader:
		c.report(path+".burst", "burst of %s is smaller than one frame: expected at least %d bytes", q.Burst,
			DefaultMTU+ethernetHeader)
	}
}
