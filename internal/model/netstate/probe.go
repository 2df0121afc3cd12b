package netstate

// Probe is what a host learned about a peer by sending a few packets, as `linerate doctor --probe`
// does. Times are in milliseconds.
type Probe struct {
	Peer    string `json:"peer" is:"host"` // as the user named it
	Address string `json:"address" is:"peer"`
	// Interface is the one through which packets to the peer leave, with its MTU. Absent: unknown.
	Interface    string `json:"interface,omitempty" is:"interface"`
	InterfaceMTU int    `json:"interface_mtu,omitempty"`
	// Sent describes what was sent, one line for each kind of packet.
	Sent []string `json:"sent" is:"text"`
	// Missing lists the parts that could not be tried, each with the reason.
	Missing []string `json:"missing,omitempty" is:"text"`

	// ARP lists the MAC addresses that answered for the address. Absent: none answered, the address
	// is not on a link of this host, or no request was sent.
	ARP []string `json:"arp,omitempty" is:"link"`
	// Answers are those for adjacent addresses. These are requested if several MAC addresses
	// answered for the address: a machine with several interfaces on the link answers for its other
	// addresses in the same way. States are empty.
	Answers   []Neighbour     `json:"arp_answers,omitempty"`
	Echo      *EchoProbe      `json:"echo,omitempty"`
	PathMTU   *PathMTUProbe   `json:"path_mtu,omitempty"`
	Resolvers []ResolverProbe `json:"resolvers,omitempty"`
	// Reverse is the name of the address according to the first server that answers.
	Reverse  *ReverseProbe  `json:"reverse,omitempty"`
	Connects []ConnectProbe `json:"connects,omitempty"`
}

// EchoProbe counts ICMP echo requests and replies. Times that are 0 are unknown: there was no reply, or
// ping(8) did not print them.
type EchoProbe struct {
	Sent     int     `json:"sent"`
	Received int     `json:"received"`
	MinMs    float64 `json:"min_ms"`
	MedianMs float64 `json:"median_ms"`
	MaxMs    float64 `json:"max_ms"`
	// OtherMAC counts packets for other MAC addresses that the interface received meanwhile
	// (rx_otherhost_dropped, kernel 5.19 and later).
	OtherMAC uint64 `json:"other_mac,omitempty"`
	// Duplicates counts further replies to a request.
	Duplicates int `json:"duplicates,omitempty"`
}

// PathMTUProbe is the largest packet that reaches the peer unfragmented.
type PathMTUProbe struct {
	MTU int `json:"mtu"` // 0: none passed
	// Below is the size of the smallest packets that are known to be lost. 0: those with one byte more.
	Below int `json:"below,omitempty"`
	// Reported reports whether a router sent an ICMP message for larger packets. False: they are
	// lost without a message, unless MTU is that of the interface.
	Reported bool `json:"reported"`
}

// ResolverProbe is the test of one name server of resolv.conf(5).
type ResolverProbe struct {
	Server string  `json:"server" is:"address"`
	Ms     float64 `json:"ms"`                        // until the answer or the timeout
	Error  string  `json:"error,omitempty" is:"text"` // absent: it answered, even if the name does not exist
}

// ResolverSilent is the error of a name server that did not answer in time. With any other error,
// such as no route to it, a lookup immediately tries the next server.
const ResolverSilent = "no answer"

// ReverseProbe is a lookup of the name of an address.
type ReverseProbe struct {
	Name  string  `json:"name,omitempty" is:"host"` // absent: there is none
	Ms    float64 `json:"ms"`
	Error string  `json:"error,omitempty" is:"text"`
}

// ConnectProbe is the attempt to open a TCP connection, which is closed at once.
type ConnectProbe struct {
	Port    int     `json:"port"`
	Ms      float64 `json:"ms"`
	Outcome string  `json:"outcome" is:"words"` // accepted, refused, unanswered, or another error
}

// Values of ConnectProbe.Outcome.
const (
	ConnectAccepted   = "accepted"
	ConnectRefused    = "refused"
	ConnectUnanswered = "unanswered"
)
