package cause

import "net/netip"

// Causes on the path between hosts: routers, links, switches, and peers that were probed.
var (
	Unreachable = each[Cut]("unreachable")
	PathMTU     = one[Narrow]("path-mtu")

	ResolverDead      = each[Resolver]("resolver-dead")
	ResolverSlow      = each[Server]("resolver-slow")
	ProbeUnanswered   = each[NoEcho]("probe-unanswered")
	ProbeLost         = each[Probed]("probe-lost")
	ProbeDuplicated   = each[Probed]("probe-duplicated")
	MTUBlackhole      = each[ProbedMTU]("mtu-blackhole")
	PathMTUSmaller    = each[ProbedMTU]("path-mtu-smaller")
	ConnectUnanswered = each[ProbedPort]("connect-unanswered")

	SwitchDiscards = each[PortObject]("switch-discards")
	SwitchErrors   = each[PortObject]("switch-errors")
	LostAtHop      = each[SwitchHop]("lost-at-hop")
	BelowDeclared  = each[None]("below-declared")
	OddOneOut      = each[Odd]("odd-one-out")
)

// Cut says why packets from one host do not reach another.
type Cut struct {
	Why       string     `json:"why,omitempty"` // such as NotForwarding; empty: not known
	Address   netip.Addr `json:"address,omitzero"`
	Other     string     `json:"other,omitempty"`     // host that cannot be reached
	Interface string     `json:"interface,omitempty"` // that is down; NoneMay: the only one that arp_ignore lets answer
	Out       string     `json:"out,omitempty"`       // NoneMay: the only one that arp_filter lets answer
}

// Values of Cut.Why. In these comments “the host” is the host that has the finding (Finding.Host).
const (
	NotForwarding = "not-forwarding" // the host is used as a router, and ip_forward is 0
	NoWayThere    = "no-route"       // the host has no route to Address of Other
	NoWayBack     = "no-route-back"  // the host has no route for its answers to Address of Other
	WrongMAC      = "wrong-mac"      // the host has a wrong neighbour entry for Address
	IsDown        = "interface-down"
	NoneAnswers   = "arp-ignored"  // arp_ignore keeps the host from answering for Address
	NoneMay       = "arp-filtered" // arp_ignore and arp_filter together leave no interface that answers for Address
)

// Narrow says where packets are larger than the path accepts.
type Narrow struct {
	// At is the interface, as HOST.NAME, whose MTU is too small; empty: not known.
	At  string `json:"at,omitempty"`
	MTU int    `json:"mtu,omitempty"` // of At, in bytes
	// From is the sender's interface if it is linked to At directly; empty: a router is between them.
	From string `json:"from,omitempty"`
	MSS  int    `json:"mss,omitempty"` // largest TCP MSS that fits, in bytes; 0: the flow sends datagrams
	// To is the address of the receiver if At is not known.
	To netip.Addr `json:"to,omitzero"`
}

// Resolver describes a name server of resolv.conf that does not answer.
type Resolver struct {
	Server string `json:"server"`
	Silent bool   `json:"silent,omitempty"`  // true: no reply until the timeout; false: unreachable, or it refuses
	Others string `json:"answers,omitempty"` // first server that answers; empty: none does
	First  bool   `json:"first,omitempty"`   // resolv.conf lists it before Others
}

// Waits reports whether each look-up waits for this server until its timeout.
func (r Resolver) Waits() bool { return r.Silent && (r.First || r.Others == "") }

// Server names a name server.
type Server struct {
	Server string `json:"server"` // as in resolv.conf
}

// Probed names a peer that was probed (linerate doctor --probe).
type Probed struct {
	Address string `json:"address"`
}

// ProbedPort is a TCP port of a probed peer.
type ProbedPort struct {
	Address string `json:"address"`
	Port    int    `json:"port"`
}

// ProbedMTU is the path MTU to a probed peer.
type ProbedMTU struct {
	Address   string `json:"address"`
	MTU       int    `json:"mtu"`             // largest packet that reached the peer, in bytes
	Below     int    `json:"below,omitempty"` // smallest that did not; 0: one byte more
	Interface string `json:"interface"`       // that sent the probes
}

// NoEcho is a probed peer that answers no ICMP echo request.
type NoEcho struct {
	Address   string `json:"address"`
	Interface string `json:"interface"`
	ARP       string `json:"arp,omitempty"` // ARPAnswered, ARPSilent; empty: no ARP request was sent
	// OtherMAC is true if packets for other MAC addresses arrived at the interface. They may be the peer's
	// answers: with a wrong neighbour entry it sends them to a wrong MAC address.
	OtherMAC bool `json:"astray,omitempty"`
}

// Values of NoEcho.ARP.
const (
	ARPAnswered = "answered"
	ARPSilent   = "silent"
)

// PortObject identifies a counter of a switch port, read by SNMP.
type PortObject struct {
	Switch string `json:"switch"`
	Port   string `json:"port"`
	Name   string `json:"if_name,omitempty"` // name that the switch gives to Port, if it differs
	Peer   string `json:"peer"`              // other end of its link, as "host.interface"
	Object string `json:"object"`            // IF-MIB object, such as ifInDiscards
}

// Odd says what stands apart from its peers: the host, interface or flow that the finding is about, by
// what it sends or receives.
type Odd struct {
	Kind  string `json:"kind"`            // OddHost, OddInterface or OddFlow
	Sends bool   `json:"sends,omitempty"` // false: receives; of a flow it is the same
}

// Values of Odd.Kind.
const (
	OddHost      = "host"
	OddInterface = "interface"
	OddFlow      = "flow"
)

// SwitchHop is the part of a path on which bytes were lost: the cable between Peer and a port, or, if
// Peer is empty, the inside of the switch up to Ports.
type SwitchHop struct {
	Switch string   `json:"switch"`
	Ports  []string `json:"ports"`
	Name   string   `json:"if_name,omitempty"` // name that the switch gives to the port, if it differs
	Peer   string   `json:"peer,omitempty"`    // as "host.interface"; empty: inside the switch
}
