package remedy

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/hostconfig"
	"linerate/internal/model/setting"
)

// Replace replaces names of interfaces, addresses and MAC addresses throughout, by pairs
// such as eth0=enp3s0, nas.eth0=enp3s0 or 192.168.1.15=10.0.0.15. It is an error if a
// pair has no equals sign, or replaces nothing.
func (fix *Fix) Replace(pairs []string) error {
	r := replacer{by: map[string]string{}, used: map[string]bool{}}
	for _, pair := range pairs {
		from, to, found := strings.Cut(pair, "=")
		if !found || from == "" || strings.Trim(to, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/@") != "" || to == "" {
			return fmt.Errorf("--map %q: expected OLD=NEW, such as eth0=enp3s0, nas.eth0=enp3s0 or 192.168.1.15=10.0.0.15", pair)
		}
		r.by[from] = to
	}
	for i := range fix.Hosts {
		if err := r.host(&fix.Hosts[i]); err != nil {
			return err
		}
	}
	for i := range fix.Flushes {
		f := &fix.Flushes[i]
		h := hostconfig.Host{Name: f.Host, Interfaces: []hostconfig.Interface{{Name: f.Interface, Prefixes: []netip.Prefix{f.To}}}}
		if err := r.host(&h); err != nil {
			return err
		}
		f.Interface, f.To = h.Interfaces[0].Name, h.Interfaces[0].Prefixes[0]
	}
	for from, to := range r.by {
		if !r.used[from] {
			return fmt.Errorf("--map %s=%s: nothing that is changed has that name; there are %s", from, to, cmp.Or(strings.Join(fix.names(), ", "), "no names"))
		}
	}
	return nil
}

// names are those of the interfaces.
func (fix *Fix) names() (list []string) {
	for _, h := range fix.Hosts {
		for _, i := range h.Interfaces {
			list = append(list, h.Name+"."+i.Name)
		}
	}
	for _, f := range fix.Flushes {
		if name := f.Host + "." + f.Interface; !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// Named: the settings or flushes name interfaces or addresses, of which Replace can replace some.
func (fix *Fix) Named() bool {
	return len(fix.Flushes) > 0 || slices.ContainsFunc(fix.Hosts, func(h hostconfig.Host) bool {
		return slices.ContainsFunc(h.Settings, func(s setting.Setting) bool {
			return s.Neighbour != nil || s.Address != nil || s.Route != nil || s.Nexthop != nil || s.Rule != nil || s.Link != nil || s.Qdisc != nil ||
				slices.ContainsFunc(s.Sysctl, func(one setting.Sysctl) bool { return setting.InterfaceOf(one.Key) != "" })
		})
	})
}

type replacer struct {
	by   map[string]string
	used map[string]bool
}

// get is what stands for the first of some names that has a replacement, else the last.
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
			route.To, route.Via, route.Interface, route.Source = text(route.To), text(route.Via), iface(route.Interface), addr(route.Source)
			route.Nexthops = slices.Clone(route.Nexthops)
			for k := range route.Nexthops {
				n := &route.Nexthops[k]
				n.Via, n.Interface = text(n.Via), iface(n.Interface)
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
