// Package limits computes the most that a path can carry from the rates of links, headers of frames
// and caps of flows. It measures nothing and does not consider what hosts can do. A limit of 0 is
// unknown.
//
// Framing: IEEE 802.3 (preamble 8, header 14, at least 46 bytes of data, check sequence 4, gap 12
// bytes; 802.1Q tag 4), RFC 791, RFC 8200, RFC 9293, and RFC 7323 for timestamps.
package limits

import (
	"cmp"
	"fmt"

	"linerate/internal/model/lists"
	"linerate/internal/model/record"
)

// Sizes in bytes.
const (
	ethernetHeader = 14
	ethernetRest   = 8 + 4 + 12 // preamble, frame check sequence, gap
	vlanTag        = 4
	ipv4Header     = 20
	ipv6Header     = 40
	tcpHeader      = 20
	tcpTimestamps  = 12 // padded; every segment carries them (RFC 7323)
	udpHeader      = 8
	fragmentHeader = 8  // IPv6 only: IPv4 has these fields in its header
	leastData      = 46 // Ethernet pads shorter data
	defaultMTU     = 1500
)

// Frame describes how payload is wrapped. The zero value is TCP with timestamps over IPv4 on
// untagged Ethernet, MTU 1500.
type Frame struct {
	MTU          int  // 0: 1500
	IPv6         bool // otherwise IPv4
	UDP          bool // otherwise TCP
	NoTimestamps bool // TCP without RFC 7323 timestamps
	// MSS is TCP_MAXSEG; 0: as the MTU allows. As in Linux, TCP options reduce the payload of a
	// segment.
	MSS int
	// Datagram is the payload of each UDP datagram; 0: what the MTU allows. A larger one takes
	// several packets, each with an IP header.
	Datagram int
	VLANs    int // 802.1Q tags; a Linux qdisc does not count them, because the kernel keeps them outside the packet
	Tunnel   int // bytes that tunnels add to each packet, such as 50 for VXLAN over IPv4
	// TunnelUnit: a tunnel also pads each packet to a multiple of this many bytes, but not beyond
	// the MTU; 0: none does.
	TunnelUnit int
	// Shaped: the rate is that of a Linux token bucket (tbf, htb), which counts a frame from its
	// Ethernet header to its last payload byte and nothing that the wire adds.
	Shaped bool
	// Shaper names the qdisc that has the rate, such as "tbf on client.eth0". Overhead is what it
	// counts in addition for each frame (tc-stab(8)); below 0: it counts that much less.
	Shaper   string
	Overhead int
}

// Headers returns the bytes before the payload in a frame, including Ethernet's header: what an
// interface's byte counter counts besides the payload. For a datagram in several packets it is the
// mean of these packets.
func (f Frame) Headers() float64 {
	packets := float64(f.Packets())
	if packets == 1 {
		return float64(ethernetHeader + f.ipAndTransport())
	}
	return float64(ethernetHeader+f.ipAndTransport()-udpHeader+f.fragment()) + udpHeader/packets
}

func (f Frame) ipAndTransport() int {
	size := ipv4Header
	if f.IPv6 {
		size = ipv6Header
	}
	switch {
	case f.UDP:
		size += udpHeader
	case f.NoTimestamps:
		size += tcpHeader
	default:
		size += tcpHeader + tcpTimestamps
	}
	return size
}

// mtu returns the MTU, or the default if it is 0.
func (f Frame) mtu() int { return cmp.Or(f.MTU, defaultMTU) }

// Packets returns the number of packets of a datagram: 1, unless it is larger than the MTU.
func (f Frame) Packets() int {
	if !f.UDP || f.Datagram <= f.MostUnfragmented() {
		return 1
	}
	ip := f.ipAndTransport() - udpHeader
	each := (f.mtu() - ip - f.fragment()) &^ 7
	if each <= 0 {
		return 1 // see Check
	}
	return (f.Datagram + udpHeader + each - 1) / each
}

// MostUnfragmented returns the size of the largest datagram that fits in one packet.
func (f Frame) MostUnfragmented() int { return f.mtu() - f.ipAndTransport() }

