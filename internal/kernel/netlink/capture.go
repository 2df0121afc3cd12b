package netlink

import (
	"encoding/binary"
	"net/netip"
)

// CapturedPacket is a packet that came in by an interface.
type CapturedPacket struct {
	Index               int   // of the interface
	AtNs                int64 // when, by Now
	Protocol            uint8 // IP's number: 6 TCP, 17 UDP
	Source, Destination netip.AddrPort
}

// captureBytes is how much of a packet is looked at: the headers of IP and the
// ports.
const captureBytes = 128

// parsePacket reads the headers of a packet of TCP or UDP, IPv4 or IPv6 without
// extension headers. Of a datagram in several packets only the first has the
// ports.
func parsePacket(packet []byte) (a CapturedPacket, ok bool) {
	if len(packet) < 20 {
		return a, false
	}
	var from, to netip.Addr
	var rest []byte
	switch packet[0] >> 4 {
	case 4:
		header := int(packet[0]&15) * 4
		if header < 20 || len(packet) < header || binary.BigEndian.Uint16(packet[6:])&0x1fff != 0 {
			return a, false
		}
		a.Protocol, rest = packet[9], packet[header:]
		from, to = netip.AddrFrom4([4]byte(packet[12:])), netip.AddrFrom4([4]byte(packet[16:]))
	case 6:
		if len(packet) < 40 {
			return a, false
		}
		a.Protocol, rest = packet[6], packet[40:]
		from, to = netip.AddrFrom16([16]byte(packet[8:])), netip.AddrFrom16([16]byte(packet[24:]))
	}
	if len(rest) < 4 || a.Protocol != 6 && a.Protocol != 17 {
		return a, false
	}
	a.Source = netip.AddrPortFrom(from, binary.BigEndian.Uint16(rest))
	a.Destination = netip.AddrPortFrom(to, binary.BigEndian.Uint16(rest[2:]))
	return a, true
}
