package kernel

import "net/netip"

// Address is one address of a port.
type Address struct {
	Port   string
	Prefix netip.Prefix
	// Secondary addresses share their subnet with an earlier one of the port and
	// go with it when it is deleted, unless promote_secondaries is set.
	Secondary bool
	// Tentative: duplicate address detection has not finished (RFC 4862).
	Tentative bool
	// Duplicate: it has finished, and somebody else has the address.
	Duplicate bool
	Object    Object
}
