package handshake

import (
	"bytes"
	"net/netip"
	"testing"

	"linerate/internal/model/message"
)

// FuzzDecode: whatever comes in is a frame that is written just so, or none.
func FuzzDecode(f *testing.F) {
	for _, k := range []kind{kindHello, kindChallenge, kindResponse, kindReady} {
		f.Add(frame{kind: k, flow: message.Cookie{1, 2, 3}, cookie: addressCookie{4, 5}}.encode())
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
	a, b := newCookieStore(), newCookieStore()
	from, ticket, now := netip.MustParseAddrPort("192.0.2.1:1000"), message.Cookie{7}, int64(1e12)
	c := a.cookie(from, ticket, now)
	for name, good := range map[string]bool{
		"at once":         a.valid(c, from, ticket, now),
		"after a while":   a.valid(c, from, ticket, now+int64(cookieLifetime)),
		"much later":      !a.valid(c, from, ticket, now+2*int64(cookieLifetime)),
		"earlier":         !a.valid(c, from, ticket, now-int64(cookieLifetime)),
		"another port":    !a.valid(c, netip.AddrPortFrom(from.Addr(), 1001), ticket, now),
		"another address": !a.valid(c, netip.MustParseAddrPort("192.0.2.2:1000"), ticket, now),
		"another flow":    !a.valid(c, from, message.Cookie{8}, now),
		"another door":    !b.valid(c, from, ticket, now),
		"none":            !a.valid(addressCookie{}, from, ticket, now),
	} {
		if !good {
			t.Errorf("%s: wrong", name)
		}
	}
}
