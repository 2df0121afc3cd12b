package hint

import "net/netip"

// Advice about routes.
type (
	// RouteBack advises adding a route to a sender through an interface. Without it, the strict and
	// the loose reverse-path filter both drop the packets of the sender.
	RouteBack struct {
		To        netip.Addr `json:"to"`
		Interface string     `json:"interface"`
	}
	// Symmetric advises routing by source address, or else the loose reverse-path filter, which the
	// next step of the fix sets.
	Symmetric struct {
		Others bool `json:"others,omitempty"` // only for senders that the host has a route to (see RouteBack)
	}
	// AddRoute advises adding a route to an address, and removing the one that discards its packets.
	AddRoute struct {
		To      netip.Addr `json:"to"`
		Discard string     `json:"discard,omitempty"` // as ip-route(8) prints it; empty: there is none
	}
)

var _ = are(RouteBack{}, Symmetric{}, AddRoute{})
