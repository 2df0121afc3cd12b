package netlink

import "net/netip"

// Address is one address of an interface.
type Address struct {
	Interface string
	Prefix    netip.Prefix
	// Secondary addresses share their subnet with an earlier one of the interface and
	// go with it when it is deleted, unless promote_secondaries is set.
	Secondary bool
	// Tentative: duplicate address detection has not finished (RFC 4862).
	Tentative bool
	// Duplicate: it has finished, and somebody else has the address.
	Duplicate bool
	// Automatic: the kernel made it by itself, as a link-local address or from a
	// router's advertisement; known since 5.18.
	Automatic bool
	Object    Object
}
