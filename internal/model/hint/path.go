package hint

import "net/netip"

// Hints about paths.
type (
	// FindDrop: packets are dropped somewhere on a path.
	FindDrop struct {
		From string     `json:"from"` // host
		To   netip.Addr `json:"to"`
	}
	// LacksRoute: a route to a destination is missing.
	LacksRoute struct {
		To string `json:"to"`
	}
	// SeeHolder: an address's host may be off, or on another link than an interface (HOST.NAME).
	SeeHolder struct {
		Address netip.Addr `json:"address"`
		Link    string     `json:"link"`
	}
	// SameLink: two interfaces, as HOST.NAME, may be on different links, or one hear no ARP.
	SameLink struct {
		First  string `json:"first"`
		Second string `json:"second"`
	}
)

// OwnEntry: whoever sends to an address looks at its neighbour entry of it.
type OwnEntry struct {
	At        string `json:"at,omitempty"` // the sender; empty: a router
	Address   string `json:"address,omitempty"`
	MAC       string `json:"mac,omitempty"`
	Interface string `json:"interface"`
}

var (
	_ = is[FindDrop]("find_drop")
	_ = is[LacksRoute]("lacks_route")
	_ = is[SeeHolder]("see_holder")
	_ = is[SameLink]("same_link")
	_ = is[OwnEntry]("own_entry")
)
