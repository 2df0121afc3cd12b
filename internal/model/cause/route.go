package cause

import "net/netip"

// Causes of routes, gateways and reverse-path filters.
var (
	GatewayUnresolved = each[Gateway]("gateway-unresolved")
	GatewayOffLink    = each[Gateway]("gateway-off-link")
)

// Gateway is a gateway of a route, on an interface.
type Gateway struct {
	Gateway   netip.Addr `json:"gateway"`
	Interface string     `json:"interface"`
}
