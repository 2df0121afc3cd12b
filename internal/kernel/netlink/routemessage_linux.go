//go:build !portable

package netlink

import (
	"cmp"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"linerate/internal/model/netstate"
)

// struct rtmsg: family, dst_len, src_len, tos, table, protocol, scope, type,
// flags (uint32).
const rtmsgLen = unix.SizeofRtMsg

// RTA_EXPIRES, RTA_NH_ID and an index in RTA_METRICS (linux/rtnetlink.h).
const (
	rtaExpires   = 0x17
	rtaNexthopID = 0x1e
	rtaxInitCwnd = 11 // RTAX_INITCWND
)

func parseRoute(o Object, names map[int]string) Route {
	r := Route{Object: o, Table: int(o[4]), TOS: o[3], Protocol: o[5]}
	e, flags := &r.Entry, native.Uint32(o[8:])
	to := netip.IPv4Unspecified()
	if o[0] == unix.AF_INET6 {
		to = netip.IPv6Unspecified()
	}
	for a := range attributes(o[rtmsgLen:]) {
		switch a.kind {
		case unix.RTA_DST:
			to = a.addr()
		case unix.RTA_TABLE:
			r.Table = int(a.uint32())
		case unix.RTA_PRIORITY:
			r.Metric = int(a.uint32())
		case unix.RTA_PREFSRC:
			r.Source = a.addr()
		case unix.RTA_OIF:
			r.Interfaces = append(r.Interfaces, names[int(a.uint32())])
			e.Interface = deviceText(int(a.uint32()), names)
		case unix.RTA_GATEWAY, unix.RTA_VIA:
			e.Via = a.gateway().String()
		case rtaNexthopID:
			e.Object = int(a.uint32())
		case unix.RTA_MULTIPATH:
			for hop := range nexthops(a.data) {
				r.Interfaces = append(r.Interfaces, names[hop.index])
				e.Nexthops = append(e.Nexthops, hop.record(names))
			}
		}
	}
	r.To = netip.PrefixFrom(to, int(o[1]))
	if r.Protocol != unix.RTPROT_UNSPEC {
		e.Protocol = nameOr(routeProtocols, r.Protocol)
	}
	r.Text = routeText(o, r, names)
	e.To, e.Table, e.Text, e.Type, e.Metric = r.To.String(), r.Table, r.Text, routeTypes[o[7]], uint32(r.Metric)
	if r.Source.IsValid() {
		e.Source = r.Source.String()
	}
	e.Onlink, e.Dead = flags&unix.RTNH_F_ONLINK != 0, flags&unix.RTNH_F_DEAD != 0
	return r
}

// hop is one struct rtnexthop: length (uint16), flags, hops, index, and its
// attributes.
type hop struct {
	flags, weight uint8
	index         int
	attributes    []byte
}

const hopLen = unix.SizeofRtNexthop

func nexthops(b []byte) func(yield func(hop) bool) {
	return func(yield func(hop) bool) {
		for len(b) >= hopLen {
			size := int(native.Uint16(b))
			if size < hopLen || size > len(b) {
				return
			}
			h := hop{flags: b[2], weight: b[3], index: int(int32(native.Uint32(b[4:]))), attributes: b[hopLen:size]}
			if !yield(h) {
				return
			}
			b = b[min(align(size), len(b)):]
		}
	}
}

func (h hop) record(names map[int]string) netstate.RouteNexthop {
	r := netstate.RouteNexthop{Interface: names[h.index], Weight: int(h.weight) + 1,
		Down: h.flags&(unix.RTNH_F_DEAD|unix.RTNH_F_LINKDOWN) != 0}
	for a := range attributes(h.attributes) {
		if via := a.gateway(); via.IsValid() {
			r.Via = via.String()
		}
	}
	return r
}

// gateway returns the address of RTA_GATEWAY or RTA_VIA. It returns the zero Addr for any other
// attribute of a route.
func (a attribute) gateway() netip.Addr {
	switch {
	case a.kind == unix.RTA_GATEWAY:
		return a.addr()
	case a.kind == unix.RTA_VIA && len(a.data) > 2: // struct rtvia: family (uint16), address
		addr, _ := netip.AddrFromSlice(a.data[2:])
		return addr
	}
	return netip.Addr{}
}

var routeTypes = map[uint8]string{
	unix.RTN_LOCAL: "local", unix.RTN_BROADCAST: "broadcast", unix.RTN_ANYCAST: "anycast",
	unix.RTN_MULTICAST: "multicast", unix.RTN_BLACKHOLE: "blackhole", unix.RTN_UNREACHABLE: "unreachable",
	unix.RTN_PROHIBIT: "prohibit", unix.RTN_THROW: "throw", unix.RTN_NAT: "nat",
}

