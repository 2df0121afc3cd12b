package datagram

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"linerate/internal/model/record"
)

// knock sends one datagram and gives what comes back within a moment.
func knock(t *testing.T, c *net.UDPConn, b []byte, moment time.Duration) []byte {
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

func caller(t *testing.T, at netip.AddrPort) *net.UDPConn {
	t.Helper()
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(at))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// shared is a door that flows of an engine share, as at a serving host.
func shared(t *testing.T, e *Engine, at string, allowed func(netip.Addr) bool) *Door {
	t.Helper()
	d, err := OpenDoor(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.Serve(Guests{Allowed: allowed, Expects: e.Expects, Admit: func(ticket record.Ticket, c Caller) { e.Admit(ticket, c) }})
	}()
	t.Cleanup(func() {
		d.Close()
		<-done
	})
	return d
}

// TestDoor: whoever does not know the ticket of a flow gets nothing; who knows it
// gets no more than he sent until he has shown that he receives at his address.
func TestDoor(t *testing.T) {
	const moment = 30 * time.Millisecond
	e := engine(t, platform)
	ticket := record.Ticket{1, 2, 3}
	e.Listen(t.Context(), []record.FlowOrder{{ID: "f", Ticket: ticket}})
	d := shared(t, e, "127.0.0.1:0", nil)
	c := caller(t, d.At())
	hello := frame{kind: kindHello, ticket: ticket}
	long := append(hello.encode(), 0)
	for name, b := range map[string][]byte{
		"nothing": {}, "garbage": []byte("GET / HTTP/1.0\r\n\r\n"), "half a frame": hello.encode()[:40], "a longer one": long,
		"another ticket": frame{kind: kindHello, ticket: record.Ticket{9}}.encode(), "no ticket": frame{kind: kindHello}.encode(),
		"a cookie of its own": frame{kind: kindAnswer, ticket: ticket, cookie: cookie{5}}.encode(),
		"our own words":       frame{kind: kindReady, ticket: ticket}.encode(),
		"the other own words": frame{kind: kindChallenge, ticket: ticket}.encode(),
	} {
		if answer := knock(t, c, b, moment); answer != nil {
			t.Errorf("%s is answered by %q", name, answer)
		}
	}
	challenge, ok := decode(knock(t, c, hello.encode(), patience))
	if !ok || challenge.kind != kindChallenge || challenge.ticket != ticket || challenge.cookie == (cookie{}) {
		t.Fatalf("hello is answered by %+v", challenge)
	}
	if e.Settled() {
		t.Fatal("the flow is open before the address is proven")
	}
	answer := frame{kind: kindAnswer, ticket: ticket, cookie: challenge.cookie}
	if b := knock(t, caller(t, d.At()), answer.encode(), moment); b != nil {
		t.Errorf("somebody else's cookie is answered by %q", b)
	}
	for range 3 { // said again, it is answered again, and nothing changes
		ready, ok := decode(knock(t, c, answer.encode(), patience))
		if !ok || ready.kind != kindReady || ready.cookie != challenge.cookie {
			t.Fatalf("the answer is answered by %+v", ready)
		}
	}
	if b := knock(t, c, frame{kind: kindAnswer, ticket: ticket}.encode(), moment); b != nil {
		t.Errorf("another cookie is answered by %q", b)
	}
	end := e.Read()[0]
	if !end.Alive || end.Local != d.At() {
		t.Errorf("the flow: %+v", end)
	}
	if b := knock(t, caller(t, d.At()), hello.encode(), moment); b != nil {
		t.Errorf("a ticket that was used is answered by %q", b)
	}
}

// TestDoorAllows: who is not allowed gets nothing, whatever he knows.
func TestDoorAllows(t *testing.T) {
	e := engine(t, platform)
	ticket := record.Ticket{7}
	e.Listen(t.Context(), []record.FlowOrder{{ID: "f", Ticket: ticket}})
	d := shared(t, e, "127.0.0.1:0", func(a netip.Addr) bool { return a != loopback })
	if b := knock(t, caller(t, d.At()), frame{kind: kindHello, ticket: ticket}.encode(), 50*time.Millisecond); b != nil {
		t.Errorf("answered by %q", b)
	}
}

// TestSharedDoor: flows of several engines come to one port, and each gets its own
// datagrams, also where the port is every address's.
func TestSharedDoor(t *testing.T) {
	for _, at := range []string{"127.0.0.1:0", ":0"} {
		opener, acceptor := engine(t, platform), engine(t, platform)
		d := shared(t, acceptor, at, nil)
		var accepting, opening []record.FlowOrder
		for i, o := range orders(6, record.FlowOrder{RateCap: 2e6, DatagramBytes: 200}) {
			o.Ticket = record.Ticket{byte(i + 1)}
			o.Sends = i%2 == 0
			accepting = append(accepting, o)
			o.Sends, o.Remote = !o.Sends, netip.AddrPortFrom(netip.MustParseAddr("127.0.0.2"), d.At().Port())
			if at[0] == '1' {
				o.Remote = d.At()
			}
			opening = append(opening, o)
		}
		for _, l := range acceptor.Listen(t.Context(), accepting) {
			if l.Error != "" || l.Local.IsValid() {
				t.Fatalf("listening: %+v", l)
			}
		}
		for i, o := range opener.Connect(t.Context(), opening, patience) {
			if o.Error != "" {
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
			if s.Datagrams.Sent < 1 || r.Datagrams.Received != s.Datagrams.Sent || there[i].Local.Port() != d.At().Port() {
				t.Errorf("%s: sent %+v, received %+v, at %s", s.ID, s.Datagrams, r.Datagrams, there[i].Local)
			}
		}
	}
}

// relay passes datagrams on both ways between whoever comes first and an address,
// unless drop says otherwise of the n-th in a direction.
func relay(t *testing.T, to netip.AddrPort, drop func(back bool, n int) bool) netip.AddrPort {
	t.Helper()
	near, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(loopback, 0)))
	if err != nil {
		t.Fatal(err)
	}
	far := caller(t, to)
	t.Cleanup(func() { near.Close() })
	var who atomic.Pointer[netip.AddrPort]
	pass := func(back bool) {
		buffer := make([]byte, 65536)
		for n := 0; ; n++ {
			var size int
			var err error
			var from netip.AddrPort
			if back {
				size, err = far.Read(buffer)
			} else if size, from, err = near.ReadFromUDPAddrPort(buffer); err == nil {
				who.Store(&from)
			}
			switch {
			case errors.Is(err, net.ErrClosed):
				return
			case err != nil || drop(back, n):
			case back:
				_, _ = near.WriteToUDPAddrPort(buffer[:size], *who.Load())
			default:
				_, _ = far.Write(buffer[:size])
			}
		}
	}
	go pass(false)
	go pass(true)
	return near.LocalAddr().(*net.UDPAddr).AddrPort()
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
				l := acceptor.Listen(t.Context(), orders(1, record.FlowOrder{Local: loopback, Sends: !sends}))[0]
				at := relay(t, l.Local, drop)
				o := opener.Connect(t.Context(), orders(1, record.FlowOrder{Remote: at, Sends: sends}), patience)[0]
				if o.Error != "" {
					t.Fatal(o.Error)
				}
				if end := ready(t, acceptor)[0]; !end.Alive {
					t.Errorf("the acceptor: %s", end.Error)
				}
			})
		}
	}
}

