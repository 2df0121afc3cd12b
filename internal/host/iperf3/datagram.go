package iperf3

import (
	"encoding/binary"
	"math"
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

// IsHelloAnswer tells whether a datagram is a server's answer, of any version and
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

// Arrivals counts a stream's datagrams as iperf3 does.
type Arrivals struct {
	Packets    int64 // the highest sequence number seen
	Errors     int64 // missing so far
	OutOfOrder int64 // came after one with a higher number, or twice

	// What the first three were when the omitted time was over.
	OmittedPackets, OmittedErrors, OmittedOutOfOrder int64

	transit int64 // of the latest datagram, µs; meaningful only as a difference
	any     bool  // one has come
	jitter  float64
}

// Count takes one datagram, which arrived at an instant of this host's clock in
// µs.
//
// A gap in the numbers counts as loss, and each datagram that comes late takes
// one away. A duplicate does so too: iperf3 cannot tell them apart.
func (a *Arrivals) Count(h Header, arrived int64) {
	if h.Sequence > a.Packets {
		a.Errors += h.Sequence - a.Packets - 1
		a.Packets = h.Sequence
	} else {
		a.OutOfOrder++
		if a.Errors > 0 {
			a.Errors--
		}
	}
	transit := arrived - h.Sent
	if a.any {
		change := math.Abs(float64(transit - a.transit))
		a.jitter += (change/1e6 - a.jitter) / 16
	}
	a.transit, a.any = transit, true
}

// Omit forgets what has been so far.
func (a *Arrivals) Omit() {
	a.OmittedPackets, a.OmittedErrors, a.OmittedOutOfOrder = a.Packets, a.Errors, a.OutOfOrder
	a.jitter = 0
}

// Jitter is how much the time between two datagrams differs from what their
// sender meant, smoothed over some sixteen of them (RFC 1889), in seconds.
func (a *Arrivals) Jitter() float64 { return a.jitter }
