package hint

// OwnEntry: whoever sends to an address looks at its neighbour entry of it.
type OwnEntry struct {
	At        string `json:"at,omitempty"` // the sender; empty: a router
	Address   string `json:"address,omitempty"`
	MAC       string `json:"mac,omitempty"`
	Interface string `json:"interface"`
}

var _ = is[OwnEntry]("own_entry")
