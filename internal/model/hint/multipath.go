package hint

// Hints about flows that a hash spreads.
type (
	// MoreFlows: so many flows at a time use every link with a chance of 95 %.
	MoreFlows struct {
		Flows int `json:"flows"`
		Links int `json:"links"`
	}
	// OrdinaryGroup: an ordinary group of nexthop objects in place of a resilient one.
	OrdinaryGroup struct {
		Object int `json:"object,omitempty"` // whose kind is not known; 0: it is resilient
	}
)

var (
	_ = is[MoreFlows]("more_flows")
	_ = is[OrdinaryGroup]("ordinary_group")
)
