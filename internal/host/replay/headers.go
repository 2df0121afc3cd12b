package replay

import (
	"encoding/binary"
	"net/netip"
)

// headers has the offsets of the headers of a frame.
type headers struct {
	kind  int // offset of the EtherType, behind VLAN tags
	ip    int // offset of the IP header; 0: no complete one
	six   bool
	end   int // end of the IP packet; the rest is padding
	total int // length of the IP packet, as its header says; 0: it does not
	// cut means that the header gives no length, or one beyond the frame: end is that of the frame.
	cut      bool
	addr     int // offset of the source address; the destination follows
	addrLen  int
	protocol byte
	l4       int // offset of the IP payload; 0: later fragment, or cut off
	// opaque means that the checksum of the payload cannot be told from the frame: it covers further fragments,
	// or an address in a routing header.
	opaque bool
}

const (
	tcp, udp, icmp6 = 6, 17, 58
	ethernet        = 14

	ethernetIPv4, ethernetIPv6 = 0x0800, 0x86dd
)

// parse finds the headers of an Ethernet frame with up to two VLAN tags, IP and its payload.
func parse(b []byte) (h headers) {
	at := ethernet - 2
	for range 2 {
		if t := binary.BigEndian.Uint16(b[at:]); (t == 0x8100 || t == 0x88a8) && len(b) >= at+6 {
			at += 4
		}
	}
	h.kind = at
	kind, ip := binary.BigEndian.Uint16(b[at:]), at+2
	switch p := b[ip:]; {
	case kind == ethernetIPv4 && len(p) >= 20 && p[0]>>4 == 4:
		size, total := int(p[0]&15)*4, int(binary.BigEndian.Uint16(p[2:]))
		if size < 20 || len(p) < size || total < size && total != 0 {
			return h
		}
		h = headers{kind: at, ip: ip, addr: ip + 12, addrLen: 4, protocol: p[9]}
		h.until(total, len(p))
		fragment := binary.BigEndian.Uint16(p[6:]) & 0x3fff
		if fragment&0x1fff == 0 {
			h.l4 = ip + size
		}
		h.opaque = fragment != 0
	case kind == ethernetIPv6 && len(p) >= 40 && p[0]>>4 == 6:
		const none = 59
		total := 40 + int(binary.BigEndian.Uint16(p[4:]))
		if total == 40 && p[6] != none {
			total = 0 // as in a jumbogram (RFC 2675)
		}
		h = headers{kind: at, ip: ip, six: true, addr: ip + 8, addrLen: 16}
		h.until(total, len(p))
		h.protocol, h.l4, h.opaque = beyond(p[:h.end-ip], p[6], 40)
		if h.l4 != 0 {
			h.l4 += ip
		}
	}
	return h
}

// until sets the end of the IP packet, whose header says total bytes, of which the frame has at most have.
func (h *headers) until(total, have int) {
	h.total, h.cut = total, total == 0 || total > have
	if h.cut {
		total = have
	}
	h.end = h.ip + total
}

// beyond skips the extension headers of IPv6 (RFC 8200, section 4). at 0 means that the payload begins in
// another fragment or is cut off.
func beyond(p []byte, next byte, at int) (protocol byte, l4 int, opaque bool) {
	for range 8 {
		switch next {
		case 0, 43, 60: // hop-by-hop options, routing, destination options
			if len(p) < at+8 {
				return next, 0, true
			}
			opaque = opaque || next == 43
			next, at = p[at], at+8+int(p[at+1])*8
		case 44: // fragment
			if len(p) < at+8 || binary.BigEndian.Uint16(p[at+2:])&^7 != 0 {
				return next, 0, true
			}
			opaque = opaque || binary.BigEndian.Uint16(p[at+2:])&1 != 0
			next, at = p[at], at+8
		default:
			if at > len(p) {
				return next, 0, true
			}
			return next, at, opaque
		}
	}
	return next, 0, true
}

// isLocal reports whether a router does not forward a frame.
func isLocal(b []byte) bool {
	h := parse(b)
	if h.ip == 0 || b[0]&1 != 0 {
		return true
	}
	left := b[h.ip+8]
	if h.six {
		left = b[h.ip+7]
	}
	for _, at := range []int{h.addr, h.addr + h.addrLen} {
		a, _ := netip.AddrFromSlice(b[at : at+h.addrLen])
		if a.IsLinkLocalUnicast() || a.IsMulticast() || a.IsLoopback() || a.IsUnspecified() {
			return true
		}
	}
	return left <= 1
}

// check returns the offset of the checksum that covers the addresses; 0 if there is none.
func (h headers) check(b []byte) int {
	at := 0
	switch h.protocol {
	case tcp:
		at = 16
	case udp:
		at = 6
	case icmp6:
		at = 2
	}
	if at == 0 || h.l4 == 0 || h.l4+at+2 > h.end {
		return 0
	}
	at += h.l4
	if h.protocol == udp && !h.six && b[at] == 0 && b[at+1] == 0 {
		return 0 // it has none
	}
	return at
}
