package handshake

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"net/netip"
	"time"

	"linerate/internal/model/message"
)

// The frames by which a flow is opened: the opener's hello with the flow's cookie; the
// acceptor's challenge, an address cookie that only a host which receives at that
// address knows; the opener's response with both; and ready, when the acceptor has a
// socket for the flow. All have the same size: no address is sent more than came from
// it (amplification, RFC 9000, section 8.1).

// FrameBytes is a frame's size, as UDP payload.
const FrameBytes = 64

// frameMagic is what a frame begins with. As a number of eight bytes, the most
// significant first, it is larger than the sequence numbers of a flow of datagrams.
const frameMagic = "linerate"

type kind byte

const (
	kindHello     kind = 'h' // opener: the flow's cookie
	kindChallenge kind = 'c' // acceptor: an address cookie
	kindResponse  kind = 'a' // opener: both
	kindReady     kind = 'r' // acceptor: the flow is open
)

// addressCookie proves that its bearer receives at the address that it was sent to.
type addressCookie [16]byte

type frame struct {
	kind   kind
	flow   message.Cookie
	cookie addressCookie
}

func (f frame) encode() []byte {
	b := make([]byte, FrameBytes)
	copy(b, frameMagic)
	b[len(frameMagic)] = byte(f.kind)
	copy(b[16:], f.flow[:])
	copy(b[32:], f.cookie[:])
	return b
}

// IsFrame says that a datagram is part of a handshake.
func IsFrame(b []byte) bool {
	_, ok := decode(b)
	return ok
}

// decode reads a frame; false: it is none.
func decode(b []byte) (f frame, ok bool) {
	if len(b) != FrameBytes || string(b[:len(frameMagic)]) != frameMagic {
		return frame{}, false
	}
	f.kind = kind(b[len(frameMagic)])
	copy(f.flow[:], b[16:])
	copy(f.cookie[:], b[32:])
	switch f.kind {
	case kindHello, kindChallenge, kindResponse, kindReady:
		return f, bytes.Equal(b, f.encode())
	}
	return frame{}, false
}

// cookieStore makes cookies, and keeps nothing of those that it has made.
type cookieStore struct{ secret [32]byte }

// cookieLifetime is how long a cookie is good at least; it is good for twice that at
// most.
const cookieLifetime = 20 * time.Second

func newCookieStore() *cookieStore {
	b := new(cookieStore)
	_, _ = rand.Read(b.secret[:]) // never fails
	return b
}

// cookie makes the cookie for a flow's cookie shown from an address, at an instant of
// the monotonic clock.
func (b *cookieStore) cookie(from netip.AddrPort, t message.Cookie, ns int64) (c addressCookie) {
	h := hmac.New(sha256.New, b.secret[:])
	address := from.Addr().As16()
	h.Write(address[:])
	h.Write(binary.BigEndian.AppendUint16(nil, from.Port()))
	h.Write(t[:])
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(ns/int64(cookieLifetime))))
	copy(c[:], h.Sum(nil))
	return c
}

// valid says that a cookie is good.
func (b *cookieStore) valid(c addressCookie, from netip.AddrPort, t message.Cookie, ns int64) bool {
	now, before := b.cookie(from, t, ns), b.cookie(from, t, ns-int64(cookieLifetime))
	return hmac.Equal(c[:], now[:]) || hmac.Equal(c[:], before[:])
}
