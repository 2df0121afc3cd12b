package cause

import "net/netip"

// Causes in routes, gateways and reverse-path filters.
var (
	SameSubnetOneEgress = one[Egress]("same-subnet-one-egress")
	RPFilterDrop        = one[Filter]("rp-filter-drop")
	StrictRPFilter      = one[Filter]("strict-rp-filter")
	LooseRPFilter       = one[None]("loose-rp-filter")
	GatewayUnresolved   = each[Gateway]("gateway-unresolved")
	GatewayOffLink      = each[Gateway]("gateway-off-link")
	BlackholeRoute      = one[None]("blackhole-route")
	ReturnRouteMissing  = each[Back]("return-route-missing")
	NexthopDead         = each[Group]("nexthop-dead")
	RuleWithoutRoutes   = one[None]("rule-without-routes")
	RulesMany           = one[None]("rules-many")
)

// Egress names the interface by which a host sends.
type Egress struct {
	Interface string `json:"interface"` // the same for every source address
}

// Filter names the interfaces whose reverse-path filter (rp_filter) drops packets.
type Filter struct {
	Interfaces []string `json:"interfaces"`
	OneOf      bool     `json:"one_of,omitempty"` // one of them drops, and it is not known which
}

// Gateway is the gateway of a route, and the interface that leads to it.
type Gateway struct {
	Gateway   netip.Addr `json:"gateway"`
	Interface string     `json:"interface"`
}

// Back is a sender whose address the host has no route to, so that answers do not leave.
type Back struct {
	To   netip.Addr `json:"to"`
	Host string     `json:"host"`
}

// Group identifies a group of nexthop objects.
type Group struct {
	ID int `json:"id"` // as in ip nexthop show
}
