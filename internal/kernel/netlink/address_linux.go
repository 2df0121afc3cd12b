package netlink

import (
	"net/netip"
	"syscall"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
)

// struct ifaddrmsg: family, prefix length, flags, scope, index (uint32).
const ifaddrmsgLen = unix.SizeofIfAddrmsg

const ifaProto = 0xb // IFA_PROTO (linux/if_addr.h)

// Addresses lists the addresses of all interfaces, in the kernel's order: a primary
// comes before its secondaries.
func (c *Conn) Addresses() ([]Address, error) {
	names, err := c.names()
	if err != nil {
		return nil, err
	}
	var list []Address
	for _, family := range []uint8{unix.AF_INET, unix.AF_INET6} {
		before := len(list)
		ask := make([]byte, ifaddrmsgLen)
		ask[0] = family
		err := c.dump("list addresses", unix.RTM_GETADDR, ask,
			func() { list = list[:before] },
			func(kind uint16, body []byte, _ int64) error {
				if kind == unix.RTM_NEWADDR && len(body) >= ifaddrmsgLen && body[0] == family {
					list = append(list, parseAddress(append(Object(nil), body...), names))
				}
				return nil
			})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

func parseAddress(o Object, names map[int]string) Address {
	a := Address{Interface: names[int(int32(native.Uint32(o[4:])))], Object: o}
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
		local = address // IPv6 has IFA_LOCAL only where there is a peer
	}
	a.Prefix = netip.PrefixFrom(local, int(o[1]))
	a.Secondary = flags&unix.IFA_F_SECONDARY != 0
	a.Tentative = flags&unix.IFA_F_TENTATIVE != 0
	a.Duplicate = flags&unix.IFA_F_DADFAILED != 0
	return a
}

// AddAddresses adds addresses to an interface, in order.
func (c *Conn) AddAddresses(name string, prefixes []netip.Prefix) error {
	return c.changeAddresses("add address", "to", name, prefixes, unix.RTM_NEWADDR, unix.NLM_F_CREATE|unix.NLM_F_EXCL,
		func(error) bool { return false })
}

// DeleteAddresses removes addresses, in order; those that are not there are no
// error.
func (c *Conn) DeleteAddresses(name string, prefixes []netip.Prefix) error {
	return c.changeAddresses("delete address", "from", name, prefixes, unix.RTM_DELADDR, 0, kernel.IsAbsent)
}

func (c *Conn) changeAddresses(op, preposition, name string, prefixes []netip.Prefix, kind uint16, flags int, passedOver func(error) bool) error {
	index, err := c.index(name)
	if err != nil {
		return err
	}
	bodies := make([][]byte, len(prefixes))
	for i, prefix := range prefixes {
		bodies[i] = addressBody(index, prefix)
	}
	return c.batch(op, kind, flags, bodies, func(i int) string { return prefixes[i].String() + " " + preposition + " " + name }, passedOver)
}

func addressBody(index int, prefix netip.Prefix) []byte {
	addr := prefix.Addr().WithZone("")
	body := make([]byte, 0, 64)
	body = append(body, family(addr), byte(prefix.Bits()), 0, unix.RT_SCOPE_UNIVERSE)
	body = native.AppendUint32(body, uint32(index))
	body = appendAttribute(body, unix.IFA_LOCAL, addr.AsSlice())
	return appendAttribute(body, unix.IFA_ADDRESS, addr.AsSlice())
}

// RestoreAddress makes an address as the kernel described it before, without
// its condition: whether it is secondary and whether it is a duplicate, the
// kernel finds out anew.
func (c *Conn) RestoreAddress(o Object) error {
	if len(o) < ifaddrmsgLen {
		return &kernel.Error{Op: "restore address", Err: syscall.EINVAL, Detail: "address is too short"}
	}
	condition := uint32(unix.IFA_F_TENTATIVE | unix.IFA_F_DADFAILED)
	if o[0] == unix.AF_INET {
		condition |= unix.IFA_F_SECONDARY // in IPv6 the same bit means temporary
	}
	body := append([]byte(nil), o[:ifaddrmsgLen]...)
	body[2] &^= byte(condition)
	for a := range attributes(o[ifaddrmsgLen:]) {
		switch a.kind {
		case unix.IFA_FLAGS:
			body = appendUint32(body, a.kind, a.uint32()&^condition)
		default:
			body = appendAttribute(body, a.kind, a.data)
		}
	}
	return c.request("restore address", parseAddress(o, nil).Prefix.String(), unix.RTM_NEWADDR,
		unix.NLM_F_CREATE|unix.NLM_F_REPLACE, body, nil)
}