// fragment returns what each packet of a fragmented datagram has besides the IP header.
func (f Frame) fragment() int {
	if f.IPv6 {
		return fragmentHeader
	}
	return 0
}

// Payload returns the most that one frame carries; for a datagram in several packets, what these
// carry together.
func (f Frame) Payload() int {
	payload := f.mtu() - f.ipAndTransport()
	if f.UDP && f.Datagram > 0 {
		return f.Datagram
	}
	if f.MSS > 0 && !f.UDP {
		capped := f.MSS
		if !f.NoTimestamps {
			capped -= tcpTimestamps
		}
		payload = min(payload, capped)
	}
	return payload
}

// Wire returns how many bytes of the link's rate a full frame takes; for a datagram in several
// packets, what these take together.
func (f Frame) Wire() int {
	return lists.Sum(f.Parts(), func(p Part) int { return p.Bytes })
}

// sizes returns the size of a frame's IP packet as last. For a datagram in several packets it is
// that of the last packet, and before is that of each other one.
func (f Frame) sizes() (before, last int) {
	packets := f.Packets()
	if packets == 1 {
		return 0, f.Payload() + f.ipAndTransport()
	}
	ip := f.ipAndTransport() - udpHeader + f.fragment()
	before = (f.mtu()-ip)&^7 + ip
	return before, f.Datagram + udpHeader - (packets-1)*(before-ip) + ip
}

// tunnelPadding returns what a tunnel adds to packets whose sizes are not multiples of TunnelUnit:
// to all packets of a frame, and to the last of them.
func (f Frame) tunnelPadding() (all, last int) {
	if f.TunnelUnit == 0 {
		return 0, 0
	}
	pad := func(size int) int { return min(f.mtu(), (size+f.TunnelUnit-1)/f.TunnelUnit*f.TunnelUnit) - size }
	before, rest := f.sizes()
	last = pad(rest)
	return (f.Packets()-1)*pad(before) + last, last
}

// padding returns what Ethernet adds to data that is too short. Of a datagram only the last packet
// can be.
func (f Frame) padding() int {
	if f.Shaped {
		return 0
	}
	_, last := f.sizes()
	_, padded := f.tunnelPadding()
	return max(0, leastData-last-padded-f.Tunnel)
}

// Fraction returns goodput divided by rate; 0 if not even the headers fit.
func (f Frame) Fraction() float64 {
	if f.mtu() <= f.ipAndTransport() || f.Payload() <= 0 {
		return 0
	}
	return float64(f.Payload()) / float64(f.Wire())
}

// Part is one part of a frame.
type Part struct {
	Name  string
	Bytes int
}

// Parts lists the parts of a full frame with their bytes, payload first. They add up to Wire.
func (f Frame) Parts() []Part {
	packets := f.Packets()
	parts := []Part{{"payload", f.Payload()}}
	switch {
	case f.UDP:
		parts = append(parts, Part{"UDP header", udpHeader})
	case f.NoTimestamps:
		parts = append(parts, Part{"TCP header", tcpHeader})
	default:
		parts = append(parts, Part{"TCP header", tcpHeader}, Part{"TCP timestamps", tcpTimestamps})
	}
	if f.IPv6 {
		parts = append(parts, Part{"IPv6 header", packets * ipv6Header})
	} else {
		parts = append(parts, Part{"IPv4 header", packets * ipv4Header})
	}
	if packets > 1 && f.IPv6 {
		parts = append(parts, Part{"fragment headers", packets * fragmentHeader})
	}
	parts = append(parts, Part{"Ethernet header", packets * ethernetHeader})
	if f.Tunnel > 0 {
		parts = append(parts, Part{"tunnel headers", packets * f.Tunnel})
	}
	if all, _ := f.tunnelPadding(); all > 0 {
		parts = append(parts, Part{"tunnel padding", all})
	}
	if f.VLANs > 0 && !f.Shaped {
		parts = append(parts, Part{"VLAN tags", packets * f.VLANs * vlanTag})
	}
	if pad := f.padding(); pad > 0 {
		parts = append(parts, Part{"padding", pad})
	}
	if f.Overhead != 0 {
		parts = append(parts, Part{"the shaper's overhead", packets * f.Overhead})
	}
	if !f.Shaped {
		parts = append(parts, Part{"preamble, check sequence and gap", packets * ethernetRest})
	}
	return parts
}

