package remedy

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/hostconfig"
	"linerate/internal/model/setting"
)

// Replace replaces names of interfaces, addresses and MAC addresses throughout, by pairs such as
// eth0=enp3s0, nas.eth0=enp3s0, 192.168.1.15=10.0.0.15 or 192.168.1.0/24=10.0.0.0/24. It returns an
// error if a pair has no equals sign or replaces nothing, or if a route's source address would no
// longer be in the network of the route. fix.Unmapped lists what no pair replaces.
func (fix *Fix) Replace(pairs []string) error {
	r := replacer{by: map[string]string{}, used: map[string]bool{}}
	for _, pair := range pairs {
		from, to, found := strings.Cut(pair, "=")
		if !found || from == "" ||
			strings.Trim(to, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/@") != "" || to == "" {
			return fmt.Errorf(
				"--map %q: expected OLD=NEW, such as eth0=enp3s0, nas.eth0=enp3s0, 192.168.1.15=10.0.0.15 or "+
					"192.168.1.0/24=10.0.0.0/24", pair)
		}
		r.by[from] = to
	}
	names := fix.names()
	for _, n := range names {
		if !slices.ContainsFunc(n.by, func(from string) bool { _, ok := r.by[from]; return ok }) {
			fix.Unmapped = append(fix.Unmapped, n)
		}
	}
	for i := range fix.Hosts {
		if err := r.host(&fix.Hosts[i]); err != nil {
			return err
		}
	}
	for i := range fix.Flushes {
		f := &fix.Flushes[i]
		h := hostconfig.Host{Name: f.Host, Interfaces: []hostconfig.Interface{
			{Name: f.Interface, Prefixes: []netip.Prefix{f.To}}}}
		if err := r.host(&h); err != nil {
			return err
		}
		f.Interface, f.To = h.Interfaces[0].Name, h.Interfaces[0].Prefixes[0]
	}
	for from, to := range r.by {
		if !r.used[from] {
			return fmt.Errorf("--map %s=%s: nothing that is changed has that name; there are %s", from, to,
				cmp.Or(strings.Join(Texts(names), ", "), "no names"))
		}
	}
	return nil
}

// Name is an interface, an address, a network or a MAC address in a fix.
type Name struct {
	Host string // the host that has the interface, or whose settings have the address
	// Text is the name in the form of --map: nas.eth0 if several hosts of the fix have an eth0.
	Text string
	// Example is a possible replacement, the same for all names of a kind.
	Example string
	// by has the forms by which Replace finds the replacement; any of them counts.
	by []string
}

// names lists what Replace can replace, without duplicates. Wildcards, which stand for all
// addresses or interfaces, are not names of a lab.
func (fix *Fix) names() (list []Name) {
	const example = "enp3s0"
	add := func(n Name) {
		if !slices.ContainsFunc(list, func(o Name) bool { return o.Host == n.Host && o.Text == n.Text }) {
			list = append(list, n)
		}
	}
	iface := func(host, name string) {
		add(Name{host, name, example, []string{host + "." + name, name}})
	}
	text := func(host, value string) {
		addr, _, _ := strings.Cut(value, "/")
		by, network, address := []string{value, addr}, "10.0.0.0/24", "10.0.0.10"
		if strings.Contains(value, ":") {
			network, address = "fd00:1::/64", "fd00:1::10"
		}
		if p, err := netip.ParsePrefix(value); err == nil && !p.IsSingleIP() && p == p.Masked() {
			if p.Bits() > 0 {
				add(Name{host, value, network, by})
			}
		} else if a, err := netip.ParseAddr(addr); err == nil && !a.IsUnspecified() && !a.IsLoopback() {
			add(Name{host, addr, address, by})
		} else if _, err := net.ParseMAC(value); err == nil {
			add(Name{host, value, "52:54:00:12:34:56", by})
		}
	}
	for _, h := range fix.Hosts {
		interfaces, addresses := h.Named()
		for _, name := range interfaces {
			iface(h.Name, name)
		}
		for _, address := range addresses {
			text(h.Name, address)
		}
	}
	for _, f := range fix.Flushes {
		iface(f.Host, f.Interface)
		text(f.Host, f.To.String())
	}
	several := map[string]int{} // number of hosts that have an interface of that name
	for _, n := range list {
		if n.Example == example {
			several[n.Text]++
		}
	}
	for i, n := range list {
		if n.Example == example && several[n.Text] > 1 {
			list[i].Text = n.by[0]
		}
	}
	return list
}

// Texts returns the texts of names in the form of --map, without duplicates.
func Texts(names []Name) (list []string) {
	for _, n := range names {
		if !slices.Contains(list, n.Text) {
			list = append(list, n.Text)
		}
	}
	return list
}

