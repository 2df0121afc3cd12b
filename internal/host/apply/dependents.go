package apply

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"linerate/internal/kernel/netlink"
	"linerate/internal/model/lists"
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
	queues                bool // the options of their queues
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
	// Objects are listed by kind; a kind without objects has no entry.
	Objects map[string][]kernelObject `json:"objects,omitempty"`
}

// objectKind is a kind of kernel objects that a change may delete.
type objectKind struct {
	name     string
	affected func(sideEffects) bool
	list     func(host, sideEffects) ([]kernelObject, error)
	restore  func(h host, o kernelObject) error
}

// objectKinds are in the order in which they are restored: routes need addresses and
// nexthop objects.
var objectKinds = []objectKind{
	{"address", func(e sideEffects) bool { return e.addresses }, host.addresses,
		func(h host, o kernelObject) error { return h.conn.RestoreAddress(o.Object) }},
	{"nexthop", func(e sideEffects) bool { return e.routes }, host.nexthops,
		func(h host, o kernelObject) error { return h.conn.RestoreNexthopObject(o.Object) }},
	{"route", func(e sideEffects) bool { return e.routes }, host.routes,
		func(h host, o kernelObject) error { return h.conn.RestoreRoute(o.Object, false) }},
	{"neighbour", func(e sideEffects) bool { return e.neighbours }, host.neighbours,
		func(h host, o kernelObject) error { return h.conn.RestoreNeighbour(o.Object) }},
	{"nic", func(e sideEffects) bool { return e.queues }, host.queueOptions, host.restoreOption},
}

// interfaceState is what a VLAN or macvlan interface inherits from its lower device:
// it goes down with it and its MTU is reduced with it, but not raised again.
type interfaceState struct {
	Interface string `json:"interface"`
	MTU       int    `json:"mtu"`
	Up        bool   `json:"up"`
}

// kernelObject is a kernel object, the text that identifies it, and what of it is needed to
// restore it.
type kernelObject struct {
	Text   string         `json:"text"`
	Object netlink.Object `json:"object,omitempty"`
	// Nexthops are of a nexthop object its number and its members', of a route its nexthop object's.
	Nexthops []int `json:"nexthops,omitempty"`
	// Address, on Interface, is set for addresses, and Option, of Interface, for options of NICs.
	Address   netip.Prefix `json:"address,omitzero"`
	Interface string       `json:"interface,omitempty"`
	Option    *nicOption   `json:"option,omitempty"`
}

// nicOption is an option of an interface's NIC with its value, as setting.NICOption.
type nicOption struct {
	Group string `json:"group"`
	Key   string `json:"key"`
	Value string `json:"value"`
}

func (s dependents) empty() bool { return len(s.Interfaces)+len(s.Sysctls)+len(s.Objects) == 0 }

// set replaces the objects of one kind.
func (s *dependents) set(kind string, objects []kernelObject) {
	s.Objects = maps.Clone(s.Objects)
	if len(objects) == 0 {
		delete(s.Objects, kind)
		return
	}
	lists.Put(&s.Objects, kind, objects)
}

