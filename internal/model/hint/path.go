package hint

import "net/netip"

// Advice about paths.
type (
	// FindDrop advises finding where on a path packets are dropped.
	FindDrop struct {
		From string     `json:"from"` // name of a host
		To   netip.Addr `json:"to"`
	}
	// LacksRoute advises adding a route to a destination.
	LacksRoute struct {
		To string `json:"to"`
	}
	// SeeHolder advises checking that the host with an address is up and on the link of an interface
	// (HOST.NAME).
	SeeHolder struct {
		Address netip.Addr `json:"address"`
		Link    string     `json:"link"`
	}
	// SameLink advises checking that two interfaces (HOST.NAME) are on one link and receive ARP.
	SameLink struct {
		First  string `json:"first"`
		Second string `json:"second"`
	}
)

// OwnEntry advises checking that the neighbour table of a probed peer, or of a router, has the
// right MAC address for this host.
type OwnEntry struct {
	At        string `json:"at,omitempty"`      // address of the peer whose table to check; empty: that of the router
	Address   string `json:"address,omitempty"` // of this host
	MAC       string `json:"mac,omitempty"`     // that the table should have: that of Interface
	Interface string `json:"interface"`
}

var _ = are(FindDrop{}, LacksRoute{}, SeeHolder{}, SameLink{}, OwnEntry{})
