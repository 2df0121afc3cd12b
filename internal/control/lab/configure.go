package lab

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/bus"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/topology"
)

// configure applies the topology's settings to every host: addresses, routes, rules and
// sysctls. A real host must have its addresses already; the rest is reverted at the end.
func (l *Lab) configure(ctx context.Context) error {
	return bus.EachNode(l.Hosts(), func(name string) error {
		h, _ := l.topology.Host(name)
		if len(h.Via) > 0 {
			if err := l.verify(h); err != nil {
				return err
			}
		}
		settings, err := l.Resolve(baseSettings(h, l.daemons()))
		if err != nil || len(settings) == 0 {
			return err
		}
		request := message.ApplyRequest{Settings: settings, AllowMachine: l.options.AllowMachine, IfAbsent: len(h.Via) > 0}
		return l.bus.Call(ctx, h.Name, "apply", request, nil)
	})
}

// baseSettings returns the settings of a host in the topology; daemon: without the routes
// that a routing daemon will install.
func baseSettings(h *topology.Host, daemon bool) []setting.Setting {
	var list []setting.Setting
	sysctls := slices.Clone(h.Sysctls)
	if h.Forward {
		sysctls = append(sysctls, setting.Sysctl{Key: "net.ipv4.ip_forward", Value: "1"})
		if usesIPv6(h) {
			sysctls = append(sysctls, setting.Sysctl{Key: "net.ipv6.conf.all.forwarding", Value: "1"})
		}
	}
	if len(sysctls) > 0 {
		list = append(list, setting.Setting{Host: h.Name, Sysctl: sysctls})
	}
	if len(h.Via) == 0 {
		for name, a := range h.Addresses() {
			list = append(list, setting.Setting{Host: h.Name, Address: &setting.Address{Interface: name, Address: a.Prefix(), Count: a.Number()}})
		}
	}
	for _, n := range h.Nexthops {
		list = append(list, setting.Setting{Host: h.Name, Nexthop: &n})
	}
	for _, r := range h.Routes {
		if !r.Learned || !daemon {
			list = append(list, setting.Setting{Host: h.Name, Route: &r})
		}
	}
	for _, r := range h.Rules {
		list = append(list, setting.Setting{Host: h.Name, Rule: &r})
	}
	return list
}

// verify compares the interfaces and addresses of a real host with the topology.
func (l *Lab) verify(h *topology.Host) error {
	var errs []error
	for _, p := range h.Interfaces {
		have, found := l.reported(topology.End{Node: h.Name, Interface: p.Name})
		if !found {
			var names []string
			for _, s := range l.Hello(h.Name).Interfaces {
				names = append(names, s.Interface)
			}
			errs = append(errs, fmt.Errorf("%s has no interface %s; it has %s", h.Name, p.Name, strings.Join(names, ", ")))
			continue
		}
		if !have.Up {
			errs = append(errs, fmt.Errorf("%s.%s is down", h.Name, p.Name))
		}
		for _, a := range p.Addresses {
			for _, prefix := range a.Prefixes() {
				if !slices.Contains(have.Addresses, prefix.String()) {
					errs = append(errs, fmt.Errorf("%s.%s does not have %s; it has %s: add that address to the host, or correct the file", h.Name, p.Name, prefix, strings.Join(have.Addresses, ", ")))
				}
			}
		}
	}
	return errors.Join(errs...)
}

