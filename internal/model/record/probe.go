package record

// Probe is what a host found out about a peer by sending a few packets, as
// `linerate doctor --probe` does. Times are in milliseconds.
type Probe struct {
	Peer    string `json:"peer"` // as it was named
	Address string `json:"address"`
	// Interface by which its packets leave, and its MTU; absent: not known.
	Interface    string `json:"interface,omitempty"`
	InterfaceMTU int    `json:"interface_mtu,omitempty"`
	// Sent are what was sent, a line for each kind of packet.
	Sent []string `json:"sent"`
	// Missing are the parts that could not be tried, each with the reason.
	Missing []string `json:"missing,omitempty"`

	// ARP are the MAC addresses that answered for the address; absent: none, or it is not on
	// a link of this host, or was not asked.
	ARP []string `json:"arp,omitempty"`
	// Answers are those for the addresses next to it, which are asked for if several MAC
	// addresses answered for the address: one machine with several interfaces answers for
	// others by several as well. States are empty.
	Answers   []Neighbour     `json:"arp_answers,omitempty"`
	Echo      *EchoProbe      `json:"echo,omitempty"`
	PathMTU   *PathMTUProbe   `json:"path_mtu,omitempty"`
	Resolvers []ResolverProbe `json:"resolvers,omitempty"`
	// Reverse is the name of the address, as the first server that answers has it.
	Reverse  *ReverseProbe  `json:"reverse,omitempty"`
	Connects []ConnectProbe `json:"connects,omitempty"`
}

// EchoProbe counts ICMP echo requests and replies.
type EchoProbe struct {
	Sent     int     `json:"sent"`
	Received int     `json:"received"`
	MinMs    float64 `json:"min_ms"`
	MedianMs float64 `json:"median_ms"`
	MaxMs    float64 `json:"max_ms"`
	// OtherMAC is how many packets for other MAC addresses the interface received meanwhile
	// (rx_otherhost_dropped, kernel 5.19 and later).
	OtherMAC uint64 `json:"other_mac,omitempty"`
}

// PathMTUProbe is the largest packet that passes unfragmented.
type PathMTUProbe struct {
	MTU int `json:"mtu"` // 0: none passed
	// Reported: a router reported that a larger one does not pass (ICMP). Otherwise larger ones
	// are lost without a message, unless MTU is that of the interface.
	Reported bool `json:"reported"`
}

// ResolverProbe is one name server of resolv.conf(5).
type ResolverProbe struct {
	Server string  `json:"server"`
	Ms     float64 `json:"ms"`              // until the answer, or until it was given up
	Error  string  `json:"error,omitempty"` // absent: it answered, if only that there is no such name
}

// ResolverSilent is the error of a name server from which nothing came before the deadline.
// With any other, as that there is no route to it, a look-up goes on to the next one at once.
const ResolverSilent = "no answer"

// ReverseProbe is a look-up of the name of an address.
type ReverseProbe struct {
	Name  string  `json:"name,omitempty"` // absent: there is none
	Ms    float64 `json:"ms"`
	Error string  `json:"error,omitempty"`
}

// ConnectProbe is one TCP connection that was opened and closed.
type ConnectProbe struct {
	Port    int     `json:"port"`
	Ms      float64 `json:"ms"`
	Outcome string  `json:"outcome"` // accepted, refused, unanswered, or another error
}

// Outcomes of ConnectProbe.
const (
	ConnectAccepted   = "accepted"
	ConnectRefused    = "refused"
	ConnectUnanswered = "unanswered"
)
