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

// The frames that open a flow: the opener's hello with the flow's cookie; the acceptor's challenge with an
// address cookie, known only to a host that receives at that address; the opener's response with both cookies;
// and ready, once the acceptor has a socket for the flow. All have the same size, so that no address is sent
// more than came from it (amplification, RFC 9000, section 8.1).

// FrameBytes is the size of a frame, as UDP payload.
const FrameBytes = 64

// frameMagic begins every frame. Read as a big-endian number of eight bytes, it exceeds every sequence number
// of a flow of datagrams.
const frameMagic = "linerate"

type kind byte

const (
	kindHello     kind = 'h' // opener: the flow's cookie
	kindChallenge kind = 'c' // acceptor: an address cookie
	kindResponse  kind = 'a' // opener: both
	kindReady     kind = 'r' // acceptor: the flow is open
)

// addressCookie proves that its sender receives at the address that the cookie was sent to.
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

// IsFrame reports whether a datagram is part of a handshake.
func IsFrame(b []byte) bool {
	_, ok := decode(b)
	return ok
}

// decode parses a frame.
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

// cookieStore makes and checks cookies without storing them.
type cookieStore struct{ secret [32]byte }

// cookieLifetime is how long a cookie is valid at least; at most it is valid twice as long.
const cookieLifetime = 20 * time.Second

func newCookieStore() *cookieStore {
	b := new(cookieStore)
	_, _ = rand.Read(b.secret[:]) // never fails
	return b
}

// cookie returns the address cookie for a flow's cookie shown from an address, at ns of the monotonic clock.
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

// valid reports whether c is a current cookie for this address and flow.
func (b *cookieStore) valid(c addressCookie, from netip.AddrPort, t message.Cookie, ns int64) bool {
	now, before := b.cookie(from, t, ns), b.cookie(from, t, ns-int64(cookieLifetime))
	return hmac.Equal(c[:], now[:]) || hmac.Equal(c[:], before[:])
}
