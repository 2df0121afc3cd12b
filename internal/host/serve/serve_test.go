package serve

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"linerate/internal/bus"
	"linerate/internal/bus/greeting"
	"linerate/internal/bus/hub"
	iperf3 "linerate/internal/host/iperf3/server"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
)

// open runs a server on loopback and returns its address and the sessions it reports.
func open(t *testing.T, change func(*Options)) (at string, visits <-chan Session) {
	t.Helper()
	reported := make(chan Session, 100)
	o := Options{Clients: 2, Bounds: message.Bounds{Flows: 2, DurationS: 1}, OnSession: func(v Session) {
		reported <- v
	}}
	change(&o)
	l, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() { over <- Run(ctx, []Listener{l}, o) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-over:
			if err != nil {
				t.Errorf("the server ended with %v", err)
			}
		case <-time.After(20 * time.Second):
			t.Error("the server goes on after its end")
		}
	})
	return l.Addr().String(), reported
}

func dial(t *testing.T, at string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return conn
}

func visit(t *testing.T, visits <-chan Session) Session {
	t.Helper()
	select {
	case v := <-visits:
		return v
	case <-time.After(20 * time.Second):
		t.Fatal("no session was reported")
		return Session{}
	}
}

// TestFull: there is room for so many clients, and for another when one leaves.
func TestFull(t *testing.T) {
	at, visits := open(t, func(*Options) {})
	var inside []net.Conn
	for range 2 {
		conn := dial(t, at)
		if _, err := greeting.Introduce(conn, ""); err != nil {
			t.Fatal(err)
		}
		inside = append(inside, conn)
	}
	_, err := greeting.Introduce(dial(t, at), "")
	if _, refused := errors.AsType[greeting.Refused](err); !refused ||
		!strings.Contains(err.Error(), "serves 2 clients at a time") {
		t.Errorf("a third: %v", err)
	}
	if v := visit(t, visits); v.Err == nil || v.Windows != 0 {
		t.Errorf("reported of the third: %+v", v)
	}
	inside[0].Close()
	if v := visit(t, visits); !v.From.IsValid() || v.Version == "" {
		t.Errorf("reported of the first: %+v", v)
	}
	if _, err := greeting.Introduce(dial(t, at), ""); err != nil {
		t.Errorf("in the place of the first: %v", err)
	}
}

