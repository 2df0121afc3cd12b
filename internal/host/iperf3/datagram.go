package iperf3

import (
	"encoding/binary"
)

// HelloBytes is the size of the datagrams by which a UDP stream is opened: the
// client's question and the server's answer.
const HelloBytes = 4

var (
	// Hello opens a UDP stream, and HelloAnswer says that it is open.
	Hello       = [HelloBytes]byte{'9', '8', '7', '6'}
	HelloAnswer = [HelloBytes]byte{'6', '7', '8', '9'}

	helloAnswerOld = [HelloBytes]byte{0xb1, 0x68, 0xde, 0x3a}
)

// IsHelloAnswer says whether a datagram is a server's answer, of any version and
// byte order: both are sent as the machine has them in memory.
func IsHelloAnswer(b []byte) bool {
	if len(b) < HelloBytes {
		return false
	}
	at := [HelloBytes]byte(b)
	turned := [HelloBytes]byte{at[3], at[2], at[1], at[0]}
	return at == HelloAnswer || at == helloAnswerOld || turned == HelloAnswer || turned == helloAnswerOld
}

// The sizes of what each datagram of a stream begins with.
const (
	HeaderBytes     = 12
	WideHeaderBytes = 16 // with a sequence number of 64 bits
)

// Header is what each datagram of a stream begins with. The first sequence number
// of a stream is 1.
type Header struct {
	Sent     int64 // µs, on the sender's clock: only differences mean anything
	Sequence int64
}

// Put writes the header to the beginning of a datagram.
func (h Header) Put(b []byte, wide bool) {
	binary.BigEndian.PutUint32(b, uint32(h.Sent/1e6))
	binary.BigEndian.PutUint32(b[4:], uint32(h.Sent%1e6))
	if wide {
		binary.BigEndian.PutUint64(b[8:], uint64(h.Sequence))
	} else {
		binary.BigEndian.PutUint32(b[8:], uint32(h.Sequence))
	}
}

// ParseHeader reads the beginning of a datagram; false: it is too short.
func ParseHeader(b []byte, wide bool) (Header, bool) {
	if len(b) < HeaderBytes || wide && len(b) < WideHeaderBytes {
		return Header{}, false
	}
	h := Header{Sent: int64(binary.BigEndian.Uint32(b))*1e6 + int64(binary.BigEndian.Uint32(b[4:]))}
	if wide {
		h.Sequence = int64(binary.BigEndian.Uint64(b[8:]))
	} else {
		h.Sequence = int64(binary.BigEndian.Uint32(b[8:]))
	}
	return h, true
}

// DatagramHeader is the header of a flow of package datagram, whose sequence
// numbers begin with 0 and whose times are in nanoseconds.
type DatagramHeader struct {
	Wide bool // sequence numbers of 64 bits
}

func (h DatagramHeader) Put(b []byte, sequence uint64, ns int64) {
	Header{Sent: ns / 1e3, Sequence: int64(sequence) + 1}.Put(b, h.Wide)
}

// Parse is of a sequence number that no flow has if b does not begin with a header.
func (h DatagramHeader) Parse(b []byte) (sequence uint64, ns int64) {
	at, ok := ParseHeader(b, h.Wide)
	if !ok {
		return 1<<64 - 1, 0
	}
	return uint64(at.Sequence - 1), at.Sent * 1e3
}
