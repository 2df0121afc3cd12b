package netlink

import (
	"encoding/binary"
	"net/netip"

	"linerate/internal/model/flow"
)

// CapturedPacket is a packet that an interface received.
type CapturedPacket struct {
	Index               int    // of the interface
	AtNs                int64  // when it arrived, by sched.Now
	Protocol            string // flow.TCP or flow.UDP
	Source, Destination netip.AddrPort
}

// captureBytes is the captured length of a packet: the IP header and the ports.
const captureBytes = 128

// parsePacket parses the headers of a TCP or UDP packet over IPv4, or over IPv6 without extension
// headers. Of a fragmented datagram only the first fragment has the ports.
func parsePacket(packet []byte) (a CapturedPacket, ok bool) {
	if len(packet) < 20 {
		return a, false
	}
	var from, to netip.Addr
	var protocol byte
	var rest []byte
	switch packet[0] >> 4 {
	case 4:
		header := int(packet[0]&15) * 4
		if header < 20 || len(packet) < header || binary.BigEndian.Uint16(packet[6:])&0x1fff != 0 {
			return a, false
		}
		protocol, rest = packet[9], packet[header:]
		from, to = netip.AddrFrom4([4]byte(packet[12:])), netip.AddrFrom4([4]byte(packet[16:]))
	case 6:
		if len(packet) < 40 {
			return a, false
		}
		protocol, rest = packet[6], packet[40:]
		from, to = netip.AddrFrom16([16]byte(packet[8:])), netip.AddrFrom16([16]byte(packet[24:]))
	}
	switch { // numbers of RFC 5237
	case len(rest) < 4:
		return a, false
	case protocol == 6:
		a.Protocol = flow.TCP
	case protocol == 17:
		a.Protocol = flow.UDP
	default:
		return a, false
	}
	a.Source = netip.AddrPortFrom(from, binary.BigEndian.Uint16(rest))
	a.Destination = netip.AddrPortFrom(to, binary.BigEndian.Uint16(rest[2:]))
	return a, true
}