// Resolve replaces references to interfaces in settings (host.interface) by the MAC
// address in a neighbour's lladdr, and by the address in the via of a route or nexthop.
func (l *Lab) Resolve(settings []setting.Setting) ([]setting.Setting, error) {
	resolved := make([]setting.Setting, len(settings))
	for i, s := range settings {
		if s.Neighbour != nil {
			n := *s.Neighbour
			if end, ok := endOf(l.topology, n.LLAddr); ok {
				mac, err := l.mac(end)
				if err != nil {
					return nil, err
				}
				n.LLAddr = mac
			}
			s.Neighbour = &n
		}
		var err error
		if s.Route != nil {
			r := *s.Route
			r.Nexthops = slices.Clone(r.Nexthops)
			vias := []*string{&r.Via}
			for k := range r.Nexthops {
				vias = append(vias, &r.Nexthops[k].Via)
			}
			for _, via := range vias {
				if *via, err = l.via(s.Host, r.To, *via); err != nil {
					return nil, err
				}
			}
			s.Route = &r
		}
		if s.Nexthop != nil {
			n := *s.Nexthop
			// It has no destination: an IPv4 address if both hosts have one.
			if n.Via, err = l.via(s.Host, "", n.Via); err != nil {
				return nil, err
			}
			s.Nexthop = &n
		}
		resolved[i] = s
	}
	return resolved, nil
}

// endOf reads "host.interface".
func endOf(t *topology.Topology, text string) (topology.End, bool) {
	for _, h := range t.Hosts {
		if iface, found := strings.CutPrefix(text, h.Name+"."); found {
			if _, exists := h.Interface(iface); exists {
				return topology.End{Node: h.Name, Interface: iface}, true
			}
		}
	}
	return topology.End{}, false
}

func (l *Lab) mac(end topology.End) (string, error) {
	if h, _ := l.topology.Host(end.Node); len(h.Via) == 0 {
		return l.topology.MAC(end), nil
	}
	have, found := l.reported(end)
	if !found {
		return "", fmt.Errorf("the MAC address of %s is not known: the host has no such interface", end)
	}
	return have.MAC, nil
}

// reported is an interface as the host's agent has reported it.
func (l *Lab) reported(end topology.End) (record.InterfaceSnapshot, bool) {
	all := l.Hello(end.Node).Interfaces
	if i := slices.IndexFunc(all, func(s record.InterfaceSnapshot) bool { return s.Interface == end.Interface }); i >= 0 {
		return all[i], true
	}
	return record.InterfaceSnapshot{}, false
}

// via turns "host.interface" into an address that the host can reach: one of the same
// family as the destination where the far interface has one, else its link-local
// address (RFC 4291, made from the MAC address).
func (l *Lab) via(host, to, text string) (string, error) {
	end, ok := endOf(l.topology, text)
	if !ok {
		return text, nil
	}
	wantIPv6 := strings.Contains(to, ":")
	if addr, ok := addressOf(l.topology, host, end, wantIPv6); ok {
		return addr.String(), nil
	}
	mac, err := l.mac(end)
	if err != nil {
		return "", err
	}
	local, err := linkLocal(mac)
	if err != nil {
		return "", err
	}
	if wantIPv6 {
		return local.String(), nil
	}
	return "inet6 " + local.String(), nil
}

// addressOf returns an address of a far interface, of one family, that a host reaches
// directly because it has an interface with the same prefix.
func addressOf(t *topology.Topology, host string, far topology.End, six bool) (netip.Addr, bool) {
	h, _ := t.Host(host)
	there, _ := t.Host(far.Node)
	iface, _ := there.Interface(far.Interface)
	for _, a := range iface.Addresses {
		if a.First.Is6() != six {
			continue
		}
		for _, own := range h.Addresses() {
			if own.Prefix().Contains(a.First) {
				return a.First, true
			}
		}
	}
	return netip.Addr{}, false
}

// linkLocal returns the address in fe80::/64 with the modified EUI-64 of a MAC address
// (RFC 4291, appendix A).
func linkLocal(mac string) (netip.Addr, error) {
	var m [6]byte
	if _, err := fmt.Sscanf(mac, "%02x:%02x:%02x:%02x:%02x:%02x", &m[0], &m[1], &m[2], &m[3], &m[4], &m[5]); err != nil {
		return netip.Addr{}, fmt.Errorf("MAC address %q: %w", mac, err)
	}
	return netip.AddrFrom16([16]byte{0xfe, 0x80, 8: m[0] ^ 2, 9: m[1], 10: m[2], 11: 0xff, 12: 0xfe, 13: m[3], 14: m[4], 15: m[5]}), nil
}
