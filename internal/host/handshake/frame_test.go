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

// TestCookies: a cookie is good for the client that got it, for that flow, for a while.
func TestCookies(t *testing.T) {
	a, b := newCookieStore(), newCookieStore()
	from, flowCookie, now := netip.MustParseAddrPort("192.0.2.1:1000"), message.Cookie{7}, int64(1e12)
	c := a.cookie(from, flowCookie, now)
	for name, good := range map[string]bool{
		"at once":          a.valid(c, from, flowCookie, now),
		"after a while":    a.valid(c, from, flowCookie, now+int64(cookieLifetime)),
		"much later":       !a.valid(c, from, flowCookie, now+2*int64(cookieLifetime)),
		"earlier":          !a.valid(c, from, flowCookie, now-int64(cookieLifetime)),
		"another port":     !a.valid(c, netip.AddrPortFrom(from.Addr(), 1001), flowCookie, now),
		"another address":  !a.valid(c, netip.MustParseAddrPort("192.0.2.2:1000"), flowCookie, now),
		"another flow":     !a.valid(c, from, message.Cookie{8}, now),
		"another listener": !b.valid(c, from, flowCookie, now),
		"none":             !a.valid(addressCookie{}, from, flowCookie, now),
	} {
		if !good {
			t.Errorf("%s: wrong", name)
		}
	}
}
