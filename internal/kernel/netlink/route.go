package netlink

import (
	"net/netip"
	"slices"

	"linerate/internal/model/netstate"
)

// Route is a route of a routing table (struct rtmsg, rtnetlink(7)).
type Route struct {
	Table      int
	To         netip.Prefix
	TOS        uint8
	Metric     int
	Source     netip.Addr          // preferred source; the zero Addr: the kernel selects one
	Protocol   uint8               // rtm_protocol: the program that created the route
	Interfaces []string            // of all its next hops
	Text       string              // as ip-route(8) prints it
	Entry      netstate.RouteEntry // in the form of records
	Object     Object
}

const routeProtocolBIRD = 12 // RTPROT_BIRD, linux/rtnetlink.h

// FromBIRD reports whether BIRD created the route.
func (r Route) FromBIRD() bool { return r.Protocol == routeProtocolBIRD }

// FromKernel reports whether the kernel itself created the route, for an address (RTPROT_KERNEL).
func (r Route) FromKernel() bool { return r.Protocol == 2 }

// FromRoutingDaemon reports whether a routing daemon created and maintains the route: gated, MRT,
// zebra, BIRD, xorp, babeld, openr, or FRR for BGP, IS-IS, OSPF, RIP and EIGRP.
func (r Route) FromRoutingDaemon() bool {
	return slices.Contains([]uint8{8, 10, 11, routeProtocolBIRD, 14, 42, 99, 186, 187, 188, 189, 192}, r.Protocol)
}

// RouteSpec describes a unicast route to create.
type RouteSpec struct {
	To       netip.Prefix
	Table    int // 0: main
	Metric   int // 0: the kernel's default
	Source   netip.Addr
	InitCwnd int // segments; 0: the kernel's default
	Nexthops []Nexthop
	// NexthopObject is the ID of a nexthop object that replaces Nexthops. 0: none.
	NexthopObject int
}

// Nexthop is a next hop. An IPv4 route can have an IPv6 Via (RTA_VIA, Linux 5.2).
type Nexthop struct {
	Via       netip.Addr // the zero Addr: directly connected
	Interface string     // empty: determined from Via
	Weight    int        // 1 to 256; 0 means 1
}

func prefixText(p netip.Prefix) string {
	switch {
	case p.Bits() == 0:
		return "default"
	case p.IsSingleIP():
		return p.Addr().String()
	}
	return p.String()
}
