package replay

import (
	"encoding/binary"
	"slices"

	"linerate/internal/model/checksum"
	"linerate/internal/model/record"
)

// segments returns the frames of at most largest bytes that a frame with a too large TCP segment becomes, as TCP
// segmentation offload makes them (Documentation/networking/segmentation-offloads.rst). Nil: it is no such frame.
func segments(frame []byte, largest int) (parts [][]byte) {
	const flags, fin, psh, cwr = 13, 0x01, 0x08, 0x80
	h := parse(frame)
	if h.ip == 0 || h.protocol != tcp || h.l4 == 0 || h.opaque || h.end < h.l4+20 || h.six && h.l4 != h.ip+40 {
		return nil
	}
	payload := h.l4 + int(frame[h.l4+12]>>4)*4
	if payload < h.l4+20 || payload >= h.end || payload >= largest {
		return nil
	}
	for at := payload; at < h.end; at += largest - payload {
		part := slices.Concat(frame[:payload], frame[at:min(at+largest-payload, h.end)])
		ip, l4 := part[h.ip:], part[h.l4:]
		binary.BigEndian.PutUint32(l4[4:], binary.BigEndian.Uint32(l4[4:])+uint32(at-payload))
		if at > payload {
			l4[flags] &^= cwr
		}
		if at+largest-payload < h.end {
			l4[flags] &^= fin | psh
		}
		if h.six {
			binary.BigEndian.PutUint16(ip[4:], uint16(len(l4)))
		} else {
			binary.BigEndian.PutUint16(ip[2:], uint16(len(ip)))
			binary.BigEndian.PutUint16(ip[4:], binary.BigEndian.Uint16(ip[4:])+uint16(len(parts)))
			fill(part[h.ip:h.l4], 10, 0)
		}
		fill(l4, 16, pseudo(part, h, len(l4)))
		parts = append(parts, part)
	}
	return parts
}

// fill writes the checksum of b to the field at an offset. further is the sum of what it covers besides b.
func fill(b []byte, at int, further uint64) {
	b[at], b[at+1] = 0, 0
	binary.BigEndian.PutUint16(b[at:], ^checksum.Fold(checksum.Sum(b)+further))
}

// pseudo returns the sum of the pseudo-header (RFC 9293, section 3.1) of a packet with size bytes behind IP.
func pseudo(frame []byte, h headers, size int) uint64 {
	return checksum.Sum(frame[h.addr:h.addr+2*h.addrLen]) + uint64(h.protocol) + uint64(size)
}

// complete makes checksums and lengths that the capturing host left to its interface: a length or header checksum
// of IPv4 that is 0, and a checksum of TCP or UDP that covers only the pseudo-header. It returns whether it did, or
// whether one is wrong; empty: all are valid, or cannot be judged.
func complete(frame []byte) (code record.ReplayCode) {
	h := parse(frame)
	if h.ip == 0 || h.cut && (h.six || binary.BigEndian.Uint16(frame[h.ip+2:]) != 0) {
		return ""
	}
	if !h.six {
		header := frame[h.ip:][:int(frame[h.ip]&15)*4]
		switch empty := header[10] == 0 && header[11] == 0; {
		case h.cut && h.end-h.ip > 0xffff:
			return ""
		case h.cut:
			binary.BigEndian.PutUint16(header[2:], uint16(h.end-h.ip))
			code = record.ReplayCompleted
		case checksum.Fold(checksum.Sum(header)) == 0xffff:
		case empty:
			code = record.ReplayCompleted
		default:
			code = record.ReplayWrong
		}
		if code == record.ReplayCompleted {
			fill(header, 10, 0)
		}
	}
	field := h.check(frame)
	if field == 0 || h.opaque || code == record.ReplayWrong {
		return code
	}
	body, start := frame[h.l4:h.end], pseudo(frame, h, h.end-h.l4)
	switch {
	case checksum.Fold(checksum.Sum(body)+start) == 0xffff:
	case h.protocol != icmp6 && binary.BigEndian.Uint16(frame[field:]) == checksum.Fold(start):
		fill(body, field-h.l4, start)
		if h.protocol == udp && frame[field] == 0 && frame[field+1] == 0 {
			frame[field], frame[field+1] = 0xff, 0xff
		}
		code = record.ReplayCompleted
	default:
		code = record.ReplayWrong
	}
	return code
}