// TestNobodyThere: the reasons why a flow does not open, each in its words.
func TestNobodyThere(t *testing.T) {
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
		{silent.LocalAddr().(*net.UDPAddr).AddrPort(), "no answer to its datagrams within 120ms"},
		{gone, "ICMP port unreachable"},
	} {
		o := e.Connect(t.Context(), orders(1, record.FlowOrder{Remote: test.at}), 120*time.Millisecond)[0]
		if !strings.Contains(o.Error, "connect any address → "+test.at.String()) || !strings.Contains(o.Error, test.want) {
			t.Errorf("%q, want %q", o.Error, test.want)
		}
	}
	e.Listen(t.Context(), []record.FlowOrder{{ID: "own", Local: loopback}, {ID: "shared", Ticket: record.Ticket{1}}})
	for _, end := range e.Read()[2:] {
		if end.Alive || !strings.Contains(end.Error, "nobody has come") {
			t.Errorf("not opened: %+v", end)
		}
	}
	e.Abandon([]string{"own", "shared"})
	for _, end := range ready(t, e)[2:] {
		if end.Alive || !strings.Contains(end.Error, "nobody came") {
			t.Errorf("abandoned: %+v", end)
		}
	}
}

// TestPeerGone: when nobody receives any more the sender hears of it, stops, and
// says why.
func TestPeerGone(t *testing.T) {
	for name, m := range movers {
		for _, openerSends := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				opener, acceptor := engine(t, m), engine(t, m)
				join(t, opener, acceptor, loopback, orders(1, record.FlowOrder{RateCap: 1e6, DatagramBytes: 100}), openerSends)
				from, to := opener, acceptor
				if !openerSends {
					from, to = to, from
				}
				start(time.Hour, from, to)
				moved(t, to)
				to.Close()
				eventually(t, "the sender notices", func() bool { return !from.Read()[0].Alive })
				if end := from.Read()[0]; !strings.Contains(end.Error, "ICMP port unreachable") || !strings.Contains(end.Error, " → ") {
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
