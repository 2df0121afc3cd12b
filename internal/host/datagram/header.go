package datagram

import (
	"encoding/binary"

	"linerate/internal/model/flow"
)

// The sizes of a flow's datagrams, as UDP payload. Each begins with a header, in
// network byte order: one byte 0; how many datagrams of the sender's GSO batch are
// left, this one included; its sequence number, from 0, in six bytes; and when it was
// sent, in nanoseconds of the sender's monotonic clock.
const (
	headerBytes  = 16
	minBytes     = headerBytes
	maxBytes     = flow.MaxDatagramBytes
	maxSequence  = 1 << 48 // 80 days at forty million a second
	defaultBytes = 1448    // where the MTU is not known: fits any usual path
)

// Header is what each datagram of a flow begins with where the other end is not
// linerate's. It takes no more room than ours. Sequence numbers begin with 0, and
// instants are nanoseconds of the sender's clock.
type Header interface {
	Put(b []byte, sequence uint64, ns int64)
	Parse(b []byte) (sequence uint64, ns int64)
}

func putHeader(b []byte, left int, sequence uint64, ns int64) {
	_ = b[headerBytes-1]
	binary.BigEndian.PutUint64(b, uint64(left)<<48|sequence)
	binary.BigEndian.PutUint64(b[8:], uint64(ns))
}

// header parses a header. What is not one, such as a frame of a handshake, has a
// sequence number of maxSequence or more.
func header(b []byte) (left int, sequence uint64, ns int64) {
	_ = b[headerBytes-1]
	first := binary.BigEndian.Uint64(b)
	if sequence = first; first>>56 == 0 {
		left, sequence = int(first>>48), first&(maxSequence-1)
	}
	return left, sequence, int64(binary.BigEndian.Uint64(b[8:]))
}
