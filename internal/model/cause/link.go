package cause

// Causes in links: lost carrier, and settings in which the two ends of a cable differ.
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

// Event describes what happened to an interface.
type Event struct {
	What string `json:"what"` // as in the trial record: "link eth0 state down"
}

// Frames describes frames that are rejected because of their VLAN tags. From, To and At are written
// as "host.interface".
type Frames struct {
	From   string `json:"from"`
	To     string `json:"to"`
	At     string `json:"at"`               // interface or port that rejects them
	Tags   []int  `json:"tags,omitempty"`   // tags that they carry at At, outermost first
	Switch bool   `json:"switch,omitempty"` // true: At is a switch port; false: an interface of a host
}

// Speed compares a link's speed with the fastest that its port supports.
type Speed struct {
	Mbps     int64 `json:"mbps"`
	BestMbps int64 `json:"best_mbps"`
	NoMore   bool  `json:"no_more,omitempty"` // this end does not advertise more than Mbps
}

// Negotiation says what happens to a link if only one of its ends uses autonegotiation.
type Negotiation struct {
	HalfDuplex bool `json:"half_duplex,omitempty"` // true: the other end becomes half duplex; false: maybe no link
}

// Neighbour says how the device at the other end of a cable contradicts the MTU of an interface.
type Neighbour struct {
	Host bool `json:"host,omitempty"` // true: it is a host with a larger MTU; false: it accepts only smaller frames
}

// Disagreement says in which setting a NIC and the port at the other end differ.
type Disagreement struct {
	In string `json:"in"` // InDuplex, InNegotiation, InSpeed
}

// Values of Disagreement.In.
const (
	InDuplex      = "duplex"
	InNegotiation = "negotiation" // the NIC uses autonegotiation, the port does not
	InSpeed       = "speed"
)

// NeighbourVLAN describes a VLAN on which an interface and the port at the other end disagree. Either
// Interface and VLAN are set, or Bridge and PVID.
type NeighbourVLAN struct {
	Interface string `json:"interface,omitempty"` // VLAN interface that sends VLAN tagged
	VLAN      int    `json:"vlan,omitempty"`
	NotNamed  bool   `json:"not_named,omitempty"` // true: LLDP does not list VLAN; false: it is untagged
	Bridge    string `json:"bridge,omitempty"`    // bridge on which the interface has another untagged VLAN than PVID
	PVID      int    `json:"pvid,omitempty"`      // untagged VLAN of the port at the other end
}
