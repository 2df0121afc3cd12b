package hint

// Advice about flows that a hash spreads over links.
type (
	// MoreFlows advises so many flows at a time that every link is used with a probability of 95 %.
	MoreFlows struct {
		Flows int `json:"flows"`
		Links int `json:"links"`
	}
	// OrdinaryGroup advises an ordinary group of nexthop objects instead of a resilient one.
	OrdinaryGroup struct {
		Object int `json:"object,omitempty"` // group whose kind is not known; 0: it is known to be resilient
	}
)

var (
	_ = is[MoreFlows]("more_flows")
	_ = is[OrdinaryGroup]("ordinary_group")
)
