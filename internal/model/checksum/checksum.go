// Package checksum computes the Internet checksum of IP, TCP, UDP and ICMP (RFC 1071).
package checksum

import "encoding/binary"

// Sum adds up the 16-bit words of b in network byte order; an odd last byte is the high one of
// a word. Sums can be added to each other, and to single words, before Fold.
func Sum(b []byte) (sum uint64) {
	for ; len(b) >= 4; b = b[4:] {
		sum += uint64(binary.BigEndian.Uint32(b))
	}
	if len(b) >= 2 {
		sum += uint64(binary.BigEndian.Uint16(b))
		b = b[2:]
	}
	if len(b) == 1 {
		sum += uint64(b[0]) << 8
	}
	return sum
}

// Fold is the one's complement sum of 16 bits that a Sum comes to. The checksum is its
// complement. Of data that includes its own valid checksum it is 0xffff.
func Fold(sum uint64) uint16 {
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return uint16(sum)
}

// Of is the checksum of b, whose own checksum field is 0.
func Of(b []byte) uint16 { return ^Fold(Sum(b)) }

// Update changes the checksum in field for bytes that it covers, which were was and are now is:
// as many of them, at an even offset (RFC 1624).
func Update(field, was, is []byte) {
	sum := uint64(^binary.BigEndian.Uint16(field))
	for i := 0; i < len(was); i += 2 {
		sum += uint64(^binary.BigEndian.Uint16(was[i:])) + uint64(binary.BigEndian.Uint16(is[i:]))
	}
	binary.BigEndian.PutUint16(field, ^Fold(sum))
}