func (s dependents) String() string {
	var list []string
	for _, p := range s.Interfaces {
		list = append(list, fmt.Sprintf("interface %s mtu %d up %v", p.Interface, p.MTU, p.Up))
	}
	for _, p := range s.Sysctls {
		list = append(list, "sysctl "+p.Key+"="+p.Value)
	}
	for _, kind := range objectKinds {
		for _, o := range s.Objects[kind.name] {
			list = append(list, kind.name+" "+o.Text)
		}
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
	for kind, objects := range more.Objects {
		s.set(kind, slices.Concat(s.Objects[kind], without(objects, s.Objects[kind])))
	}
	return s
}

// without returns the objects of a that are not in b.
func without(a, b []kernelObject) []kernelObject {
	there := make(map[string]bool, len(b))
	for _, o := range b {
		there[o.Text] = true
	}
	return slices.DeleteFunc(slices.Clone(a), func(o kernelObject) bool { return there[o.Text] })
}

// capture reads what a change may delete.
func (h host) capture(d sideEffects) (dependents, error) {
	s := dependents{Transient: d.Transient}
	for _, key := range d.sysctls {
		// One that cannot be read (a secret that is not set) cannot be restored,
		// and an interface may be deleted at any time.
		if value, err := h.sysctls.Read(key); err == nil {
			s.Sysctls = append(s.Sysctls, setting.Sysctl{Key: key, Value: value})
		}
	}
	var errs []error
	for _, kind := range objectKinds {
		if kind.affected(d) {
			objects, err := kind.list(h, d)
			s.set(kind.name, objects)
			errs = append(errs, err)
		}
	}
	if d.interfaces {
		var err error
		s.Interfaces, err = h.interfaces()
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return s, fmt.Errorf("reading what the change may delete: %w", err)
	}
	return s, nil
}

func (d sideEffects) concerns(iface string, family6 bool) bool {
	return (d.iface == "" || d.iface == iface) && (d.family == 0 || (d.family == 6) == family6)
}

func (h host) interfaces() ([]interfaceState, error) {
	links, err := h.conn.Links()
	list := lists.Map(links, func(l netlink.Link) interfaceState { return interfaceState{l.Name, l.MTU, l.Up} })
	return list, err
}

func (h host) addresses(d sideEffects) ([]kernelObject, error) {
	all, err := h.conn.Addresses()
	var list []kernelObject
	for _, a := range all {
		if d.concerns(a.Interface, a.Prefix.Addr().Is6()) && !(a.Prefix.Bits() == d.except.Address.Bits() &&
			d.except.Holds(a.Prefix.Addr())) {
			list = append(list, kernelObject{Text: addressText(a), Object: a.Object,
				Address: a.Prefix, Interface: a.Interface})
		}
	}
	return list, err
}

// routes lists the routes that a user or program made; the kernel makes and deletes its
// own with an address, and a routing daemon maintains its own.
func (h host) routes(d sideEffects) ([]kernelObject, error) {
	all, err := h.conn.Routes()
	var list []kernelObject
	for _, r := range all {
		if r.FromKernel() || r.FromRoutingDaemon() || d.except.Holds(r.Source) {
			continue
		}
		is6 := r.To.Addr().Is6()
		if d.concerns("", is6) || slices.ContainsFunc(r.Interfaces, func(p string) bool { return d.concerns(p, is6) }) {
			o := kernelObject{Text: fmt.Sprintf("%s table %d", r.Text, r.Table), Object: r.Object}
			if r.NexthopObject() != 0 {
				o.Nexthops = []int{r.NexthopObject()}
			}
			list = append(list, o)
		}
	}
	return list, err
}

// neighbours lists the permanent entries; others are learned again.
func (h host) neighbours(d sideEffects) ([]kernelObject, error) {
	all, err := h.conn.Neighbours()
	var list []kernelObject
	for _, n := range all {
		if d.concerns(n.Interface, n.Address.Is6()) && n.State == "PERMANENT" && !n.Proxy {
			list = append(list, kernelObject{Text: fmt.Sprintf("%s at %s on %s", n.Address, n.MAC, n.Interface),
				Object: n.Object})
		}
	}
	return list, err
}

// missing returns the part of s that is not as it was.
func (h host) missing(s dependents) (dependents, error) {
	left := dependents{Transient: s.Transient}
	var errs []error
	if len(s.Interfaces) > 0 {
		now, err := h.interfaces()
		errs = append(errs, err)
		for _, p := range s.Interfaces {
			if !slices.Contains(now, p) && slices.ContainsFunc(now, func(q interfaceState) bool {
				return q.Interface == p.Interface
			}) {
				left.Interfaces = append(left.Interfaces, p)
			}
		}
	}
	for _, p := range s.Sysctls {
		if value, err := h.sysctls.Read(p.Key); err != nil || !sameValue(value, p.Value) {
			left.Sysctls = append(left.Sysctls, p)
		}
	}
	for _, kind := range objectKinds {
		if objects := s.Objects[kind.name]; len(objects) > 0 {
			now, err := kind.list(h, sideEffects{})
			left.set(kind.name, without(objects, now))
			errs = append(errs, err)
		}
	}
	return left, errors.Join(errs...)
}

// settleTimeout is how long restore retries: a route may need an address that is still in
// duplicate address detection, which takes a second or two (RFC 4862).
const settleTimeout = 4 * time.Second

// restore restores what is missing of s: interfaces, then parameters, then objects.
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
			// Writing an earlier one may have restored this one.
			if value, err := h.sysctls.Read(p.Key); err != nil || !sameValue(value, p.Value) {
				failures = append(failures, h.sysctls.Write(p.Key, p.Value))
			}
		}
		for _, kind := range objectKinds {
			lost := left.Objects[kind.name]
			if kind.name == "address" {
				lost = h.awaitLinkLocal(lost, time.Since(began))
			}
			for _, o := range lost {
				failures = append(failures, kind.restore(h, o))
			}
			if kind.name == "nexthop" && len(lost) > 0 {
				// A route of a group that had only lost a member exists again.
				if left, err = h.missing(s); err != nil {
					return err
				}
			}
		}
		now, err := h.missing(s)
		if err != nil || now.empty() {
			return err
		}
		if time.Since(began) > settleTimeout {
			return errors.Join(append(failures, fmt.Errorf("could not be restored: %s", now))...)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// ownAddressAfter is how long the kernel may take to make the link-local address of an
// interface that came up: it waits for the carrier, which it reports at most once a
// second.
const ownAddressAfter = 1500 * time.Millisecond

// awaitLinkLocal returns the lost addresses that must be restored now. The kernel usually
// makes an interface's link-local address again by itself, and a different one if the MAC
// address was changed in between, which is deleted here; it has waited for so long.
func (h host) awaitLinkLocal(lost []kernelObject, waited time.Duration) []kernelObject {
	if !slices.ContainsFunc(lost, kernelObject.linkLocal) {
		return lost
	}
	now, err := h.conn.Addresses()
	if err != nil {
		return lost // missing reads them again
	}
	return slices.DeleteFunc(slices.Clone(lost), func(o kernelObject) bool {
		if !o.linkLocal() {
			return false
		}
		others := 0
		for _, a := range now {
			if a.Interface == o.Interface && a.Automatic && a.Prefix.Addr().IsLinkLocalUnicast() {
				others++
				_ = h.conn.DeleteAddresses(a.Interface, []netip.Prefix{a.Prefix}) // tried again
			}
		}
		return others == 0 && waited < ownAddressAfter
	})
}

// linkLocal reports whether an object is a link-local address of IPv6.
func (o kernelObject) linkLocal() bool {
	return o.Address.Addr().Is6() && o.Address.Addr().IsLinkLocalUnicast()
}

func addressText(a netlink.Address) string { return a.Prefix.String() + " on " + a.Interface }
