package cause

import "net/netip"

// Causes of what lies between hosts.
var (
	Unreachable = each[Cut]("unreachable")
	PathMTU     = one[Narrow]("path-mtu")

	ResolverDead      = each[Resolver]("resolver-dead")
	ResolverSlow      = each[Server]("resolver-slow")
	ProbeUnanswered   = each[NoEcho]("probe-unanswered")
	ProbeLost         = each[Probed]("probe-lost")
	MTUBlackhole      = each[ProbedMTU]("mtu-blackhole")
	PathMTUSmaller    = each[ProbedMTU]("path-mtu-smaller")
	ConnectUnanswered = each[ProbedPort]("connect-unanswered")

	SwitchDiscards = each[PortObject]("switch-discards")
	SwitchErrors   = each[PortObject]("switch-errors")
	LostAtHop      = each[SwitchHop]("lost-at-hop")
)

// Cut is why a host does not reach another one.
type Cut struct {
	Why       string     `json:"why,omitempty"` // such as NotForwarding; empty: it is not known
	Address   netip.Addr `json:"address,omitzero"`
	Other     string     `json:"other,omitempty"`     // host that is not reached
	Interface string     `json:"interface,omitempty"` // that is down, or may answer for Address by arp_ignore
	Out       string     `json:"out,omitempty"`       // interface that may by arp_filter
}

// Reasons for a Cut.
const (
	NotForwarding = "not-forwarding" // by a host that is used as a router
	NoWayThere    = "no-route"       // to Address of Other
	NoWayBack     = "no-route-back"  // from the host, to Address of Other
	WrongMAC      = "wrong-mac"      // by which the host sends to Address
	IsDown        = "interface-down"
	NoneAnswers   = "arp-ignored"  // for Address
	NoneMay       = "arp-filtered" // answer for Address
)

// Narrow is where packets are too long for a path.
type Narrow struct {
	// At is the interface, as HOST.NAME, that does not take them; empty: it is not known.
	At  string `json:"at,omitempty"`
	MTU int    `json:"mtu,omitempty"` // of At
	// From is the interface of the sender where it is connected to At; empty: a router is between.
	From string `json:"from,omitempty"`
	MSS  int    `json:"mss,omitempty"` // that fits; 0: of datagrams, which have none
	// To is the receiver, where At is not known.
	To netip.Addr `json:"to,omitzero"`
}

// Resolver is a name server that does not answer.
type Resolver struct {
	Server string `json:"server"`
	Silent bool   `json:"silent,omitempty"`  // false: it cannot be asked, or refuses
	Others string `json:"answers,omitempty"` // the first that answers; empty: none does
	First  bool   `json:"first,omitempty"`   // it is asked before that
}

// Waits reports whether each look-up waits for the server.
func (r Resolver) Waits() bool { return r.Silent && (r.First || r.Others == "") }

// Server is a name server.
type Server struct {
	Server string `json:"server"`
}

// Probed is a peer that was probed.
type Probed struct {
	Address string `json:"address"`
}

// ProbedPort is a port of such a peer.
type ProbedPort struct {
	Address string `json:"address"`
	Port    int    `json:"port"`
}

// ProbedMTU is the largest packet that reached such a peer, sent by an interface.
type ProbedMTU struct {
	Address   string `json:"address"`
	MTU       int    `json:"mtu"`
	Interface string `json:"interface"`
}

// NoEcho is a peer that answers no echo request.
type NoEcho struct {
	Address   string `json:"address"`
	Interface string `json:"interface"`
	ARP       string `json:"arp,omitempty"` // ARPAnswered, ARPSilent; empty: it was not asked
	// Astray: packets for other MAC addresses arrived, which may be its answers.
	Astray bool `json:"astray,omitempty"`
}

// What became of ARP requests.
const (
	ARPAnswered = "answered"
	ARPSilent   = "silent"
)

// PortObject is a counter of a switch's port.
type PortObject struct {
	Switch string `json:"switch"`
	Port   string `json:"port"`
	Name   string `json:"if_name,omitempty"` // as the switch names it, if otherwise
	Peer   string `json:"peer"`              // at the other end of its link
	Object string `json:"object"`            // of IF-MIB, such as ifInDiscards
}

// SwitchHop is a part of a path: between a peer and a switch's port, or in the switch before ports.
type SwitchHop struct {
	Switch string   `json:"switch"`
	Ports  []string `json:"ports"`
	Name   string   `json:"if_name,omitempty"` // of the port
	Peer   string   `json:"peer,omitempty"`    // empty: in the switch
}
