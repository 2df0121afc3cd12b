package cause

import "net/netip"

// Causes of routes, gateways and reverse-path filters.
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

// Egress is the interface by which a host sends.
type Egress struct {
	Interface string `json:"interface"`
}

// Filter is the interfaces whose reverse-path filter drops packets.
type Filter struct {
	Interfaces []string `json:"interfaces"`
	OneOf      bool     `json:"one_of,omitempty"` // which of them is not known
}

// Gateway is a gateway of a route, on an interface.
type Gateway struct {
	Gateway   netip.Addr `json:"gateway"`
	Interface string     `json:"interface"`
}

// Back is the address of another host to which there is no route back.
type Back struct {
	To   netip.Addr `json:"to"`
	Host string     `json:"host"`
}

// Group is a group of nexthop objects, by its number.
type Group struct {
	ID int `json:"id"`
}
