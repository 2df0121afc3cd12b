package kernel

import (
	"net/netip"
	"strconv"
)

// Route is one route of one table, with Text as ip-route(8) spells it.
type Route struct {
	Table    int
	To       netip.Prefix
	TOS      uint8
	Metric   int
	Source   netip.Addr // preferred; invalid: the kernel chooses
	Protocol uint8      // who made it: rtm_protocol
	Ports    []string   // of all its next hops
	Text     string
	Object   Object
}

// RouteProtocolKernel marks routes that the kernel makes for addresses.
const RouteProtocolKernel = 2

// RouteSpec describes a unicast route to make.
type RouteSpec struct {
	To       netip.Prefix
	Table    int // 0: main
	Metric   int // 0: the kernel's default
	Source   netip.Addr
	Nexthops []Nexthop
}

// Nexthop is one next hop. An IPv6 Via for an IPv4 route is spoken of as
// "via inet6" (RTA_VIA, kernel 5.2).
type Nexthop struct {
	Via    netip.Addr // invalid: directly attached
	Port   string     // empty: found from Via
	Weight int        // 0: 1
}

// Lookup is the kernel's answer to a route question.
type Lookup struct {
	Port    string
	Gateway netip.Addr // invalid: directly attached
	Source  netip.Addr // the source address the kernel would use
}

// String spells the route that is asked for.
func (s RouteSpec) String() string {
	text := prefixText(s.To.Masked())
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
		if n.Port != "" {
			text += " dev " + n.Port
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