// Tunnels has the bytes that tunnels over IPv4 add to each packet: an IP header of 20 bytes and the
// tunnel's own header, with an Ethernet header if it carries frames.
var Tunnels = map[string]int{
	"ipip":      ipv4Header,                                  // RFC 2003
	"gre":       ipv4Header + 4,                              // RFC 2784, without key and sequence number
	"vxlan":     ipv4Header + udpHeader + 8 + ethernetHeader, // RFC 7348
	"geneve":    ipv4Header + udpHeader + 8 + ethernetHeader, // RFC 8926, without options
	"wireguard": ipv4Header + udpHeader + 32,                 // type, receiver, counter and tag of a transport message
}

// wireguardUnit: WireGuard pads packets to a multiple of this many bytes, but not beyond its
// interface's MTU (MESSAGE_PADDING_MULTIPLE and calculate_skb_padding in drivers/net/wireguard).
const wireguardUnit = 16

// Through returns the frame of a link whose packets go through one of Tunnels: the MTU is reduced
// by what the tunnel adds. Over IPv6 the IP header has 40 bytes instead of 20. ipip and gre then
// add 8 more for the encapsulation limit (RFC 2473, section 4.1.1), a destination option that
// Linux's ip6tnl and ip6gre set by default (encaplimit none disables it).
func (f Frame) Through(tunnel string, overIPv6 bool) Frame {
	bytes := Tunnels[tunnel]
	if overIPv6 {
		bytes += ipv6Header - ipv4Header
		if tunnel == "ipip" || tunnel == "gre" {
			bytes += 8
		}
	}
	if tunnel == "wireguard" {
		f.TunnelUnit = wireguardUnit
	}
	f.MTU, f.Tunnel = f.mtu()-bytes, f.Tunnel+bytes
	return f
}

// Check returns what is wrong with a frame, for example one built from options; nil: nothing.
func (f Frame) Check() error {
	switch {
	case f.MTU < 0 || f.MTU > 65535:
		return fmt.Errorf("MTU %d: expected 68 to 65535 bytes", f.MTU)
	case f.IPv6 && f.MTU > 0 && f.MTU < 1280:
		return fmt.Errorf("MTU %d: IPv6 needs at least 1280 bytes (RFC 8200)", f.MTU)
	case f.VLANs < 0 || f.VLANs > 2:
		return fmt.Errorf("%d VLAN tags: expected 0, 1 or 2", f.VLANs)
	case f.Datagram < 0 || f.Datagram > 65535-ipv4Header-udpHeader:
		return fmt.Errorf("datagrams of %d bytes: expected at most %d", f.Datagram, 65535-ipv4Header-udpHeader)
	case f.mtu() <= f.ipAndTransport() || f.Payload() <= 0:
		return fmt.Errorf("MTU %d, MSS %d: nothing is left for payload after %d bytes of headers", f.MTU, f.MSS,
			f.ipAndTransport())
	}
	return nil
}

// FrameOf returns how a flow's payload was wrapped: by the MTU of its route and by what the two
// ends agreed on.
func FrameOf(f record.Flow) Frame {
	frame := Frame{IPv6: f.DestinationAddr().Is6()}
	if d := f.Datagrams; d != nil {
		frame.UDP, frame.Datagram, frame.MTU = true, d.Bytes, d.MTU
	}
	i := f.SenderInfo
	if i == nil {
		i = f.ReceiverInfo // the sender is a peer without an agent
	}
	if i != nil {
		frame.MTU, frame.NoTimestamps = int(i.PMTU), i.Options&1 == 0
		// An end or a device on the path has set a smaller maximum.
		if payload := int(i.SndMSS); payload > 0 && payload < frame.Payload() {
			frame.MTU -= frame.Payload() - payload
		}
	}
	return frame
}
