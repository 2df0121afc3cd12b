package hint

import "net/netip"

// Hints about routes.
type (
	// RouteBack: a route to a sender by an interface, without which each filter drops its packets.
	RouteBack struct {
		To        netip.Addr `json:"to"`
		Interface string     `json:"interface"`
	}
	// Symmetric: routes by source, or the loose filter in the step that follows.
	Symmetric struct {
		Others bool `json:"others,omitempty"` // of senders with a route
	}
	// AddRoute: a route to an address, and without the one that discards what is for it.
	AddRoute struct {
		To      netip.Addr `json:"to"`
		Discard string     `json:"discard,omitempty"` // as ip-route(8) prints it; empty: there is none
	}
)

var (
	_ = is[RouteBack]("route_back")
	_ = is[Symmetric]("symmetric")
	_ = is[AddRoute]("add_route")
)
