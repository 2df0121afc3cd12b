// Package limits computes the most that a path can carry, from physics alone:
// rates of links, headers of frames, caps of flows. It measures nothing, and it
// says nothing about what hosts can do; a limit of zero means unknown.
//
// Framing: IEEE 802.3 (preamble 8, header 14, check sequence 4, gap 12 bytes;
// 802.1Q tag 4), RFC 791, RFC 8200, RFC 9293, and RFC 7323 for timestamps.
package limits

import "fmt"

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
	MSS   int
	VLANs int // 802.1Q tags
	// Shaped: the rate is a Linux token bucket's (tbf, htb), which counts a
	// frame from its Ethernet header to its last payload byte and nothing of
	// what a wire adds.
	Shaped bool
}

// Headers is what precedes the payload in a frame, Ethernet's header included:
// what a port's byte counter counts beside the payload.
func (f Frame) Headers() int { return ethernetHeader + f.ipAndTransport() }

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

// Payload is the most that one frame carries.
func (f Frame) Payload() int {
	mtu := f.MTU
	if mtu == 0 {
		mtu = defaultMTU
	}
	payload := mtu - f.ipAndTransport()
	if f.MSS > 0 && !f.UDP {
		capped := f.MSS
		if !f.NoTimestamps {
			capped -= tcpTimestamps
		}
		payload = min(payload, capped)
	}
	return payload
}

// Wire is what a full frame takes of the link's rate.
func (f Frame) Wire() int {
	wire := f.Payload() + f.Headers() + f.VLANs*vlanTag
	if !f.Shaped {
		wire += ethernetRest
	}
	return wire
}

// Fraction is goodput over rate; 0 if not even the headers fit.
func (f Frame) Fraction() float64 {
	if f.Payload() <= 0 {
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
		parts = append(parts, Part{"IPv6 header", ipv6Header})
	} else {
		parts = append(parts, Part{"IPv4 header", ipv4Header})
	}
	parts = append(parts, Part{"Ethernet header", ethernetHeader})
	if f.VLANs > 0 {
		parts = append(parts, Part{"VLAN tags", f.VLANs * vlanTag})
	}
	if !f.Shaped {
		parts = append(parts, Part{"preamble, check sequence and gap", ethernetRest})
	}
	return parts
}

// Check tells what is wrong with a frame that somebody asked for.
func (f Frame) Check() error {
	switch {
	case f.MTU < 0 || f.MTU > 65535:
		return fmt.Errorf("MTU %d: expected 68 to 65535 bytes", f.MTU)
	case f.VLANs < 0 || f.VLANs > 2:
		return fmt.Errorf("%d VLAN tags: expected 0, 1 or 2", f.VLANs)
	case f.Payload() <= 0:
		return fmt.Errorf("MTU %d, MSS %d: nothing is left for payload after %d bytes of headers", f.MTU, f.MSS, f.ipAndTransport())
	}
	return nil
}
