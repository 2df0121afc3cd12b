//go:build !portable

package netlink

import (
	"cmp"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
)

// Routes lists the routes of all tables, IPv4 then IPv6, without cached clones.
func (c *Conn) Routes() ([]Route, error) {
	names, err := c.names()
	if err != nil {
		return nil, err
	}
	return list(c, "list routes", unix.RTM_GETROUTE, unix.RTM_NEWROUTE, rtmsgLen, bothFamilies(rtmsgLen),
		func(body []byte, _ int64) (Route, bool) {
			if native.Uint32(body[8:])&unix.RTM_F_CLONED != 0 {
				return Route{}, false
			}
			return parseRoute(slices.Clone(body), names), true
		})
}

// MainRoutes lists routes like Routes, but limits their number, because a router has a million: all
// routes of the kernel, boot, router advertisements and DHCP (ip-route(8), proto), all default
// routes, and at most others of the remaining ones. Omitted counts those that were left out.
func (c *Conn) MainRoutes(others int) (routes []Route, omitted int, err error) {
	names, err := c.names()
	if err != nil {
		return nil, 0, err
	}
	all, err := list(c, "list routes", unix.RTM_GETROUTE, unix.RTM_NEWROUTE, rtmsgLen, bothFamilies(rtmsgLen),
		func(body []byte, _ int64) (*Route, bool) {
			if native.Uint32(body[8:])&unix.RTM_F_CLONED != 0 {
				return nil, false
			}
			switch body[5] {
			case unix.RTPROT_KERNEL, unix.RTPROT_BOOT, unix.RTPROT_RA, unix.RTPROT_DHCP:
			default:
				if others--; others < 0 && body[1] > 0 {
					return nil, true
				}
			}
			r := parseRoute(slices.Clone(body), names)
			return &r, true
		})
	for _, r := range all {
		if r == nil {
			omitted++
		} else {
			routes = append(routes, *r)
		}
	}
	return routes, omitted, err
}

func appendHop(b []byte, h hop) []byte {
	b = native.AppendUint16(b, uint16(hopLen+len(h.attributes)))
	b = append(b, h.flags, h.weight)
	b = native.AppendUint32(b, uint32(h.index))
	return append(b, h.attributes...)
}

// ReplaceRoute creates a route. It replaces the first one with the same table, destination and
// metric, if there is one.
func (c *Conn) ReplaceRoute(s RouteSpec) error {
	body, err := c.routeBody(s)
	if err != nil {
		return err
	}
	names, err := c.names()
	if err != nil {
		return err
	}
	return c.request("replace route", parseRoute(body, names).Text, unix.RTM_NEWROUTE, flagsReplace, body, nil)
}

// RestoreRoute creates a route from its description. It replaces the first one with the same key if
// replace is true, and otherwise adds it.
func (c *Conn) RestoreRoute(o Object, replace bool) error {
	body, text, err := routeAgain(o)
	if err != nil {
		return err
	}
	flags := unix.NLM_F_CREATE | unix.NLM_F_APPEND
	if replace {
		flags = flagsReplace
	}
	return c.request("restore route", text, unix.RTM_NEWROUTE, flags, body, nil)
}

// DeleteRoute removes the described route. It is no error if the route does not exist.
func (c *Conn) DeleteRoute(o Object) error {
	body, text, err := routeAgain(o)
	if err != nil {
		return err
	}
	return c.remove("delete route", text, unix.RTM_DELROUTE, body)
}

// routeAgain converts the description of a route to a request, without its current state, which the
// kernel rejects in a request.
func routeAgain(o Object) (body []byte, text string, err error) {
	if err := o.check("restore route", rtmsgLen); err != nil {
		return nil, "", err
	}
	const given = unix.RTNH_F_ONLINK | unix.RTNH_F_PERVASIVE
	body = append(body, o[:rtmsgLen]...)
	native.PutUint32(body[8:], native.Uint32(body[8:])&given)
	_, byID := byKind(o[rtmsgLen:])[rtaNexthopID]
	for a := range attributes(o[rtmsgLen:]) {
		switch a.kind {
		case unix.RTA_CACHEINFO:
			// rta_expires, in USER_HZ: the lifetime of an IPv6 route from a router advertisement.
			if len(a.data) >= 12 {
				if expires := int32(native.Uint32(a.data[8:])); expires > 0 {
					body = appendUint32(body, rtaExpires, uint32(expires)/userHz+1)
				}
			}
			continue
		case unix.RTA_OIF, unix.RTA_GATEWAY, unix.RTA_VIA, unix.RTA_ENCAP, unix.RTA_ENCAP_TYPE:
			if byID {
				continue // the nexthop object has them; the kernel rejects both together
			}
		case unix.RTA_MULTIPATH:
			if byID {
				continue
			}
			var hops []byte
			for h := range nexthops(a.data) {
				h.flags &= given
				hops = appendHop(hops, h)
			}
			body = appendAttribute(body, a.kind, hops)
			continue
		}
		body = appendAttribute(body, a.kind, a.data)
	}
	return body, routeText(o, parseRoute(o, nil), nil), nil
}

