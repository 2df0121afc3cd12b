package netlink

import (
	"encoding/binary"
	"net"
	"net/netip"
)

// ARP is a request or a reply of the Address Resolution Protocol (RFC 826).
type ARP struct {
	Index   int        // of the interface that sends the request or received the reply
	MAC     string     // the sender's
	Address netip.Addr // IPv4: requested, or held by the replying host
}

// Layout of an ARP packet for IPv4 over Ethernet (RFC 826): hardware type 1, protocol type 0x0800,
// lengths 6 and 4, the operation, then the hardware and protocol addresses of sender and target.
const (
	arpBytes   = 28
	arpHeader  = 0x0001_0800_0604 << 16
	arpRequest = 1
	arpReply   = 2
)

// arpProbe returns the request of RFC 5227 section 2.1.1. The sender's protocol address is 0, so
// that receivers do not update their tables.
func arpProbe(own net.HardwareAddr, address netip.Addr) []byte {
	packet := binary.BigEndian.AppendUint64(make([]byte, 0, arpBytes), arpHeader|arpRequest)
	packet = append(packet, own...)
	packet = append(packet, make([]byte, 4+6)...)
	target := address.As4()
	return append(packet, target[:]...)
}

// parseARPReply parses a reply. It returns false for other packets.
func parseARPReply(packet []byte) (a ARP, ok bool) {
	if len(packet) < arpBytes || binary.BigEndian.Uint64(packet) != arpHeader|arpReply {
		return a, false
	}
	return ARP{MAC: net.HardwareAddr(packet[8:14]).String(), Address: netip.AddrFrom4([4]byte(packet[14:]))}, true
}
