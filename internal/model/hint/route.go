package hint

import "net/netip"

// Advice about routes.
type (
	// RouteBack advises adding a route to a sender by an interface: without one, both kinds of
	// reverse-path filters drop its packets.
	RouteBack struct {
		To        netip.Addr `json:"to"`
		Interface string     `json:"interface"`
	}
	// Symmetric advises routing by source address, or the loose filter of the step that follows.
	Symmetric struct {
		Others bool `json:"others,omitempty"` // it is for the other senders, those that have a route
	}
	// AddRoute advises adding a route to an address, and removing the one that discards its packets.
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
