package netlink

import "net/netip"

// Object is a kernel object (a route, an address, a neighbour entry, a rule, a nexthop)
// as the kernel described it in a dump: the body of the netlink message. The Restore
// methods of Conn make the object again from it.
type Object []byte

// Address is one address of an interface (struct ifaddrmsg, rtnetlink(7)).
type Address struct {
	Interface string
	Prefix    netip.Prefix
	// Secondary addresses share their subnet with an earlier one of the interface and
	// are deleted with it, unless promote_secondaries is set.
	Secondary bool
	// Tentative: duplicate address detection has not finished (RFC 4862).
	Tentative bool
	// Duplicate: detection found that another host on the link has the address.
	Duplicate bool
	// Automatic: the kernel made the address itself, as a link-local address or from a
	// router advertisement. False before Linux 5.18, which does not report it.
	Automatic bool
	Object    Object
}