// invalid returns an EINVAL that linerate itself detects.
func (s RouteSpec) invalid(detail string) error {
	return &kernel.Error{Op: "replace route", Object: prefixText(s.To), Err: syscall.EINVAL, Detail: detail}
}

func (c *Conn) routeBody(s RouteSpec) ([]byte, error) {
	if !s.To.IsValid() || len(s.Nexthops) == 0 && s.NexthopObject == 0 {
		return nil, s.invalid("a route needs a destination and a next hop")
	}
	to := s.To.Masked()
	af := family(to.Addr())
	scope := byte(unix.RT_SCOPE_UNIVERSE)
	if len(s.Nexthops) == 1 && !s.Nexthops[0].Via.IsValid() && af == unix.AF_INET {
		scope = unix.RT_SCOPE_LINK
	}
	table := cmp.Or(s.Table, unix.RT_TABLE_MAIN)
	body := make([]byte, rtmsgLen, 128)
	body[0], body[1] = af, byte(to.Bits())
	body[5], body[6], body[7] = unix.RTPROT_STATIC, scope, unix.RTN_UNICAST
	body = appendUint32(body, unix.RTA_TABLE, uint32(table))
	if to.Bits() > 0 {
		body = appendAttribute(body, unix.RTA_DST, to.Addr().AsSlice())
	}
	if s.Metric != 0 {
		body = appendUint32(body, unix.RTA_PRIORITY, uint32(s.Metric))
	}
	if s.Source.IsValid() {
		body = appendAttribute(body, unix.RTA_PREFSRC, s.Source.AsSlice())
	}
	if s.InitCwnd != 0 {
		body = appendAttribute(body, unix.RTA_METRICS, appendUint32(nil, rtaxInitCwnd, uint32(s.InitCwnd)))
	}
	if s.NexthopObject != 0 {
		return appendUint32(body, rtaNexthopID, uint32(s.NexthopObject)), nil
	}
	return c.appendHops(body, s)
}

// appendHops appends the next hops to the message of a route.
func (c *Conn) appendHops(body []byte, s RouteSpec) ([]byte, error) {
	af := family(s.To.Addr())
	var hops []byte
	for _, n := range s.Nexthops {
		index := 0
		if n.Interface != "" {
			var err error
			if index, err = c.index(n.Interface); err != nil {
				return nil, err
			}
		}
		var via []byte
		switch addr := n.Via.WithZone(""); {
		case !addr.IsValid():
		case family(addr) == af:
			via = appendAttribute(nil, unix.RTA_GATEWAY, addr.AsSlice())
		case af == unix.AF_INET: // struct rtvia: family (uint16, host byte order), address
			via = appendAttribute(nil, unix.RTA_VIA, append(native.AppendUint16(nil, unix.AF_INET6), addr.AsSlice()...))
		default:
			return nil, s.invalid("an IPv6 route cannot have the IPv4 next hop " + n.Via.String())
		}
		if len(s.Nexthops) == 1 {
			if index != 0 {
				body = appendUint32(body, unix.RTA_OIF, uint32(index))
			}
			return append(body, via...), nil
		}
		if n.Weight < 0 || n.Weight > 256 {
			return nil, s.invalid("a next hop's weight is 1 to 256")
		}
		hops = appendHop(hops, hop{weight: byte(max(n.Weight, 1) - 1), index: index, attributes: via})
	}
	return appendAttribute(body, unix.RTA_MULTIPATH, hops), nil
}

// ExpectRoute returns what Routes would return for a route that has not been created yet.
func (c *Conn) ExpectRoute(s RouteSpec) (Route, error) {
	body, err := c.routeBody(s)
	if err == nil && s.NexthopObject != 0 {
		// The kernel reports the next hops of the object as those of the route.
		if s.Nexthops, err = c.hopsOf(s.NexthopObject); err == nil {
			body, err = c.appendHops(body, s)
		}
	}
	if err != nil {
		return Route{}, err
	}
	names, err := c.names()
	return parseRoute(body, names), err
}
