package netlink

import "net/netip"

// Object is a kernel object (a route, an address, a neighbour entry, a rule, a nexthop) as the
// kernel described it in a dump: the body of the netlink message. The Restore methods of Conn
// create the object again from it.
type Object []byte

// Address is one address of an interface (struct ifaddrmsg, rtnetlink(7)).
type Address struct {
	Interface string
	Prefix    netip.Prefix
	// Secondary reports whether the address shares its subnet with an earlier address of the
	// interface. It is deleted together with that one unless promote_secondaries is set.
	Secondary bool
	// Tentative reports whether duplicate address detection is still running (RFC 4862).
	Tentative bool
	// Duplicate reports whether detection found another host with the address on the link.
	Duplicate bool
	// Automatic reports whether the kernel created the address, as a link-local address or from a
	// router advertisement. It is always false before Linux 5.18, which does not report it.
	Automatic bool
	Object    Object
}