var routeProtocols = map[uint8]string{
	unix.RTPROT_REDIRECT: "redirect", unix.RTPROT_KERNEL: "kernel", unix.RTPROT_BOOT: "boot",
	unix.RTPROT_STATIC: "static", unix.RTPROT_RA: "ra", unix.RTPROT_BIRD: "bird",
	unix.RTPROT_ZEBRA: "zebra", unix.RTPROT_DHCP: "dhcp", unix.RTPROT_BGP: "bgp", unix.RTPROT_OSPF: "ospf",
}

var routeScopes = map[uint8]string{
	unix.RT_SCOPE_LINK: "link", unix.RT_SCOPE_HOST: "host", unix.RT_SCOPE_SITE: "site",
	unix.RT_SCOPE_NOWHERE: "nowhere",
}

// Indices in RTA_METRICS (linux/rtnetlink.h, RTAX_*).
var routeMetrics = map[uint16]string{
	1: "lock", 2: "mtu", 3: "window", 4: "rtt", 5: "rttvar", 6: "ssthresh", 7: "cwnd", 8: "advmss",
	9: "reordering", 10: "hoplimit", 11: "initcwnd", 12: "features", 13: "rto_min", 14: "initrwnd", 15: "quickack",
}

// routeText formats a route like ip-route(8), without its current state (dead, linkdown) and its
// table.
func routeText(o Object, r Route, names map[int]string) string {
	var b strings.Builder
	if name := routeTypes[o[7]]; name != "" {
		b.WriteString(name + " ")
	}
	b.WriteString(prefixText(r.To))
	var via, device, hops, extra string // in this order, regardless of the order of the attributes
	for a := range attributes(o[rtmsgLen:]) {
		switch a.kind {
		case unix.RTA_SRC:
			fmt.Fprintf(&b, " from %s/%d", a.addr(), o[2])
		case unix.RTA_GATEWAY, unix.RTA_VIA:
			via = viaText(a)
		case unix.RTA_OIF:
			device = " dev " + deviceText(int(a.uint32()), names)
		case unix.RTA_MULTIPATH:
			for h := range nexthops(a.data) {
				hops += " nexthop"
				for attr := range attributes(h.attributes) {
					if attr.kind == unix.RTA_GATEWAY || attr.kind == unix.RTA_VIA {
						hops += viaText(attr)
					}
				}
				hops += fmt.Sprintf(" dev %s weight %d", deviceText(h.index, names), int(h.weight)+1)
				hops += onlink(uint32(h.flags))
			}
		case rtaNexthopID:
			extra += fmt.Sprintf(" nhid %d", a.uint32())
		case unix.RTA_ENCAP_TYPE:
			if len(a.data) >= 2 {
				extra += fmt.Sprintf(" encap type %d", native.Uint16(a.data))
			}
		case unix.RTA_METRICS:
			for m := range attributes(a.data) {
				if name := routeMetrics[m.kind]; name != "" {
					extra += fmt.Sprintf(" %s %d", name, m.uint32())
				} else if m.kind == 16 {
					extra += " congctl " + cString(m.data)
				}
			}
		}
	}
	b.WriteString(via + device)
	if r.Entry.Protocol != "" {
		b.WriteString(" proto " + r.Entry.Protocol)
	}
	if o[0] == unix.AF_INET && o[6] != unix.RT_SCOPE_UNIVERSE {
		b.WriteString(" scope " + nameOr(routeScopes, o[6]))
	}
	if r.Source.IsValid() {
		b.WriteString(" src " + r.Source.String())
	}
	if r.Metric != 0 {
		b.WriteString(" metric " + strconv.Itoa(r.Metric))
	}
	if r.TOS != 0 {
		fmt.Fprintf(&b, " tos 0x%02x", r.TOS)
	}
	return b.String() + onlink(native.Uint32(o[8:])) + extra + hops
}

func viaText(a attribute) string {
	if a.kind == unix.RTA_VIA {
		return " via inet6 " + a.gateway().String()
	}
	return " via " + a.gateway().String()
}

func onlink(flags uint32) string {
	return map[bool]string{true: " onlink"}[flags&unix.RTNH_F_ONLINK != 0]
}

func nameOr(names map[uint8]string, value uint8) string {
	return cmp.Or(names[value], strconv.Itoa(int(value)))
}
