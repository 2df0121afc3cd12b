package apply

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"linerate/internal/kernel/netlink"
	"linerate/internal/model/setting"
)

// sideEffects are the kinds of objects that the kernel may delete or change along
// with a change.
type sideEffects struct {
	iface  string // empty: all interfaces
	family int    // 4, 6, or 0 for both

	addresses, neighbours bool
	routes                bool // and the nexthop objects that they may use
	interfaces            bool // their MTU and whether they are up
	sysctls               []string

	// except are the addresses whose deletion is the change itself, with the routes
	// that need them.
	except setting.Address
	// Transient: the objects are lost at each transition and restored at once. Otherwise
	// they are absent for as long as the change lasts.
	Transient bool
}

// dependents are the objects that a change may delete, as they were before it.
type dependents struct {
	Transient  bool             `json:"transient,omitempty"`
	Interfaces []interfaceState `json:"interfaces,omitempty"`
	Sysctls    []setting.Sysctl `json:"sysctls,omitempty"`
	Addresses  []kernelObject   `json:"addresses,omitempty"`
	Nexthops   []kernelObject   `json:"nexthops,omitempty"` // objects, groups behind their members
	Routes     []kernelObject   `json:"routes,omitempty"`
	Neighbours []kernelObject   `json:"neighbours,omitempty"`
}

// interfaceState is what a VLAN or macvlan interface inherits from its lower device:
// it goes down with it and its MTU is reduced with it, but not raised again.
type interfaceState struct {
	Interface string `json:"interface"`
	MTU       int    `json:"mtu"`
	Up        bool   `json:"up"`
}

// kernelObject is a kernel object and the text that identifies it.
type kernelObject struct {
	Text   string         `json:"text"`
	Object netlink.Object `json:"object"`
}

func (s dependents) empty() bool {
	return len(s.Interfaces)+len(s.Sysctls)+len(s.Addresses)+len(s.Nexthops)+len(s.Routes)+len(s.Neighbours) == 0
}

func (s dependents) String() string {
	var list []string
	for _, p := range s.Interfaces {
		list = append(list, fmt.Sprintf("interface %s mtu %d up %v", p.Interface, p.MTU, p.Up))
	}
	for _, p := range s.Sysctls {
		list = append(list, "sysctl "+p.Key+"="+p.Value)
	}
	for _, t := range s.Addresses {
		list = append(list, "address "+t.Text)
	}
	for _, t := range s.Nexthops {
		list = append(list, "nexthop "+t.Text)
	}
	for _, t := range s.Routes {
		list = append(list, "route "+t.Text)
	}
	for _, t := range s.Neighbours {
		list = append(list, "neighbour "+t.Text)
	}
	return strings.Join(list, ", ")
}

// with adds what s does not have yet.
func (s dependents) with(more dependents) dependents {
	for _, p := range more.Sysctls {
		if !slices.ContainsFunc(s.Sysctls, func(q setting.Sysctl) bool { return q.Key == p.Key }) {
			s.Sysctls = append(s.Sysctls, p)
		}
	}
	s.Addresses = union(s.Addresses, more.Addresses)
	s.Nexthops = union(s.Nexthops, more.Nexthops)
	s.Routes = union(s.Routes, more.Routes)
	s.Neighbours = union(s.Neighbours, more.Neighbours)
	return s
}

func union(a, b []kernelObject) []kernelObject {
	return append(slices.Clip(a), without(b, a)...)
}

// without lists the things of a that are not in b.
func without(a, b []kernelObject) []kernelObject {
	there := make(map[string]bool, len(b))
	for _, t := range b {
		there[t.Text] = true
	}
	var list []kernelObject
	for _, t := range a {
		if !there[t.Text] {
			list = append(list, t)
		}
	}
	return list
}

// capture reads what is in danger.
func (h host) capture(d sideEffects) (dependents, error) {
	s := dependents{Transient: d.Transient}
	for _, key := range d.sysctls {
		// One that cannot be read (a secret that is not set) cannot be restored,
		// and an interface may vanish at any time.
		if value, err := h.sysctls.Read(key); err == nil {
			s.Sysctls = append(s.Sysctls, setting.Sysctl{Key: key, Value: value})
		}
	}
	var errs [5]error
	if d.addresses {
		s.Addresses, errs[0] = h.addresses(d)
	}
	if d.routes {
		s.Routes, errs[1] = h.routes(d)
		s.Nexthops, errs[4] = h.nexthops(d)
	}
	if d.neighbours {
		s.Neighbours, errs[2] = h.neighbours(d)
	}
	if d.interfaces {
		s.Interfaces, errs[3] = h.ports()
	}
	if err := errors.Join(errs[:]...); err != nil {
		return s, fmt.Errorf("reading what the change could take along: %w", err)
	}
	return s, nil
}

func (d sideEffects) concerns(iface string, family6 bool) bool {
	return (d.iface == "" || d.iface == iface) && (d.family == 0 || (d.family == 6) == family6)
}

func (h host) ports() ([]interfaceState, error) {
	links, err := h.conn.Links()
	var list []interfaceState
	for _, l := range links {
		list = append(list, interfaceState{l.Name, l.MTU, l.Up})
	}
	return list, err
}

func (h host) addresses(d sideEffects) ([]kernelObject, error) {
	all, err := h.conn.Addresses()
	var list []kernelObject
	for _, a := range all {
		if d.concerns(a.Interface, a.Prefix.Addr().Is6()) && !(a.Prefix.Bits() == d.except.Address.Bits() && d.except.Holds(a.Prefix.Addr())) {
			list = append(list, kernelObject{addressText(a), a.Object})
		}
	}
	return list, err
}

