// Package limits computes the most that a path can carry, from physics alone:
// rates of links, headers of frames, caps of flows. It measures nothing, and it
// says nothing about what hosts can do; a limit of zero means unknown.
//
// Framing: IEEE 802.3 (preamble 8, header 14, at least 46 bytes of data, check
// sequence 4, gap 12 bytes; 802.1Q tag 4), RFC 791, RFC 8200, RFC 9293, and RFC 7323 for timestamps.
package limits

import (
	"cmp"
	"fmt"

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
	tcpTimestamps  = 12 // padded, as every segment carries them (RFC 7323)
	udpHeader      = 8
	fragmentHeader = 8  // IPv6 only: IPv4 has it in its header
	leastData      = 46 // Ethernet pads what is shorter
	defaultMTU     = 1500
)

// Frame says how payload is wrapped. The zero value is TCP with timestamps over
// IPv4 on untagged Ethernet, MTU 1500.
type Frame struct {
	MTU          int  // 0: 1500
	IPv6         bool // otherwise IPv4
	UDP          bool // otherwise TCP
	NoTimestamps bool // TCP without RFC 7323 timestamps
	// MSS is TCP_MAXSEG; 0: as the MTU allows. As in Linux, the options of a
	// segment are taken out of it.
	MSS int
	// Datagram is the payload of each UDP datagram; 0: what the MTU allows. A
	// larger one takes several packets, of which each has a header of IP.
	Datagram int
	VLANs    int // 802.1Q tags; a Linux qdisc does not count them, since the kernel keeps them apart
	Tunnel   int // bytes that tunnels add to each packet, such as 50 for VXLAN over IPv4
	// TunnelUnit: a tunnel also pads each packet to a multiple of so many bytes, at most to the
	// MTU; 0: none does.
	TunnelUnit int
	// Shaped: the rate is a Linux token bucket's (tbf, htb), which counts a
	// frame from its Ethernet header to its last payload byte and nothing of
	// what a wire adds.
	Shaped bool
	// Shaper names the qdisc whose rate it is, "tbf on client.eth0", and Overhead is what
	// that counts of each frame besides (tc-stab(8)); below 0: it leaves so much out.
	Shaper   string
	Overhead int
}

// Headers is what precedes the payload in a frame, Ethernet's header included:
// what an interface's byte counter counts beside the payload. Of a datagram in several
// packets it is what these have in the mean.
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

// mtu is the MTU that counts.
func (f Frame) mtu() int { return cmp.Or(f.MTU, defaultMTU) }

// Packets is how many a datagram takes: one, unless it is larger than the MTU.
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

// MostUnfragmented is the largest datagram that one packet carries.
func (f Frame) MostUnfragmented() int { return f.mtu() - f.ipAndTransport() }

// fragment is what each packet of a datagram has beside IP's header.
func (f Frame) fragment() int {
	if f.IPv6 {
		return fragmentHeader
	}
	return 0
}

// Payload is the most that one frame carries; of a datagram in several packets,
// what these carry together.
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

// Wire is what a full frame takes of the link's rate; of a datagram in several
// packets, what these take together.
func (f Frame) Wire() int {
	wire := 0
	for _, p := range f.Parts() {
		wire += p.Bytes
	}
	return wire
}

// sizes are those of a frame's IP packet or, of a datagram in several packets, of the last one
// and of each before it.
func (f Frame) sizes() (before, last int) {
	packets := f.Packets()
	if packets == 1 {
		return 0, f.Payload() + f.ipAndTransport()
	}
	ip := f.ipAndTransport() - udpHeader + f.fragment()
	before = (f.mtu()-ip)&^7 + ip
	return before, f.Datagram + udpHeader - (packets-1)*(before-ip) + ip
}

// tunnelPadding is what a tunnel adds to packets whose sizes are no multiples of TunnelUnit: to
// all of a frame, and to the last of them.
func (f Frame) tunnelPadding() (all, last int) {
	if f.TunnelUnit == 0 {
		return 0, 0
	}
	pad := func(size int) int { return min(f.mtu(), (size+f.TunnelUnit-1)/f.TunnelUnit*f.TunnelUnit) - size }
	before, rest := f.sizes()
	last = pad(rest)
	return (f.Packets()-1)*pad(before) + last, last
}

// padding is what Ethernet adds to data that is too short; only the last packet of
// a datagram may be.
func (f Frame) padding() int {
	if f.Shaped {
		return 0
	}
	_, last := f.sizes()
	_, padded := f.tunnelPadding()
	return max(0, leastData-last-padded-f.Tunnel)
}

// Fraction is goodput over rate; 0 if not even the headers fit.
func (f Frame) Fraction() float64 {
	if f.mtu() <= f.ipAndTransport() || f.Payload() <= 0 {
		return 0
	}
	return float64(f.Payload()) / float64(f.Wire())
}

// Part is one stretch of a frame.
type Part struct {
	Name  string
	Bytes int
}

// Parts lists where the bytes of a full frame go, payload first; they add up to
// Wire.
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

// Tunnels are what tunnels add to each packet over IPv4, in bytes: its header of 20, and
// that of the tunnel with an Ethernet header where it carries frames.
var Tunnels = map[string]int{
	"ipip":      ipv4Header,                                  // RFC 2003
	"gre":       ipv4Header + 4,                              // RFC 2784, without key and sequence number
	"vxlan":     ipv4Header + udpHeader + 8 + ethernetHeader, // RFC 7348
	"geneve":    ipv4Header + udpHeader + 8 + ethernetHeader, // RFC 8926, without options
	"wireguard": ipv4Header + udpHeader + 32,                 // type, receiver, counter and tag of a transport message
}

// wireguardUnit is what WireGuard pads packets to a multiple of, at most to its interface's MTU
// (MESSAGE_PADDING_MULTIPLE and calculate_skb_padding in drivers/net/wireguard).
const wireguardUnit = 16

// Through is the frame of a link whose packets go through one of Tunnels: what the tunnel adds is
// taken out of the MTU. Over IPv6 its header has 40 bytes in place of 20 and, of ipip and gre, 8
// more for the encapsulation limit (RFC 2473, section 4.1.1), a destination option that Linux's
// ip6tnl and ip6gre add unless they have encaplimit none.
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

// Check returns what is wrong with a frame, such as one of options.
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

// FrameOf is how a flow's payload was wrapped: by the MTU of its route and what the
// two ends agreed on.
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
		// A smaller maximum was set by an end or on the path.
		if payload := int(i.SndMSS); payload > 0 && payload < frame.Payload() {
			frame.MTU -= frame.Payload() - payload
		}
	}
	return frame
}
