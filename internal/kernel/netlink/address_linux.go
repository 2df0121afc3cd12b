//go:build !portable

package netlink

import (
	"net/netip"
	"slices"

	"golang.org/x/sys/unix"
)

// struct ifaddrmsg: family, prefix length, flags, scope, index (uint32).
const ifaddrmsgLen = unix.SizeofIfAddrmsg

const ifaProto = 0xb // IFA_PROTO (linux/if_addr.h)

// Addresses lists the addresses of all interfaces, IPv4 then IPv6, in the kernel's
// order: a primary address precedes its secondaries.
func (c *Conn) Addresses() ([]Address, error) {
	names, err := c.names()
	if err != nil {
		return nil, err
	}
	return list(c, "list addresses", unix.RTM_GETADDR, unix.RTM_NEWADDR, ifaddrmsgLen, bothFamilies(ifaddrmsgLen),
		each(func(body []byte) Address { return parseAddress(slices.Clone(body), names) }))
}

func parseAddress(o Object, names map[int]string) Address {
	a := Address{Interface: names[indexOf(o)], Object: o}
	flags := uint32(o[2])
	var local, address netip.Addr
	for attr := range attributes(o[ifaddrmsgLen:]) {
		switch attr.kind {
		case unix.IFA_ADDRESS:
			address = attr.addr()
		case unix.IFA_LOCAL:
			local = attr.addr()
		case unix.IFA_FLAGS:
			flags = attr.uint32()
		case ifaProto:
			a.Automatic = len(attr.data) > 0 && attr.data[0] >= 2 // IFAPROT_KERNEL_RA, IFAPROT_KERNEL_LL
		}
	}
	if !local.IsValid() {
		local = address // IPv6 addresses have IFA_LOCAL only if there is a peer
	}
	a.Prefix = netip.PrefixFrom(local, int(o[1]))
	a.Secondary = flags&unix.IFA_F_SECONDARY != 0
	a.Tentative = flags&unix.IFA_F_TENTATIVE != 0
	a.Duplicate = flags&unix.IFA_F_DADFAILED != 0
	return a
}

// AddAddresses adds addresses to an interface, in order. It stops at the first error.
func (c *Conn) AddAddresses(name string, prefixes []netip.Prefix) error {
	return c.changeAddresses("add address", "to", name, prefixes, unix.RTM_NEWADDR, flagsAdd,
		func(error) bool { return false })
}

// DeleteAddresses removes addresses, in order. An address that the interface does not have is no
// error.
func (c *Conn) DeleteAddresses(name string, prefixes []netip.Prefix) error {
	return c.changeAddresses("delete address", "from", name, prefixes, unix.RTM_DELADDR, 0, isAbsent)
}

func (c *Conn) changeAddresses(op, preposition, name string, prefixes []netip.Prefix, kind uint16, flags int,
	ignore func(error) bool) error {
	index, err := c.index(name)
	if err != nil {
		return err
	}
	bodies := make([][]byte, len(prefixes))
	for i, prefix := range prefixes {
		addr := prefix.Addr().WithZone("")
		body := append(make([]byte, 0, 64), family(addr), byte(prefix.Bits()), 0, unix.RT_SCOPE_UNIVERSE)
		body = native.AppendUint32(body, uint32(index))
		body = appendAttribute(body, unix.IFA_LOCAL, addr.AsSlice())
		bodies[i] = appendAttribute(body, unix.IFA_ADDRESS, addr.AsSlice())
	}
	return c.batch(op, kind, flags, bodies, func(i int) string {
		return prefixes[i].String() + " " + preposition + " " + name
	}, ignore)
}

// RestoreAddress creates an address from its description, without its state: the kernel decides
// again whether it is secondary, and runs duplicate address detection again.
func (c *Conn) RestoreAddress(o Object) error {
	if err := o.check("restore address", ifaddrmsgLen); err != nil {
		return err
	}
	condition := uint32(unix.IFA_F_TENTATIVE | unix.IFA_F_DADFAILED)
	if o[0] == unix.AF_INET {
		condition |= unix.IFA_F_SECONDARY // in IPv6 the same bit marks temporary addresses
	}
	body := slices.Clone(o[:ifaddrmsgLen])
	body[2] &^= byte(condition)
	for a := range attributes(o[ifaddrmsgLen:]) {
		if a.kind == unix.IFA_FLAGS {
			body = appendUint32(body, a.kind, a.uint32()&^condition)
		} else {
			body = appendAttribute(body, a.kind, a.data)
		}
	}
	return c.request("restore address", parseAddress(o, nil).Prefix.String(), unix.RTM_NEWADDR, flagsReplace, body, nil)
}