// routes lists the routes that a user or program made; those that the kernel makes for an
// address come and go with it, and a routing daemon sees to its own.
func (h host) routes(d sideEffects) ([]kernelObject, error) {
	all, err := h.conn.Routes()
	var list []kernelObject
	for _, r := range all {
		if r.Protocol == netlink.RouteProtocolKernel || r.FromRoutingDaemon() || d.except.Holds(r.Source) {
			continue
		}
		is6 := r.To.Addr().Is6()
		if d.concerns("", is6) || slices.ContainsFunc(r.Interfaces, func(p string) bool { return d.concerns(p, is6) }) {
			list = append(list, kernelObject{fmt.Sprintf("%s table %d", r.Text, r.Table), r.Object})
		}
	}
	return list, err
}

// neighbours lists the static entries; learned ones are learned
// again.
func (h host) neighbours(d sideEffects) ([]kernelObject, error) {
	all, err := h.conn.Neighbours()
	var list []kernelObject
	for _, n := range all {
		if d.concerns(n.Interface, n.Address.Is6()) && n.State == "PERMANENT" && !n.Proxy {
			list = append(list, kernelObject{fmt.Sprintf("%s at %s on %s", n.Address, n.MAC, n.Interface), n.Object})
		}
	}
	return list, err
}

// missing is the part of s that is not as it was.
func (h host) missing(s dependents) (dependents, error) {
	left := dependents{Transient: s.Transient}
	for _, p := range s.Sysctls {
		if value, err := h.sysctls.Read(p.Key); err != nil || !sameValue(value, p.Value) {
			left.Sysctls = append(left.Sysctls, p)
		}
	}
	look := func(things []kernelObject, list func(sideEffects) ([]kernelObject, error)) ([]kernelObject, error) {
		if len(things) == 0 {
			return nil, nil
		}
		now, err := list(sideEffects{})
		return without(things, now), err
	}
	var errs [5]error
	if len(s.Interfaces) > 0 {
		var now []interfaceState
		now, errs[3] = h.ports()
		for _, p := range s.Interfaces {
			if !slices.Contains(now, p) && slices.ContainsFunc(now, func(q interfaceState) bool { return q.Interface == p.Interface }) {
				left.Interfaces = append(left.Interfaces, p)
			}
		}
	}
	left.Addresses, errs[0] = look(s.Addresses, h.addresses)
	left.Nexthops, errs[4] = look(s.Nexthops, h.nexthops)
	left.Routes, errs[1] = look(s.Routes, h.routes)
	left.Neighbours, errs[2] = look(s.Neighbours, h.neighbours)
	return left, errors.Join(errs[:]...)
}

// patience is how long restore tries: a route may need an address that is still
// in duplicate address detection, which takes a second or two (RFC 4862).
const patience = 4 * time.Second

// restore puts back what is missing of s: interfaces, parameters, then addresses, then
// nexthop objects and routes, which need those before them, then neighbours.
func (h host) restore(s dependents) error {
	began := time.Now()
	for {
		left, err := h.missing(s)
		if err != nil || left.empty() {
			return err
		}
		var failures []error
		for _, p := range left.Interfaces {
			failures = append(failures, h.conn.ChangeLink(p.Interface, netlink.LinkChange{MTU: &p.MTU, Up: &p.Up}))
		}
		for _, p := range left.Sysctls {
			// An earlier one may have brought this one back.
			if value, err := h.sysctls.Read(p.Key); err != nil || !sameValue(value, p.Value) {
				failures = append(failures, h.sysctls.Write(p.Key, p.Value))
			}
		}
		failures = append(failures, h.restoreAddresses(left.Addresses, time.Since(began)))
		for _, t := range left.Nexthops {
			failures = append(failures, h.conn.RestoreNexthopObject(t.Object))
		}
		if len(left.Nexthops) > 0 {
			// A route by a group that had only lost a member is itself again.
			if left, err = h.missing(s); err != nil {
				return err
			}
		}
		for _, t := range left.Routes {
			failures = append(failures, h.conn.RestoreRoute(t.Object, false))
		}
		for _, t := range left.Neighbours {
			failures = append(failures, h.conn.RestoreNeighbour(t.Object))
		}
		now, err := h.missing(s)
		if err != nil || now.empty() {
			return err
		}
		if time.Since(began) > patience {
			return errors.Join(append(failures, fmt.Errorf("could not be put back: %s", now))...)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// ownAddressAfter is how long an interface that came up may take to get its link-local
// address from the kernel, which waits for the carrier and reports it once a
// second at most.
const ownAddressAfter = 1500 * time.Millisecond

// restoreAddresses puts addresses back. An interface's link-local address usually comes
// back by itself. Another one comes if its MAC address was changed in between;
// that must have come before it can be removed, so waited is how long it had.
func (h host) restoreAddresses(lost []kernelObject, waited time.Duration) error {
	if len(lost) == 0 {
		return nil
	}
	now, err := h.conn.Addresses()
	failures := []error{err}
	for _, t := range lost {
		prefix, iface, _ := strings.Cut(t.Text, " on ")
		if strings.HasPrefix(prefix, "fe80:") {
			others := 0
			for _, a := range now {
				if a.Interface == iface && a.Automatic && a.Prefix.Addr().IsLinkLocalUnicast() {
					others++
					failures = append(failures, h.conn.DeleteAddresses(a.Interface, []netip.Prefix{a.Prefix}))
				}
			}
			if others == 0 && waited < ownAddressAfter {
				continue
			}
		}
		failures = append(failures, h.conn.RestoreAddress(t.Object))
	}
	return errors.Join(failures...)
}

func addressText(a netlink.Address) string { return a.Prefix.String() + " on " + a.Interface }
