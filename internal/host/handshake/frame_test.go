package handshake

import (
	"bytes"
	"net/netip"
	"testing"

	"linerate/internal/model/record"
)

// FuzzDecode: whatever comes in is a frame that is written just so, or none.
func FuzzDecode(f *testing.F) {
	for _, k := range []kind{kindHello, kindChallenge, kindAnswer, kindReady} {
		f.Add(frame{kind: k, ticket: record.Cookie{1, 2, 3}, cookie: cookie{4, 5}}.encode())
	}
	f.Add([]byte("linerate"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, ok := decode(b); ok && !bytes.Equal(got.encode(), b) {
			t.Errorf("%q is read as %+v, which is written %q", b, got, got.encode())
		}
	})
}

// TestCookies: a cookie is good for who got it, for that flow, for a while.
func TestCookies(t *testing.T) {
	a, b := newBakery(), newBakery()
	from, ticket, now := netip.MustParseAddrPort("192.0.2.1:1000"), record.Cookie{7}, int64(1e12)
	c := a.bake(from, ticket, now)
	for name, good := range map[string]bool{
		"at once":         a.accepts(c, from, ticket, now),
		"after a while":   a.accepts(c, from, ticket, now+int64(freshness)),
		"much later":      !a.accepts(c, from, ticket, now+2*int64(freshness)),
		"earlier":         !a.accepts(c, from, ticket, now-int64(freshness)),
		"another port":    !a.accepts(c, netip.AddrPortFrom(from.Addr(), 1001), ticket, now),
		"another address": !a.accepts(c, netip.MustParseAddrPort("192.0.2.2:1000"), ticket, now),
		"another flow":    !a.accepts(c, from, record.Cookie{8}, now),
		"another door":    !b.accepts(c, from, ticket, now),
		"none":            !a.accepts(cookie{}, from, ticket, now),
	} {
		if !good {
			t.Errorf("%s: wrong", name)
		}
	}
}