// TestAllow: other addresses than the allowed get no session and no flow, and learn why.
func TestAllow(t *testing.T) {
	at, visits := open(t, func(o *Options) { o.Allow = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")} })
	_, err := greeting.Introduce(dial(t, at), "")
	if err == nil || !strings.Contains(err.Error(), "127.0.0.1 is not among the addresses that this server allows") {
		t.Errorf("%v", err)
	}
	if v := visit(t, visits); v.Err == nil {
		t.Errorf("reported %+v", v)
	}
	flow := dial(t, at)
	if err := greeting.SendCookie(flow, greeting.NewCookie()); err != nil {
		t.Fatal(err)
	}
	if n, err := flow.Read(make([]byte, 1)); err == nil {
		t.Errorf("a flow's connection is open: %d bytes", n)
	}
}

// TestUnknownCookie: a connection whose cookie no flow expects is closed.
func TestUnknownCookie(t *testing.T) {
	at, _ := open(t, func(*Options) {})
	flow := dial(t, at)
	if err := greeting.SendCookie(flow, greeting.NewCookie()); err != nil {
		t.Fatal(err)
	}
	var timeout net.Error
	if _, err := flow.Read(make([]byte, 1)); err == nil || errors.As(err, &timeout) && timeout.Timeout() {
		t.Errorf("still open: %v", err)
	}
}

// TestSilentVisitors: those who say nothing do not keep others out, and leave
// with the server.
func TestSilentVisitors(t *testing.T) {
	at, _ := open(t, func(*Options) {})
	for range 100 {
		dial(t, at)
	}
	if _, err := greeting.Introduce(dial(t, at), ""); err != nil {
		t.Error(err)
	}
}

// TestLinerateAtIperf3: a client of linerate at the port for iperf3 clients gets an error that says so, and
// which port is linerate's.
func TestLinerateAtIperf3(t *testing.T) {
	for token, another := range map[string]string{"": "linerate measure --iperf3 ADDRESS", "secret": ""} {
		l, err := iperf3.Listen(t.Context(), "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		at, _ := open(t, func(o *Options) { o.Token, o.Iperf3 = token, &Iperf3{Listener: l} })
		_, port, _ := net.SplitHostPort(at)
		_, err = greeting.Introduce(dial(t, l.Addr().String()), "")
		refused, is := errors.AsType[greeting.Refused](err)
		if !is || !strings.Contains(refused.Reason, "linerate's is "+port+": linerate measure ADDRESS:"+port) ||
			strings.Contains(refused.Reason, "--iperf3") != (another != "") {
			t.Errorf("token %q: %v", token, err)
		}
	}
}

// TestGuesses: an address that has tried wrong tokens has to wait, and learns for how long. The
// flows of a session from it that has proved the token are accepted meanwhile.
func TestGuesses(t *testing.T) {
	at, _ := open(t, func(o *Options) { o.Token = "secret" })
	b := join(t, at, "secret")
	tooMany := func(conn net.Conn) bool {
		_, err := greeting.Introduce(conn, "guess")
		if err == nil {
			t.Fatal("a wrong token is accepted")
		}
		return strings.Contains(err.Error(), "too many wrong tokens or passwords from 127.0.0.1")
	}
	// Connections that were there before the first guess guess no more than later ones.
	var early []net.Conn
	for range 20 {
		early = append(early, dial(t, at))
	}
	time.Sleep(2 * time.Second) // for them to be accepted although they say nothing (TCP_DEFER_ACCEPT)
	answered := 0
	for _, conn := range early {
		if !tooMany(conn) {
			answered++
		}
	}
	if answered == 0 || answered > 6 { // five at once, and one when ten seconds have passed
		t.Errorf("%d of %d guesses at once are answered", answered, len(early))
	}
	if !tooMany(dial(t, at)) {
		t.Error("one guess more is answered")
	}
	flow := message.FlowRequest{ID: "w1", Cookie: greeting.NewCookie()}
	if _, err := bus.Call(t.Context(), b, record.NodeServer, message.Listen, []message.FlowRequest{flow}); err != nil {
		t.Fatal(err)
	}
	if err := greeting.SendCookie(dial(t, at), flow.Cookie); err != nil {
		t.Fatal(err)
	}
	ends, err := bus.Call(t.Context(), b, record.NodeServer, message.Ready, message.ReadyRequest{TimeoutNs: 1e9})
	if err != nil || len(ends) != 1 || !ends[0].Alive {
		t.Errorf("the flow's connection: %+v, %v", ends, err)
	}
	if !tooMany(dial(t, at)) {
		t.Error("the address has no longer to wait")
	}
}

// join is a conductor's bus, on which the server at an address has said hello.
func join(t *testing.T, at, token string) *bus.Bus {
	t.Helper()
	conn := dial(t, at)
	host, err := greeting.Introduce(conn, token)
	if err != nil {
		t.Fatal(err)
	}
	b, err := hub.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	b.Attach(record.NodeServer, struct {
		io.ReadWriter
		io.Closer
	}{host.Stream, conn})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, err := b.Hellos(ctx, []string{record.NodeServer}); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestToken: with the right token, requests and replies follow the greeting.
func TestToken(t *testing.T) {
	at, _ := open(t, func(o *Options) { o.Token = "secret" })
	clock, err := bus.Call(t.Context(), join(t, at, "secret"), record.NodeServer, message.Clock, struct{}{})
	if err != nil || clock.NowNs == 0 {
		t.Errorf("%+v, %v", clock, err)
	}
}
