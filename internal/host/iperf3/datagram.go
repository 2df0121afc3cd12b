package iperf3

import (
	"encoding/binary"
	"slices"
)

// HelloBytes is the size of the datagrams by which a UDP stream is opened: the
// client's question and the server's answer.
const HelloBytes = 4

var (
	// Hello opens a UDP stream, and HelloAnswer says that it is open.
	Hello       = [HelloBytes]byte{'9', '8', '7', '6'}
	HelloAnswer = [HelloBytes]byte{'6', '7', '8', '9'}

	helloOld       = [HelloBytes]byte{0x15, 0xcd, 0x5b, 0x07}
	helloAnswerOld = [HelloBytes]byte{0xb1, 0x68, 0xde, 0x3a}
)

// IsHelloAnswer says whether a datagram is a server's answer, of any version and
// byte order: both are sent as the machine has them in memory.
func IsHelloAnswer(b []byte) bool {
	return len(b) >= HelloBytes && isOneOf([HelloBytes]byte(b), HelloAnswer, helloAnswerOld)
}

// IsHello says whether a datagram is a client's question, of any version and byte order.
func IsHello(b []byte) bool {
	return len(b) == HelloBytes && isOneOf([HelloBytes]byte(b), Hello, helloOld)
}

func isOneOf(at [HelloBytes]byte, known ...[HelloBytes]byte) bool {
	turned := [HelloBytes]byte{at[3], at[2], at[1], at[0]}
	return slices.Contains(known, at) || slices.Contains(known, turned)
}

// The sizes of what each datagram of a stream begins with.
const (
	headerBytes     = 12
	wideHeaderBytes = 16 // with a sequence number of 64 bits
)

// DatagramHeader is what each datagram of a stream begins with, for a flow of package
// datagram: its sequence numbers begin with 0, where those on the wire begin with 1, and
// its times are in nanoseconds, where those on the wire are in microseconds. Times are of
// the sender's clock: only differences mean anything.
type DatagramHeader struct {
	Wide bool // sequence numbers of 64 bits
}

// Put writes the header to the beginning of a datagram.
func (h DatagramHeader) Put(b []byte, sequence uint64, ns int64) {
	binary.BigEndian.PutUint32(b, uint32(ns/1e9))
	binary.BigEndian.PutUint32(b[4:], uint32(ns%1e9/1e3))
	if h.Wide {
		binary.BigEndian.PutUint64(b[8:], sequence+1)
	} else {
		binary.BigEndian.PutUint32(b[8:], uint32(sequence+1))
	}
}

// Parse reads the beginning of a datagram. The sequence number is one that no flow has,
// 2⁶⁴ - 1, if it is too short.
func (h DatagramHeader) Parse(b []byte) (sequence uint64, ns int64) {
	switch {
	case h.Wide && len(b) >= wideHeaderBytes:
		sequence = binary.BigEndian.Uint64(b[8:])
	case !h.Wide && len(b) >= headerBytes:
		sequence = uint64(binary.BigEndian.Uint32(b[8:]))
	default:
		return 1<<64 - 1, 0
	}
	return sequence - 1, int64(binary.BigEndian.Uint32(b))*1e9 + int64(binary.BigEndian.Uint32(b[4:]))*1e3
}
