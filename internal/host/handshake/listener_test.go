package handshake

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"linerate/internal/kernel/netlink"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
)

// patience bounds waiting for what must come; how long it takes is not judged.
const patience = 5 * time.Second

// ask sends one datagram and gives what comes back within a moment.
func ask(t *testing.T, c *net.UDPConn, b []byte, moment time.Duration) []byte {
	t.Helper()
	if _, err := c.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := c.SetReadDeadline(time.Now().Add(moment)); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 2048)
	n, err := c.Read(answer)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return answer[:n]
}

func dialed(t *testing.T, at netip.AddrPort) *net.UDPConn {
	t.Helper()
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(at))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// host waits for one flow, and accepts its client.
type host struct {
	flowCookie message.Cookie
	conn       atomic.Pointer[net.UDPConn]
}

func newHost(flowCookie message.Cookie) *host { return &host{flowCookie: flowCookie} }

func (h *host) handler() Handler {
	return Handler{
		Expects: func(t message.Cookie) bool { return t == h.flowCookie && h.conn.Load() == nil },
		Accept: func(_ message.Cookie, c Client) {
			conn, err := c.Dial(message.FlowRequest{Spec: flow.Spec{Protocol: flow.UDP}})
			if err != nil {
				return
			}
			h.conn.Store(conn)
			_, _ = conn.Write(c.Ready())
			go func() { // until it is closed
				b := make([]byte, 2*FrameBytes)
				for {
					n, err := conn.Read(b)
					if err != nil {
						return
					}
					if c.Ready().IsRequestedBy(b[:n]) {
						_, _ = conn.Write(c.Ready())
					}
				}
			}()
		},
	}
}

// open serves a listener until the test ends.
func open(t *testing.T, g Handler) *Listener {
	t.Helper()
	d, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() { d.Serve(g) })
	t.Cleanup(func() {
		d.Close()
		serving.Wait()
	})
	return d
}

// TestListenerCookies: a client without the cookie of a flow gets nothing; one with it
// gets no more than it sent until it has shown that it receives at its address.
func TestListenerCookies(t *testing.T) {
	const moment = 30 * time.Millisecond
	flowCookie := message.Cookie{1, 2, 3}
	h := newHost(flowCookie)
	d := open(t, h.handler())
	c := dialed(t, d.Addr())
	hello := frame{kind: kindHello, flow: flowCookie}
	long := append(hello.encode(), 0)
	for name, b := range map[string][]byte{
		"nothing": {}, "garbage": []byte("GET / HTTP/1.0\r\n\r\n"), "half a frame": hello.encode()[:40],
		"a longer one":        long,
		"another flowCookie":  frame{kind: kindHello, flow: message.Cookie{9}}.encode(),
		"no flowCookie":       frame{kind: kindHello}.encode(),
		"a cookie of its own": frame{kind: kindResponse, flow: flowCookie, cookie: addressCookie{5}}.encode(),
		"our own words":       frame{kind: kindReady, flow: flowCookie}.encode(),
		"the other own words": frame{kind: kindChallenge, flow: flowCookie}.encode(),
	} {
		if answer := ask(t, c, b, moment); answer != nil {
			t.Errorf("%s is answered by %q", name, answer)
		}
	}
	challenge, ok := decode(ask(t, c, hello.encode(), patience))
	if !ok || challenge.kind != kindChallenge || challenge.flow != flowCookie || challenge.cookie == (addressCookie{}) {
		t.Fatalf("hello is answered by %+v", challenge)
	}
	if h.conn.Load() != nil {
		t.Fatal("the flow is open before the address is proven")
	}
	answer := frame{kind: kindResponse, flow: flowCookie, cookie: challenge.cookie}
	if b := ask(t, dialed(t, d.Addr()), answer.encode(), moment); b != nil {
		t.Errorf("another client's cookie is answered by %q", b)
	}
	for range 3 { // said again, it is answered again, and nothing changes
		ready, ok := decode(ask(t, c, answer.encode(), patience))
		if !ok || ready.kind != kindReady || ready.cookie != challenge.cookie {
			t.Fatalf("the answer is answered by %+v", ready)
		}
	}
	if b := ask(t, c, frame{kind: kindResponse, flow: flowCookie}.encode(), moment); b != nil {
		t.Errorf("another cookie is answered by %q", b)
	}
	if conn := h.conn.Load(); conn == nil || conn.LocalAddr().String() != d.Addr().String() ||
		conn.RemoteAddr().String() != c.LocalAddr().String() {
		t.Errorf("the flow: %+v", conn)
	}
	if b := ask(t, dialed(t, d.Addr()), hello.encode(), moment); b != nil {
		t.Errorf("a flowCookie that was used is answered by %q", b)
	}
}

// TestListenerAllows: a host that is not allowed gets nothing, whatever it shows, nor does one
// that asks at an address that serves none.
func TestListenerAllows(t *testing.T) {
	flowCookie := message.Cookie{7}
	for name, allowed := range map[string]func(at, from netip.Addr) bool{
		"from": func(_, from netip.Addr) bool { return !from.IsLoopback() },
		"at":   func(at, _ netip.Addr) bool { return netlink.Available && !at.IsLoopback() },
	} {
		handler := newHost(flowCookie).handler()
		handler.Allowed = allowed
		d := open(t, handler)
		if b := ask(t, dialed(t, d.Addr()), frame{kind: kindHello, flow: flowCookie}.encode(),
			50*time.Millisecond); b != nil {
			t.Errorf("%s: answered by %q", name, b)
		}
	}
}
