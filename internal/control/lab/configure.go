package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/bus"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
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
		request := message.ApplyRequest{Settings: settings, AllowMachine: l.options.AllowMachine,
			IfAbsent: len(h.Via) > 0}
		_, err = bus.Call(ctx, l.bus, h.Name, message.Apply, request)
		return err
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
			list = append(list, setting.Setting{Host: h.Name, Address: &setting.Address{Interface: name,
				Address: a.Prefix(), Count: a.Number()}})
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
			errs = append(errs, fmt.Errorf("%s has no interface %s; it has %s", h.Name, p.Name,
				strings.Join(names, ", ")))
			continue
		}
		if !have.Up {
			errs = append(errs, fmt.Errorf("%s.%s is down", h.Name, p.Name))
		}
		for _, a := range p.Addresses {
			for _, prefix := range a.Prefixes() {
				if !slices.Contains(have.Addresses, prefix.String()) {
					errs = append(errs, fmt.Errorf(
						"%s.%s does not have %s; it has %s: add that address to the host, or correct the file", h.Name,
						p.Name, prefix, strings.Join(have.Addresses, ", ")))
				}
			}
		}
	}
	return errors.Join(errs...)
}

// Resolve replaces references to interfaces (host.interface) in settings: in a neighbour's
// lladdr by the MAC address, in the via of a route or nexthop by the IP address.
func (l *Lab) Resolve(settings []setting.Setting) ([]setting.Setting, error) {
	return l.topology.Resolve(settings, l.MAC)
}

// MAC returns the MAC address of a host's interface. It fails if a real host has no such
// interface.
func (l *Lab) MAC(end topology.End) (string, error) {
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
func (l *Lab) reported(end topology.End) (netstate.InterfaceSnapshot, bool) {
	all := l.Hello(end.Node).Interfaces
	if i := slices.IndexFunc(all, func(s netstate.InterfaceSnapshot) bool {
		return s.Interface == end.Interface
	}); i >= 0 {
		return all[i], true
	}
	return netstate.InterfaceSnapshot{}, false
}
