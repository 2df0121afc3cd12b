package cause

// Causes of links: what a NIC and the other end of its cable do not agree on.
var (
	CarrierLost    = each[Event]("carrier-lost")
	VLANMismatch   = each[Frames]("vlan-mismatch")
	HalfDuplex     = each[None]("half-duplex")
	SpeedBelowBest = each[Speed]("speed-below-best")
	AutonegOff     = each[Negotiation]("autoneg-off")
	LinkDown       = each[None]("link-down")
	CarrierFlaps   = each[None]("carrier-flaps")
	LLDPMTU        = each[Neighbour]("lldp-mtu")
	LLDPLink       = each[Disagreement]("lldp-link")
	LLDPVLAN       = each[NeighbourVLAN]("lldp-vlan")
)

// Event is what happened to an interface, as trials have it: "link eth0 state down".
type Event struct {
	What string `json:"what"`
}

// Frames are those from one interface to another that are not taken where they come in. Ends are
// "host.interface".
type Frames struct {
	From   string `json:"from"`
	To     string `json:"to"`
	At     string `json:"at"`
	Tags   []int  `json:"tags,omitempty"`   // that they have there, the outermost first
	Switch bool   `json:"switch,omitempty"` // At is a switch's port
}

// Speed is a link's, and the fastest that its port supports.
type Speed struct {
	Mbps     int64 `json:"mbps"`
	BestMbps int64 `json:"best_mbps"`
	NoMore   bool  `json:"no_more,omitempty"` // this end offers no more than Mbps
}

// Negotiation is what becomes of a link of which one end alone negotiates.
type Negotiation struct {
	HalfDuplex bool `json:"half_duplex,omitempty"` // otherwise it may have no link
}

// Neighbour is the other end of a cable.
type Neighbour struct {
	Host bool `json:"host,omitempty"` // it is a host with a larger MTU; otherwise it takes smaller frames
}

// Disagreement is in what a NIC and the port at the other end differ.
type Disagreement struct {
	In string `json:"in"` // InDuplex, InNegotiation, InSpeed
}

// What a NIC and a port differ in.
const (
	InDuplex      = "duplex"
	InNegotiation = "negotiation" // the NIC alone negotiates
	InSpeed       = "speed"
)

// NeighbourVLAN is a VLAN that the port at the other end has otherwise, or does not name.
type NeighbourVLAN struct {
	Interface string `json:"interface,omitempty"` // which has VLAN with a tag
	VLAN      int    `json:"vlan,omitempty"`
	NotNamed  bool   `json:"not_named,omitempty"` // otherwise the port has it without a tag
	Bridge    string `json:"bridge,omitempty"`    // whose port has another VLAN without a tag than PVID
	PVID      int    `json:"pvid,omitempty"`
}
