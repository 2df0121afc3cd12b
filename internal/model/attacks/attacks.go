// Package attacks declares the attacks that a study can make in a lab: their kinds, with the
// defaults and bounds of each, and the keys of a study file that describe one. Package
// internal/host/attack executes them; docs/decisions/0047 says where they are refused.
package attacks

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"linerate/internal/model/flow"
	"linerate/internal/model/lists"
	"linerate/internal/model/unit"
)

// Kinds of attack.
const (
	SYNFlood             = "syn-flood"
	ACKFlood             = "ack-flood"
	RSTFlood             = "rst-flood"
	UDPFlood             = "udp-flood"
	ICMPFlood            = "icmp-flood"
	Fragments            = "fragments"
	OverlappingFragments = "overlapping-fragments"
	ARPStorm             = "arp-storm"
	ARPSpoofing          = "arp-spoofing"
	NDExhaustion         = "nd-exhaustion"
	Slowloris            = "slowloris"
	IdleConnections      = "idle-connections"
	ZeroWindow           = "zero-window"
)

// Kind describes one kind of attack.
type Kind struct {
	Name string
	// About is a line of the reference: what is sent, and which resource of the victim it exhausts.
	About string
	// Transport is the protocol of the attacked port, flow.TCP or flow.UDP. Empty: the attack has
	// no port.
	Transport string
	// HTTP reports whether the attacked port must serve HTTP.
	HTTP bool
	// Connects reports whether the attack opens TCP connections. False: it sends Ethernet frames.
	Connects bool
	// Random reports whether source addresses are drawn at random from Spec.Sources.
	Random bool
	// Family is 4 or 6 if the attack exists for one version of IP only. 0: for both.
	Family int
	// Payload is the default payload of a packet in bytes. Spec.Size can replace it by a multiple
	// of PayloadStep. 0: the payload has no configurable size.
	Payload, PayloadStep int
	// Rate is the default rate per second, and Connections the default number of concurrent
	// connections.
	Rate, Connections int
	// Machine reports whether the attack fills a table that all network namespaces of the machine
	// share.
	Machine bool
}

// Kinds lists all kinds in the order of the reference. A new kind is a row here, and its frames or
// connections in internal/host/attack.
var Kinds = []Kind{
	{Name: SYNFlood, Transport: flow.TCP, Random: true, Rate: 10_000,
		About: "TCP segments that ask for a connection (SYN) and never complete the handshake (RFC 4987): the " +
			"queue of half-open connections"},
	{Name: ACKFlood, Transport: flow.TCP, Random: true, Rate: 10_000,
		About: "TCP segments of no connection (ACK): the look-up of connections, and an RST for each"},
	{Name: RSTFlood, Transport: flow.TCP, Random: true, Rate: 10_000,
		About: "TCP segments that reset no connection (RST): the look-up of connections"},
	{Name: UDPFlood, Transport: flow.UDP, Random: true, Rate: 10_000, Payload: 18, PayloadStep: 1,
		About: "datagrams to an open port, whose program gets them, or a closed one: a socket's buffer, or ICMP " +
			"errors"},
	{Name: ICMPFlood, Random: true, Rate: 10_000, Payload: 56, PayloadStep: 1,
		About: "ICMP or ICMPv6 echo requests: an answer to each"},
	{Name: Fragments, Random: true, Rate: 2_000, Payload: 1400, PayloadStep: 8,
		About: "first fragments of IP packets whose others never come: the memory for reassembly " +
			"(`net.ipv4.ipfrag_high_thresh`)"},
	{Name: OverlappingFragments, Random: true, Rate: 10_000, Payload: 64, PayloadStep: 8,
		About: "pairs of IP fragments that overlap (RFC 5722, RFC 1858): the CPU time for reassembly"},
	{Name: ARPStorm, Rate: 10_000, Family: 4,
		About: "ARP requests, as broadcasts, for addresses of the victim's network that no host has: the CPU time " +
			"of every host there"},
	{Name: ARPSpoofing, Rate: 10, Family: 4,
		About: "ARP replies to the victim that claim the address of the host `claims`: what the victim sends to it " +
			"goes to the attacker"},
	{Name: NDExhaustion, Random: true, Rate: 5_000, Family: 6, Machine: true,
		About: "echo requests to ever new addresses of the victim's /64, through a router (RFC 6583): the router's " +
			"neighbour table"},
	{Name: Slowloris, Transport: flow.TCP, HTTP: true, Connects: true, Rate: 500, Connections: 1000,
		About: "HTTP requests that never end, a header field each two seconds: the server's connections"},
	{Name: IdleConnections, Transport: flow.TCP, Connects: true, Rate: 500, Connections: 1000,
		About: "TCP connections by which nothing is sent: the server's connections"},
	{Name: ZeroWindow, Transport: flow.TCP, HTTP: true, Connects: true, Rate: 500, Connections: 1000,
		About: "HTTP requests whose response is not read, so that the receiver's window closes (RFC 9293, section " +
			"3.8.6): the server's connections and send buffers; the response has to be larger than the receive " +
			"buffer of 2 KiB"},
}

// Bounds of an attack.
const (
	MaxRate        = 1_000_000 // frames per second
	MaxConnectRate = 10_000    // connections per second
	MaxConnections = 20_000
	MaxPayload     = 1448 // bytes, with room for the headers of IPv6 and of fragments at an MTU of 1500
	MaxAttacks     = 16   // in a workload
	// MaxNeighbours limits the random source addresses within a network that a host of the lab is
	// attached to. Each one takes an entry of the neighbour table, which the whole machine shares.
	MaxNeighbours = 256
)

