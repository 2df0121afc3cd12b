package replay

import "encoding/binary"

// headers has the offsets of the headers of a frame.
type headers struct {
	kind     int // offset of the EtherType, behind VLAN tags
	ip       int // offset of the IP header; 0: no complete one
	six      bool
	end      int // end of the IP packet; the rest is padding
	addr     int // offset of the source address; the destination follows
	addrLen  int
	protocol byte
	l4       int // offset of the IP payload; 0: later fragment, or cut off
}

const (
	tcp, udp, icmp6 = 6, 17, 58
	ethernet        = 14
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
	case kind == 0x0800 && len(p) >= 20 && p[0]>>4 == 4:
		size, total := int(p[0]&15)*4, int(binary.BigEndian.Uint16(p[2:]))
		if size < 20 || total < size || total > len(p) {
			return h
		}
		h = headers{kind: at, ip: ip, end: ip + total, addr: ip + 12, addrLen: 4, protocol: p[9]}
		if binary.BigEndian.Uint16(p[6:])&0x1fff == 0 {
			h.l4 = ip + size
		}
	case kind == 0x86dd && len(p) >= 40 && p[0]>>4 == 6:
		total := 40 + int(binary.BigEndian.Uint16(p[4:]))
		if total > len(p) {
			return h
		}
		h = headers{kind: at, ip: ip, six: true, end: ip + total, addr: ip + 8, addrLen: 16}
		h.protocol, h.l4 = beyond(p[:total], p[6], 40)
		if h.l4 != 0 {
			h.l4 += ip
		}
	}
	return h
}

// beyond skips the extension headers of IPv6 (RFC 8200, section 4). at 0 means that the payload begins in
// another fragment or is cut off.
func beyond(p []byte, next byte, at int) (protocol byte, l4 int) {
	for range 8 {
		switch next {
		case 0, 43, 60: // hop-by-hop options, routing, destination options
			if len(p) < at+8 {
				return next, 0
			}
			next, at = p[at], at+8+int(p[at+1])*8
		case 44: // fragment
			if len(p) < at+8 || binary.BigEndian.Uint16(p[at+2:])&^7 != 0 {
				return next, 0
			}
			next, at = p[at], at+8
		default:
			if at > len(p) {
				return next, 0
			}
			return next, at
		}
	}
	return next, 0
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
