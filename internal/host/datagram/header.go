package datagram

import (
	"encoding/binary"

	"linerate/internal/model/flow"
)

// Sizes of a flow's datagrams, as UDP payload. Each datagram begins with a header in network byte order: a zero
// byte; one byte with the number of datagrams left in the sender's GSO batch, including this one; six bytes of
// sequence number, from 0; eight bytes of send time, in ns of the sender's monotonic clock.
const (
	headerBytes  = 16
	minBytes     = headerBytes
	maxBytes     = flow.MaxDatagramBytes
	maxSequence  = 1 << 48 // enough for 80 days at 40 million per second
	defaultBytes = 1448    // used where the MTU is unknown; fits any usual path
)

// Header encodes and decodes the start of each datagram where the other end is not linerate. It is no longer
// than linerate's own. Sequence numbers begin at 0; times are ns of the sender's clock.
type Header interface {
	Put(b []byte, sequence uint64, ns int64)
	Parse(b []byte) (sequence uint64, ns int64)
}

func putHeader(b []byte, left int, sequence uint64, ns int64) {
	_ = b[headerBytes-1]
	binary.BigEndian.PutUint64(b, uint64(left)<<48|sequence)
	binary.BigEndian.PutUint64(b[8:], uint64(ns))
}

// header decodes a header. For anything else, such as a handshake frame, sequence is at least maxSequence.
func header(b []byte) (left int, sequence uint64, ns int64) {
	_ = b[headerBytes-1]
	first := binary.BigEndian.Uint64(b)
	if sequence = first; first>>56 == 0 {
		left, sequence = int(first>>48), first&(maxSequence-1)
	}
	return left, sequence, int64(binary.BigEndian.Uint64(b[8:]))
}