const defaultSources4, defaultSources6 = "198.18.0.0/15", "2001:2::/48"

// Names returns the names of all kinds.
func Names() (list []string) {
	return lists.Map(Kinds, func(k Kind) string { return k.Name })
}

// Find returns the kind with the given name. It returns false if there is none.
func Find(name string) (Kind, bool) {
	i := slices.IndexFunc(Kinds, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return Kind{}, false
	}
	return Kinds[i], true
}

// Spec is an attack as a study file describes it.
type Spec struct {
	Kind        string       `yaml:"kind,required" json:"kind" doc:"what is done"`
	From        string       `yaml:"from,required" json:"from" doc:"the host that attacks"`
	To          string       `yaml:"to,required" json:"to" doc:"the host that is attacked"`
	Destination netip.Addr   `yaml:"destination" json:"destination,omitzero" doc:"address to attack; absent: the first address of to, preferably on a network of from"`
	Port        int          `yaml:"port" json:"port,omitempty" doc:"port to attack; absent: that of the first flow that connects to this host, of http where the kind is about that"`
	Rate        int          `yaml:"rate" json:"rate,omitempty" doc:"frames or connections per second, on a fixed schedule; absent: as the kind has it"`
	Connections int          `yaml:"connections" json:"connections,omitempty" doc:"of kinds that connect: connections at a time, opened at the rate and again when the server closes them; 1000 when absent"`
	Sources     netip.Prefix `yaml:"sources" json:"sources,omitzero" doc:"network that source addresses are drawn from; absent: 198.18.0.0/15 or 2001:2::/48 (RFC 2544, RFC 5180)"`
	Size        unit.Bytes   `yaml:"size" json:"size,omitempty" doc:"payload of each datagram, echo request or fragment; absent: 18, 56, and 1400 or 64"`
	Claims      string       `yaml:"claims" json:"claims,omitempty" doc:"arp-spoofing: the host whose address is claimed"`
}

// Describe returns the accepted values of a key whose values are in a registry.
func (Spec) Describe(key string) (doc string, enum []string) {
	if key == "kind" {
		enum = Names()
	}
	return "", enum
}

// PerSecond returns the rate of frames or connections: that of the Spec or the kind's default.
func (s Spec) PerSecond() int {
	k, _ := Find(s.Kind)
	return cmp.Or(s.Rate, k.Rate)
}

// AtATime returns the maximum number of concurrent connections. 0: the kind opens none.
func (s Spec) AtATime() int {
	k, _ := Find(s.Kind)
	return cmp.Or(s.Connections, k.Connections)
}

// Payload returns the payload of each packet in bytes.
func (s Spec) Payload() int {
	k, _ := Find(s.Kind)
	if s.Size != 0 {
		return int(s.Size)
	}
	return k.Payload
}

// SourcesOf returns the network of random source addresses for IPv6 or IPv4. The zero Prefix means
// that source addresses are not random.
func (s Spec) SourcesOf(six bool) netip.Prefix {
	k, _ := Find(s.Kind)
	switch {
	case !k.Random:
		return netip.Prefix{}
	case s.Sources.IsValid():
		return s.Sources.Masked()
	case six:
		return netip.MustParsePrefix(defaultSources6)
	}
	return netip.MustParsePrefix(defaultSources4)
}

// Check reports values that are invalid regardless of the rest of the study. Given reports whether
// the file contains a key.
func (s Spec) Check(given func(key string) bool, report func(key, format string, args ...any)) {
	k, known := Find(s.Kind)
	if !known {
		return // which decoding has said
	}
	most := MaxRate
	if k.Connects {
		most = MaxConnectRate
	}
	if given("rate") && (s.Rate < 1 || s.Rate > most) {
		report("rate", "rate %d: expected 1 to %d per second", s.Rate, most)
	}
	switch {
	case !given("connections"):
	case !k.Connects:
		report("connections", "connections are of kinds that connect, and %s sends frames", s.Kind)
	case s.Connections < 1 || s.Connections > MaxConnections:
		report("connections", "connections %d: expected 1 to %d", s.Connections, MaxConnections)
	}
	switch {
	case !given("port"):
	case k.Transport == "":
		report("port", "%s goes to no port", s.Kind)
	case s.Port < 1 || s.Port > 65535:
		report("port", "port %d: expected 1 to 65535", s.Port)
	}
	if given("sources") && !k.Random {
		report("sources", "%s has the attacker's own addresses", s.Kind)
	}
	switch {
	case !given("size"):
	case k.Payload == 0:
		report("size", "packets of %s have no payload", s.Kind)
	case s.Size < unit.Bytes(k.PayloadStep) || s.Size > MaxPayload || int(s.Size)%k.PayloadStep != 0:
		step := ""
		if k.PayloadStep > 1 {
			step = fmt.Sprintf(", a multiple of %d", k.PayloadStep)
		}
		report("size", "size %d: expected %d to %d bytes%s", s.Size, k.PayloadStep, MaxPayload, step)
	case s.Kind == OverlappingFragments && s.Size < 16:
		report("size", "size %d: expected 16 bytes or more, so that two fragments overlap", s.Size)
	}
	switch {
	case s.Kind == ARPSpoofing && s.Claims == "":
		report("", "arp-spoofing needs claims: the host whose address is claimed")
	case s.Kind != ARPSpoofing && given("claims"):
		report("claims", "claims is of arp-spoofing, and the kind is %s", s.Kind)
	}
}
