package hint

// Advice about flows that a hash spreads over links.
type (
	// MoreFlows advises running this many flows at the same time: with Flows flows, all of the
	// Links links are used with a probability of at least 95 %.
	MoreFlows struct {
		Flows int `json:"flows"`
		Links int `json:"links"`
	}
	// OrdinaryGroup advises an ordinary group of nexthop objects instead of a resilient one.
	OrdinaryGroup struct {
		Object int `json:"object,omitempty"` // ID of the group if its kind is not known; 0: it is resilient
	}
)

var _ = are(MoreFlows{}, OrdinaryGroup{})
