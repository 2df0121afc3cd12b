package datagram

import (
	"encoding/binary"

	modelflow "linerate/internal/model/flow"
)

// The sizes of a flow's datagrams, as UDP payload. Each begins with a header:
// its sequence number, from 0, and when it was sent, in nanoseconds of the
// sender's monotonic clock.
const (
	headerBytes  = 16
	minBytes     = headerBytes
	maxBytes     = modelflow.MaxDatagramBytes
	maxSequence  = 1 << 56 // far more than anybody sends; the magic is above
	defaultBytes = 1448    // where the MTU is not known: fits any usual way
)

// Header is what each datagram of a flow begins with where the other end is not
// linerate's. It takes no more room than ours. Sequence numbers begin with 0, and
// instants are nanoseconds of the sender's clock.
type Header interface {
	Put(b []byte, sequence uint64, ns int64)
	Parse(b []byte) (sequence uint64, ns int64)
}

func putHeader(b []byte, sequence uint64, ns int64) {
	_ = b[headerBytes-1]
	binary.BigEndian.PutUint64(b, sequence)
	binary.BigEndian.PutUint64(b[8:], uint64(ns))
}

func header(b []byte) (sequence uint64, ns int64) {
	_ = b[headerBytes-1]
	return binary.BigEndian.Uint64(b), int64(binary.BigEndian.Uint64(b[8:]))
}
