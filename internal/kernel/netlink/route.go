package netlink

import (
	"fmt"
	"net/netip"
	"strconv"

	"linerate/internal/model/record"
)

// Route is one route of one table, with Text as ip-route(8) spells it.
type Route struct {
	Table      int
	To         netip.Prefix
	TOS        uint8
	Metric     int
	Source     netip.Addr            // preferred; invalid: the kernel chooses
	Protocol   uint8                 // who made it: rtm_protocol
	Interfaces []string              // of all its next hops
	Nexthops   []record.RouteNexthop // if there are several
	Text       string
	Object     Object
}

// Who made a route (linux/rtnetlink.h, RTPROT_*).
const (
	RouteProtocolKernel = 2 // the kernel itself, for an address
	RouteProtocolBird   = 12
)

// FromRoutingDaemon says that a routing daemon made the route, and will see to it again:
// of the numbers from RTPROT_STATIC on those that are kept for one.
func (r Route) FromRoutingDaemon() bool { return routingDaemons[r.Protocol] }

// routingDaemons are gated, MRT, zebra, BIRD, xorp, babeld, openr, and FRR's for
// BGP, IS-IS, OSPF, RIP and EIGRP.
var routingDaemons = map[uint8]bool{8: true, 10: true, 11: true, RouteProtocolBird: true, 14: true, 42: true, 99: true,
	186: true, 187: true, 188: true, 189: true, 192: true}

// RouteSpec describes a unicast route to make.
type RouteSpec struct {
	To       netip.Prefix
	Table    int // 0: main
	Metric   int // 0: the kernel's default
	Source   netip.Addr
	InitCwnd int // segments; 0: the kernel's default
	Nexthops []Nexthop
	// NexthopObject is the number of one, instead of Nexthops; 0: none.
	NexthopObject int
}

// Nexthop is one next hop. An IPv6 Via for an IPv4 route is spoken of as
// "via inet6" (RTA_VIA, kernel 5.2).
type Nexthop struct {
	Via       netip.Addr // invalid: directly attached
	Interface string     // empty: found from Via
	Weight    int        // 0: 1
}

// RouteQuery describes the packet of a route question. Only the destination
// has to be given.
type RouteQuery struct {
	Source, Destination netip.Addr
	// Protocol is IP's number (6: TCP, 17: UDP). With it and the ports the
	// kernel hashes as it does for the packet itself (4.18); 0: not said.
	Protocol                    uint8
	SourcePort, DestinationPort uint16
	// In is the interface by which the packet came to be forwarded; empty: it is made
	// here.
	In string
}

func (q RouteQuery) String() string {
	text := "to " + q.Destination.String()
	if q.Source.IsValid() {
		text += " from " + q.Source.String()
	}
	if q.In != "" {
		text += " iif " + q.In
	}
	if q.Protocol != 0 {
		text += fmt.Sprintf(" ipproto %d sport %d dport %d", q.Protocol, q.SourcePort, q.DestinationPort)
	}
	return text
}

// Lookup is the kernel's answer to a route question.
type Lookup struct {
	Interface string
	Gateway   netip.Addr // invalid: directly attached
	Source    netip.Addr // the source address the kernel would use
	// Nexthops is how many next hops the route has, if the question has a protocol.
	Nexthops int
}

// RouteResult is what came of one of several route questions.
type RouteResult struct {
	Lookup
	Err error
}

// String spells the route that is asked for.
func (s RouteSpec) String() string {
	text := prefixText(s.To.Masked())
	if s.NexthopObject != 0 {
		text += " nhid " + strconv.Itoa(s.NexthopObject)
	}
	for _, n := range s.Nexthops {
		if len(s.Nexthops) > 1 {
			text += " nexthop"
		}
		switch {
		case n.Via.Is6() && s.To.Addr().Is4():
			text += " via inet6 " + n.Via.String()
		case n.Via.IsValid():
			text += " via " + n.Via.String()
		}
		if n.Interface != "" {
			text += " dev " + n.Interface
		}
		if len(s.Nexthops) > 1 {
			text += " weight " + strconv.Itoa(max(n.Weight, 1))
		}
	}
	if s.Source.IsValid() {
		text += " src " + s.Source.String()
	}
	if s.Metric != 0 {
		text += " metric " + strconv.Itoa(s.Metric)
	}
	if s.InitCwnd != 0 {
		text += " initcwnd " + strconv.Itoa(s.InitCwnd)
	}
	if s.Table != 0 && s.Table != TableMain {
		text += " table " + strconv.Itoa(s.Table)
	}
	return text
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
