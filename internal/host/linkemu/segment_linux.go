//go:build !portable

package linkemu

import (
	"encoding/binary"

	"linerate/internal/model/checksum"
)

// A frame of a tap begins with struct virtio_net_hdr (linux/virtio_net.h), in native byte order: flags,
// gso_type, hdr_len, gso_size, csum_start, csum_offset. If gso_type is set, it is a super-frame: its payload
// must be cut into segments of gso_size bytes, each with a copy of the headers.
const (
	tapHeader = 10 // its size
	atType    = 1
	atHdrLen  = 2
	atGSOSize = 4
	atCsum    = 6 // csum_start: where the transport's header begins

	gsoNone  = 0
	gsoTCPv4 = 1
	gsoTCPv6 = 4
	gsoUDP   = 5    // UDP_L4
	gsoECN   = 0x80 // flag combined with a type

	ethernet = 14
	tagged   = 4 // each VLAN tag
)

var native = binary.NativeEndian

// superFrame is the layout of a super-frame.
type superFrame struct {
	kind byte // gso_type
	size int  // payload of each segment but the last, in bytes
	// Offsets in the frame, from the Ethernet header.
	network, transport, payload int
	v6                          bool
}

// parseSuperFrame returns the layout of a super-frame; false for an ordinary frame or an unsupported kind.
func parseSuperFrame(frame []byte) (s superFrame, ok bool) {
	if len(frame) < tapHeader+ethernet {
		return s, false
	}
	s.kind = frame[atType] &^ gsoECN
	s.size = int(native.Uint16(frame[atGSOSize:]))
	ether := frame[tapHeader:]
	kind, network := etherType(ether)
	s.network = network
	s.v6 = kind == 0x86dd
	s.transport = int(native.Uint16(frame[atCsum:]))
	if s.size == 0 || kind != 0x0800 && !s.v6 || s.transport < s.network+20 || len(ether) < s.transport+20 {
		return s, false
	}
	switch s.kind {
	case gsoTCPv4, gsoTCPv6:
		s.payload = s.transport + int(ether[s.transport+12]>>4)*4
	case gsoUDP:
		s.payload = s.transport + 8
	default:
		return s, false
	}
	return s, s.payload < len(ether)
}

// etherType returns the EtherType behind VLAN tags and the offset of the payload.
func etherType(ether []byte) (kind uint16, at int) {
	at = ethernet
	kind = binary.BigEndian.Uint16(ether[12:])
	for (kind == 0x8100 || kind == 0x88a8) && len(ether) >= at+tagged {
		kind = binary.BigEndian.Uint16(ether[at+2:])
		at += tagged
	}
	return kind, at
}

// segments returns the number of frames that a super-frame is cut into; 1 for an ordinary frame.
func segments(frame []byte) int {
	s, ok := parseSuperFrame(frame)
	if !ok {
		return 1
	}
	return (len(frame) - tapHeader - s.payload + s.size - 1) / s.size
}

// extent returns the offsets in the payload of the segments from begin to end.
func (s superFrame) extent(frame []byte, begin, end int) (from, to int) {
	all := len(frame) - tapHeader - s.payload
	return begin * s.size, min(end*s.size, all)
}

// segmentsLen returns the length of a frame with the segments from begin to end.
func segmentsLen(frame []byte, begin, end int) int {
	s, ok := parseSuperFrame(frame)
	if !ok {
		return len(frame)
	}
	from, to := s.extent(frame, begin, end)
	return tapHeader + s.payload + to - from
}

// extractSegments writes a frame with the segments from begin to end of a super-frame; several segments form a
// super-frame again (Documentation/networking/segmentation-offloads.rst).
func extractSegments(into, frame []byte, begin, end int) {
	s, ok := parseSuperFrame(frame)
	if !ok {
		copy(into, frame)
		return
	}
	from, to := s.extent(frame, begin, end)
	head := tapHeader + s.payload
	copy(into, frame[:head])
	copy(into[head:], frame[head+from:head+to])
	last := to == len(frame)-head
	if end-begin == 1 {
		into[atType] = gsoNone
		native.PutUint16(into[atGSOSize:], 0)
		native.PutUint16(into[atHdrLen:], 0)
	}
	ether := into[tapHeader:]
	ip, transport := ether[s.network:], ether[s.transport:]
	was := len(frame) - tapHeader - s.transport
	is := len(ether) - s.transport
	if s.kind == gsoUDP {
		binary.BigEndian.PutUint16(transport[4:], uint16(is))
		adjust(transport[6:], was, is)
	} else {
		seq := binary.BigEndian.Uint32(transport[4:])
		binary.BigEndian.PutUint32(transport[4:], seq+uint32(from))
		const fin, psh, cwr = 0x01, 0x08, 0x80
		if !last {
			transport[13] &^= fin | psh
		}
		if begin > 0 {
			transport[13] &^= cwr
		}
		adjust(transport[16:], was, is)
	}
	if s.v6 {
		binary.BigEndian.PutUint16(ip[4:], uint16(len(ether)-s.network-40))
		return
	}
	binary.BigEndian.PutUint16(ip[2:], uint16(len(ether)-s.network))
	binary.BigEndian.PutUint16(ip[4:], binary.BigEndian.Uint16(ip[4:])+uint16(begin))
	binary.BigEndian.PutUint16(ip[10:], 0)
	binary.BigEndian.PutUint16(ip[10:], checksum.Of(ip[:int(ip[0]&15)*4]))
}

// adjust updates a partial transport checksum for a new length. It covers only the pseudo-header (RFC 9293,
// section 3.1); the device adds the rest.
func adjust(field []byte, was, is int) {
	partial := uint64(binary.BigEndian.Uint16(field))
	binary.BigEndian.PutUint16(field, checksum.Fold(partial+uint64(^uint16(was))+uint64(uint16(is))))
}
