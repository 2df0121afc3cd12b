// Package checksum computes the Internet checksum of IP, TCP, UDP and ICMP (RFC 1071).
package checksum

import "encoding/binary"

// Sum adds the 16-bit words of b in network byte order. An odd last byte is the high byte of a
// word. Sums can be added to each other and to single words before Fold.
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

// Fold reduces a Sum to a one's complement sum of 16 bits. The checksum is its complement. For data
// that includes its own valid checksum the result is 0xffff.
func Fold(sum uint64) uint16 {
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return uint16(sum)
}

// Of returns the checksum of b, whose own checksum field must be 0.
func Of(b []byte) uint16 { return ^Fold(Sum(b)) }

// Update adjusts the checksum in field after bytes that it covers changed from was to is (RFC
// 1624). Both have the same length and begin at an even offset.
func Update(field, was, is []byte) {
	sum := uint64(^binary.BigEndian.Uint16(field))
	for i := 0; i < len(was); i += 2 {
		sum += uint64(^binary.BigEndian.Uint16(was[i:])) + uint64(binary.BigEndian.Uint16(is[i:]))
	}
	binary.BigEndian.PutUint16(field, ^Fold(sum))
}
