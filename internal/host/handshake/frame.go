package handshake

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"net/netip"
	"time"

	"linerate/internal/model/record"
)

// The frames by which a flow is opened. The opener says hello with the flow's
// ticket; the acceptor answers with a cookie that only somebody who receives at
// that address can know; the opener shows both; the acceptor has made a socket for
// the flow, and says that it is ready. All have the same size, so that nobody is
// sent more than he has sent.

// FrameBytes is a frame's size, as UDP payload.
const FrameBytes = 64

// frameMagic is what a frame begins with. As a number of eight bytes, the most
// significant first, it is larger than the sequence numbers of a flow of datagrams.
const frameMagic = "linerate"

type kind byte

const (
	kindHello     kind = 'h' // opener: a flow's ticket
	kindChallenge kind = 'c' // acceptor: a cookie
	kindAnswer    kind = 'a' // opener: both
	kindReady     kind = 'r' // acceptor: the flow is open
)

// cookie proves that its bearer receives at the address that it was sent to.
type cookie [16]byte

type frame struct {
	kind   kind
	ticket record.Cookie
	cookie cookie
}

func (f frame) encode() []byte {
	b := make([]byte, FrameBytes)
	copy(b, frameMagic)
	b[len(frameMagic)] = byte(f.kind)
	copy(b[16:], f.ticket[:])
	copy(b[32:], f.cookie[:])
	return b
}

// Framed says that a datagram is part of a handshake.
func Framed(b []byte) bool {
	_, ok := decode(b)
	return ok
}

// decode reads a frame; false: it is none.
func decode(b []byte) (f frame, ok bool) {
	if len(b) != FrameBytes || string(b[:len(frameMagic)]) != frameMagic {
		return frame{}, false
	}
	f.kind = kind(b[len(frameMagic)])
	copy(f.ticket[:], b[16:])
	copy(f.cookie[:], b[32:])
	switch f.kind {
	case kindHello, kindChallenge, kindAnswer, kindReady:
		return f, bytes.Equal(b, f.encode())
	}
	return frame{}, false
}

// bakery makes cookies, and keeps nothing of those that it has made.
type bakery struct{ secret [32]byte }

// freshness is how long a cookie is good at least; it is good for twice that at
// most.
const freshness = 20 * time.Second

func newBakery() *bakery {
	b := new(bakery)
	_, _ = rand.Read(b.secret[:]) // never fails
	return b
}

// bake makes the cookie for who shows a ticket from an address, at an instant of
// the monotonic clock.
func (b *bakery) bake(from netip.AddrPort, t record.Cookie, ns int64) (c cookie) {
	h := hmac.New(sha256.New, b.secret[:])
	address := from.Addr().As16()
	h.Write(address[:])
	h.Write(binary.BigEndian.AppendUint16(nil, from.Port()))
	h.Write(t[:])
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(ns/int64(freshness))))
	copy(c[:], h.Sum(nil))
	return c
}

// accepts says that a cookie is good.
func (b *bakery) accepts(c cookie, from netip.AddrPort, t record.Cookie, ns int64) bool {
	now, before := b.bake(from, t, ns), b.bake(from, t, ns-int64(freshness))
	return hmac.Equal(c[:], now[:]) || hmac.Equal(c[:], before[:])
}