// inside returns an error if a route's source address was in its network and no longer is: the
// kernel accepts such a route, but no packet of the host's network follows it.
func (r replacer) inside(was, is setting.Route) error {
	within := func(route setting.Route) bool {
		to, err := netip.ParsePrefix(route.To)
		return err == nil && route.Source.IsValid() && to.Contains(route.Source)
	}
	if !within(was) || within(is) {
		return nil
	}
	missing := fmt.Sprintf("expected a source in %s", is.To)
	if to, err := netip.ParsePrefix(was.To); err == nil && is.To == was.To {
		if p, err := is.Source.Prefix(to.Bits()); err == nil {
			missing = fmt.Sprintf("--map %s=%s is missing, or another network with that address", was.To, p)
		}
	} else if is.Source == was.Source {
		missing = fmt.Sprintf("--map %s=ADDRESS is missing, with one in %s", was.Source, is.To)
	}
	return fmt.Errorf("the route to %s gets source %s, which is outside of that network: %s", is.To, is.Source, missing)
}

type replacer struct {
	by   map[string]string
	used map[string]bool
}

// get returns the replacement of the first of some names that has one, or else the last name.
func (r replacer) get(names ...string) string {
	for _, name := range names {
		if to, ok := r.by[name]; ok {
			r.used[name] = true
			return to
		}
	}
	return names[len(names)-1]
}

func (r replacer) host(h *hostconfig.Host) (err error) {
	iface := func(name string) string {
		if name == "" {
			return ""
		}
		return r.get(h.Name+"."+name, name)
	}
	text := func(value string) string { // an address, a prefix, or another word
		before := ""
		if addr, inet6 := strings.CutPrefix(value, "inet6 "); inet6 {
			before, value = "inet6 ", addr
		}
		if value == "" {
			return ""
		}
		if _, whole := r.by[value]; !whole {
			if addr, bits, found := strings.Cut(value, "/"); found {
				return before + r.get(addr) + "/" + bits
			}
		}
		return before + r.get(value)
	}
	addr := func(a netip.Addr) netip.Addr {
		if !a.IsValid() || err != nil {
			return a
		}
		made, wrong := netip.ParseAddr(text(a.String()))
		if wrong != nil {
			err = fmt.Errorf("--map %s: expected an address in its place", a)
		}
		return made
	}
	prefix := func(p netip.Prefix) netip.Prefix {
		if err != nil {
			return p
		}
		made, wrong := netip.ParsePrefix(text(p.String()))
		if wrong != nil {
			err = fmt.Errorf("--map %s: expected an address with its prefix length in its place", p)
		}
		return made
	}
	for i := range h.Settings {
		s := &h.Settings[i]
		s.Sysctl = slices.Clone(s.Sysctl)
		for k := range s.Sysctl {
			one := &s.Sysctl[k]
			if name := setting.InterfaceOf(one.Key); name != "" {
				parts := strings.Split(one.Key, ".")
				parts[3] = strings.ReplaceAll(iface(name), ".", "/")
				one.Key = strings.Join(parts, ".")
			}
		}
		if s.Neighbour != nil {
			n := *s.Neighbour
			n.Interface, n.Address, n.LLAddr = iface(n.Interface), addr(n.Address), r.get(n.LLAddr)
			s.Neighbour = &n
		}
		if s.Address != nil {
			a := *s.Address
			a.Interface, a.Address = iface(a.Interface), prefix(a.Address)
			s.Address = &a
		}
		if s.Route != nil {
			route := *s.Route
			route.To, route.Via, route.Interface, route.Source = text(route.To), text(route.Via),
				iface(route.Interface), addr(route.Source)
			route.Nexthops = slices.Clone(route.Nexthops)
			for k := range route.Nexthops {
				n := &route.Nexthops[k]
				n.Via, n.Interface = text(n.Via), iface(n.Interface)
			}
			if wrong := r.inside(*s.Route, route); wrong != nil && err == nil {
				err = wrong
			}
			s.Route = &route
		}
		if s.Nexthop != nil {
			n := *s.Nexthop
			n.Via, n.Interface = text(n.Via), iface(n.Interface)
			s.Nexthop = &n
		}
		if s.Rule != nil {
			rule := *s.Rule
			rule.From, rule.To = text(rule.From), text(rule.To)
			s.Rule = &rule
		}
		if s.Link != nil {
			l := *s.Link
			l.Interface = iface(l.Interface)
			s.Link = &l
		}
		if s.Qdisc != nil {
			q := *s.Qdisc
			q.Interface = iface(q.Interface)
			s.Qdisc = &q
		}
		if s.NIC != nil {
			n := *s.NIC
			n.Interface = iface(n.Interface)
			s.NIC = &n
		}
	}
	for i := range h.Interfaces {
		p := &h.Interfaces[i]
		p.Name = iface(p.Name)
		for k := range p.Prefixes {
			p.Prefixes[k] = prefix(p.Prefixes[k])
		}
	}
	return err
}
