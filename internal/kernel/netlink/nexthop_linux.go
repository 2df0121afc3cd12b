//go:build !portable

package netlink

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
	"linerate/internal/model/setting"
	"linerate/internal/model/unit"
)

// struct nhmsg: family, scope, protocol, reserved, flags (uint32).
const nhmsgLen = 8

// NHA_* (linux/nexthop.h).
const (
	nhaID        = 1
	nhaGroup     = 2
	nhaGroupType = 3
	nhaBlackhole = 4
	nhaOIF       = 5
	nhaGateway   = 6
	nhaEncapType = 7
	nhaEncap     = 8
	nhaFDB       = 11
	nhaResGroup  = 12

	nhaResBuckets    = 1
	nhaResIdle       = 2
	nhaResUnbalanced = 3
)

const (
	groupResilient = 1 // NEXTHOP_GRP_TYPE_RES
	memberLen      = 8 // struct nexthop_grp: id (uint32), weight − 1, its high byte, 2 reserved
)

// NexthopObjects lists the nexthop objects by ID. Kernels before Linux 5.3 have none.
func (c *Conn) NexthopObjects() ([]NexthopObject, error) {
	names, err := c.names()
	if err != nil {
		return nil, err
	}
	objects, err := list(c, "list nexthop objects", unix.RTM_GETNEXTHOP, unix.RTM_NEWNEXTHOP, nhmsgLen,
		[][]byte{make([]byte, nhmsgLen)},
		each(func(body []byte) NexthopObject { return parseNexthop(slices.Clone(body), names) }))
	if errors.Is(err, syscall.EOPNOTSUPP) {
		return nil, nil
	}
	return objects, err
}

func parseNexthop(o Object, names map[int]string) NexthopObject {
	flags := native.Uint32(o[4:])
	n := NexthopObject{Object: o, Dead: flags&unix.RTNH_F_DEAD != 0, LinkDown: flags&unix.RTNH_F_LINKDOWN != 0}
	for a := range attributes(o[nhmsgLen:]) {
		switch a.kind {
		case nhaID:
			n.ID = int(a.uint32())
		case nhaBlackhole:
			n.Blackhole = true
		case nhaFDB:
			n.FDB = true
		case nhaOIF:
			n.Interface = deviceText(int(a.uint32()), names)
		case nhaGateway:
			n.Via = a.addr()
		case nhaGroup:
			for b := a.data; len(b) >= memberLen; b = b[memberLen:] {
				n.Group = append(n.Group, setting.Member{ID: int(native.Uint32(b)), Weight: int(b[4]) +
					int(b[5])<<8 + 1})
			}
		case nhaResGroup:
			duration := func(kind uint16) unit.Duration {
				return unit.Duration(within(a.data, kind).uint32()) * unit.Duration(time.Second) / userHz
			}
			n.Resilient = &setting.Resilient{Buckets: within(a.data, nhaResBuckets).uint16(),
				IdleTimer: duration(nhaResIdle), UnbalancedTimer: duration(nhaResUnbalanced)}
		}
	}
	return n
}

// ReplaceNexthopObject creates an object, or changes the one with the same ID. The kernel does not
// convert between kinds of groups (EINVAL).
func (c *Conn) ReplaceNexthopObject(n NexthopObject) error {
	fail := func(detail string) error {
		return &kernel.Error{Op: "replace nexthop object", Object: n.String(), Err: syscall.EINVAL, Detail: detail}
	}
	if n.ID <= 0 || int64(n.ID) > math.MaxUint32 {
		return fail("a nexthop object needs a number above 0")
	}
	body := make([]byte, nhmsgLen, 96)
	body[2] = unix.RTPROT_STATIC
	body = appendUint32(body, nhaID, uint32(n.ID))
	if len(n.Group) > 0 {
		var members []byte
		for _, m := range n.Group {
			weight := max(m.Weight, 1) - 1
			if weight > 255 {
				return fail("a member's weight is 1 to 256")
			}
			members = native.AppendUint32(members, uint32(m.ID))
			members = append(members, byte(weight), 0, 0, 0)
		}
		body = appendAttribute(body, nhaGroup, members)
		if n.Resilient != nil {
			body = appendAttribute(body, nhaGroupType, native.AppendUint16(nil, groupResilient))
			body = appendAttribute(body, nhaResGroup|unix.NLA_F_NESTED, resilientAttributes(*n.Resilient))
		}
	} else {
		index, err := c.index(n.Interface)
		if err != nil {
			return err
		}
		body[0] = unix.AF_INET
		body = appendUint32(body, nhaOIF, uint32(index))
		if n.Via.IsValid() {
			body[0] = family(n.Via)
			body = appendAttribute(body, nhaGateway, n.Via.WithZone("").AsSlice())
		}
	}
	return c.request("replace nexthop object", n.String(), unix.RTM_NEWNEXTHOP, flagsReplace, body, nil)
}

func resilientAttributes(r setting.Resilient) []byte {
	ticks := func(d unit.Duration) uint32 { return uint32(d * userHz / unit.Duration(time.Second)) }
	b := appendAttribute(nil, nhaResBuckets, native.AppendUint16(nil, uint16(r.Buckets)))
	b = appendUint32(b, nhaResIdle, ticks(r.IdleTimer))
	return appendUint32(b, nhaResUnbalanced, ticks(r.UnbalancedTimer))
}

// RestoreNexthopObject creates an object from its description.
func (c *Conn) RestoreNexthopObject(o Object) error {
	if err := o.check("restore nexthop object", nhmsgLen); err != nil {
		return err
	}
	n := parseNexthop(o, nil)
	body := slices.Clone(o[:nhmsgLen])
	body[1] = 0 // the kernel reports the scope, but rejects it in a request
	native.PutUint32(body[4:], native.Uint32(body[4:])&unix.RTNH_F_ONLINK)
	for a := range attributes(o[nhmsgLen:]) {
		switch a.kind {
		case nhaID, nhaGroup, nhaGroupType, nhaBlackhole, nhaOIF, nhaGateway, nhaEncapType, nhaEncap, nhaFDB:
			body = appendAttribute(body, a.kind, a.data)
		case nhaResGroup:
			body = appendAttribute(body, a.kind|unix.NLA_F_NESTED, resilientAttributes(*n.Resilient))
		}
	}
	return c.request("restore nexthop object", n.String(), unix.RTM_NEWNEXTHOP, flagsReplace, body, nil)
}

// DeleteNexthopObject removes an object and the routes that use it. It is no error if the object
// does not exist.
func (c *Conn) DeleteNexthopObject(id int) error {
	body := appendUint32(make([]byte, nhmsgLen), nhaID, uint32(id))
	return c.remove("delete nexthop object", fmt.Sprintf("id %d", id), unix.RTM_DELNEXTHOP, body)
}

// hopsOf returns the next hops of a route that refers to an object.
func (c *Conn) hopsOf(id int) ([]Nexthop, error) {
	all, err := c.NexthopObjects()
	if err != nil {
		return nil, err
	}
	byID := map[int]NexthopObject{}
	for _, n := range all {
		byID[n.ID] = n
	}
	n, known := byID[id]
	if !known {
		return nil, &kernel.Error{Op: "find nexthop object", Object: fmt.Sprintf("id %d", id), Err: syscall.ENOENT}
	}
	if len(n.Group) == 0 {
		return []Nexthop{{Via: n.Via, Interface: n.Interface}}, nil
	}
	var hops []Nexthop
	for _, m := range n.Group {
		hops = append(hops, Nexthop{Via: byID[m.ID].Via, Interface: byID[m.ID].Interface, Weight: m.Weight})
	}
	return hops, nil
}
