package datagram

import (
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"linerate/internal/host/handshake"
	"linerate/internal/host/handshake/handshaketest"
	"linerate/internal/kernel/netlink"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
)

// shared is a listener that flows of an engine share, as at a serving host.
func shared(t *testing.T, e *Engine, at string) *handshake.Listener {
	t.Helper()
	d, err := handshake.Listen(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.Serve(handshake.Handler{Expects: e.Expects, Accept: func(cookie message.Cookie, c handshake.Client) {
			e.Admit(cookie, c)
		}})
	}()
	t.Cleanup(func() {
		d.Close()
		<-done
	})
	return d
}

// TestSharedListener: flows of several engines come to one port, and each gets its own
// datagrams, also where the port is every address's.
func TestSharedListener(t *testing.T) {
	for _, at := range []string{"127.0.0.1:0", ":0"} {
		if at == ":0" && !netlink.Available {
			continue // the system chooses the address that a listener answers from
		}
		opener, acceptor := engine(t, platform), engine(t, platform)
		d := shared(t, acceptor, at)
		var accepting, opening []message.FlowRequest
		for i, o := range requests(6, message.FlowRequest{Spec: flow.Spec{RateCap: 2e6, Datagram: 200}}) {
			o.Cookie = message.Cookie{byte(i + 1)}
			o.Sends = i%2 == 0
			accepting = append(accepting, o)
			o.Sends, o.Remote = !o.Sends, netip.AddrPortFrom(netip.MustParseAddr("127.0.0.2"), d.Addr().Port())
			if at[0] == '1' {
				o.Remote = d.Addr()
			}
			opening = append(opening, o)
		}
		for _, l := range acceptor.Listen(t.Context(), accepting) {
			if l.Error != nil || l.Local.IsValid() {
				t.Fatalf("listening: %+v", l)
			}
		}
		for i, o := range opener.Connect(t.Context(), opening, patience) {
			if o.Error != nil {
				t.Fatalf("%s: %s; the acceptor: %+v", o.ID, o.Error, acceptor.Read()[i])
			}
		}
		_, stop := start(200*time.Millisecond, opener, acceptor)
		settled(t, stop, opener)
		settled(t, stop, acceptor)
		here, there := opener.Read(), acceptor.Read()
		for i := range here {
			s, r := here[i], there[i]
			if there[i].Sends {
				s, r = r, s
			}
			if s.Datagrams.Sent < 1 || r.Datagrams.Received != s.Datagrams.Sent ||
				there[i].Local.Port() != d.Addr().Port() {
				t.Errorf("%s: sent %+v, received %+v, at %s", s.ID, s.Datagrams, r.Datagrams, there[i].Local)
			}
		}
	}
}

// TestLossyOpening: each datagram of the opening may be lost, several times.
func TestLossyOpening(t *testing.T) {
	for name, drop := range map[string]func(back bool, n int) bool{
		"hellos":        func(back bool, n int) bool { return !back && n < 3 },
		"the challenge": func(back bool, n int) bool { return back && n < 2 },
		"the answers":   func(back bool, n int) bool { return !back && n > 0 && n < 3 },
		"ready":         func(back bool, n int) bool { return back && n > 0 && n < 3 },
		"every other":   func(_ bool, n int) bool { return n%2 == 0 },
		"none":          func(bool, int) bool { return false },
	} {
		for _, sends := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				t.Parallel() // it mostly waits
				opener, acceptor := engine(t, platform), engine(t, platform)
				l := acceptor.Listen(t.Context(), requests(1, message.FlowRequest{Local: loopback, Sends: !sends}))[0]
				at := handshaketest.Relay(t, l.Local, func(back bool, n int) handshaketest.Fate {
					if drop(back, n) {
						return handshaketest.Lost
					}
					return handshaketest.Passed
				})
				o := opener.Connect(t.Context(), requests(1, message.FlowRequest{Remote: at, Sends: sends}),
					patience)[0]
				if o.Error != nil {
					t.Fatal(o.Error)
				}
				if end := ready(t, acceptor)[0]; !end.Alive {
					t.Errorf("the acceptor: %s", end.Error)
				}
			})
		}
	}
}

// TestNothingListens: the reasons why a flow does not open, each in its words.
func TestNothingListens(t *testing.T) {
	silent, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(loopback, 0)))
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	closed, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(loopback, 0)))
	if err != nil {
		t.Fatal(err)
	}
	gone := closed.LocalAddr().(*net.UDPAddr).AddrPort()
	closed.Close()
	e := engine(t, platform)
	for _, test := range []struct {
		at   netip.AddrPort
		want string
	}{
		{silent.LocalAddr().(*net.UDPAddr).AddrPort(), "no answer to UDP datagrams within 120ms"},
		{gone, "ICMP port unreachable"},
	} {
		o := e.Connect(t.Context(), requests(1, message.FlowRequest{Remote: test.at}), 120*time.Millisecond)[0]
		if !strings.Contains(o.Error.Error(), "connect to "+test.at.String()) ||
			!strings.Contains(o.Error.Error(), test.want) {
			t.Errorf("%q, want %q", o.Error, test.want)
		}
	}
	e.Listen(t.Context(), []message.FlowRequest{{ID: "own", Local: loopback},
		{ID: "shared", Cookie: message.Cookie{1}}})
	for _, end := range e.Read()[2:] {
		if end.Alive || !strings.Contains(end.Error.Error(), "no client has ") {
			t.Errorf("not opened: %+v", end)
		}
	}
	e.Abandon([]string{"own", "shared"})
	for _, end := range ready(t, e)[2:] {
		if end.Alive || !strings.Contains(end.Error.Error(), "no client ") {
			t.Errorf("abandoned: %+v", end)
		}
	}
}

// TestPeerGone: when the receiver has gone the sender gets an error, stops, and
// says why.
func TestPeerGone(t *testing.T) {
	for name, m := range movers {
		for _, openerSends := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				opener, acceptor := engine(t, m), engine(t, m)
				join(t, opener, acceptor, loopback,
					requests(1, message.FlowRequest{Spec: flow.Spec{RateCap: 1e6, Datagram: 100}}), openerSends)
				from, to := opener, acceptor
				if !openerSends {
					from, to = to, from
				}
				start(time.Hour, from, to)
				moved(t, to)
				to.Close()
				eventually(t, "the sender notices", func() bool { return !from.Read()[0].Alive })
				if end := from.Read()[0]; !strings.Contains(end.Error.Error(), "ICMP port unreachable") ||
					!strings.Contains(end.Error.Error(), " → ") {
					t.Errorf("%q", end.Error)
				}
				sent := from.Read()[0].Datagrams.Sent
				time.Sleep(20 * time.Millisecond)
				if now := from.Read()[0].Datagrams.Sent; now != sent {
					t.Errorf("it goes on sending: %d, then %d", sent, now)
				}
			})
		}
	}
}
