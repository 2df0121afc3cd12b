package iperf3

import (
	"encoding/binary"
	"slices"
)

// HelloBytes is the size of the datagrams that open a UDP stream: the client's request and the server's answer.
const HelloBytes = 4

var (
	// Hello requests a UDP stream, HelloAnswer confirms it.
	Hello       = [HelloBytes]byte{'9', '8', '7', '6'}
	HelloAnswer = [HelloBytes]byte{'6', '7', '8', '9'}

	helloOld       = [HelloBytes]byte{0x15, 0xcd, 0x5b, 0x07}
	helloAnswerOld = [HelloBytes]byte{0xb1, 0x68, 0xde, 0x3a}
)

// IsHelloAnswer reports whether b is a server's answer, of any version and byte order: hosts send it in their
// native order.
func IsHelloAnswer(b []byte) bool {
	return len(b) >= HelloBytes && isOneOf([HelloBytes]byte(b), HelloAnswer, helloAnswerOld)
}

// IsHello reports whether b is a client's request, of any version and byte order.
func IsHello(b []byte) bool {
	return len(b) == HelloBytes && isOneOf([HelloBytes]byte(b), Hello, helloOld)
}

func isOneOf(at [HelloBytes]byte, known ...[HelloBytes]byte) bool {
	turned := [HelloBytes]byte{at[3], at[2], at[1], at[0]}
	return slices.Contains(known, at) || slices.Contains(known, turned)
}

// Sizes of the header of a stream's datagrams.
const (
	headerBytes     = 12
	wideHeaderBytes = 16 // with a 64-bit sequence number
)

// DatagramHeader is iperf3's datagram header for package datagram. It converts sequence numbers, which begin
// with 1 on the wire and with 0 in flows, and times, which are microseconds on the wire and nanoseconds in
// flows. Times are of the sender's clock: only differences are meaningful.
type DatagramHeader struct {
	Wide bool // 64-bit sequence numbers
}

// Put writes the header to b.
func (h DatagramHeader) Put(b []byte, sequence uint64, ns int64) {
	binary.BigEndian.PutUint32(b, uint32(ns/1e9))
	binary.BigEndian.PutUint32(b[4:], uint32(ns%1e9/1e3))
	if h.Wide {
		binary.BigEndian.PutUint64(b[8:], sequence+1)
	} else {
		binary.BigEndian.PutUint32(b[8:], uint32(sequence+1))
	}
}

// Parse reads the header of b. If b is too short, the sequence number is 2⁶⁴ - 1, which no flow uses.
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
