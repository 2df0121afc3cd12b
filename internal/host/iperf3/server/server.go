// Package server serves iperf3 clients concurrently. Each test has its own control connection, streams and
// counters, and is identified by its cookie. Package iperf3 has the protocol.
//
// Package serve runs it permanently and decides how many clients are accepted. Connections that do not speak
// the protocol are closed, every wait has a timeout, and a datagram is answered, with one of its own size, only
// if its source has a control connection that waits for it.
//
// It measures as iperf3 does; docs/iperf3.md lists where it counts differently.
package server

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"linerate/internal/bus/greeting"
	"linerate/internal/host/budget"
	"linerate/internal/host/iperf3"
	"linerate/internal/host/socket"
	"linerate/internal/kernel/sock"
	"linerate/internal/model/message"
)

const (
	// patience is how long a client may take for a step: a cookie, parameters, a stream, results.
	patience = 10 * time.Second
)

// Options of a server. All except Logins and Closed are required.
type Options struct {
	// Allowed reports whether an address is served.
	Allowed func(netip.Addr) bool
	// Admit accepts a client and reserves what its streams need until dismiss is called, or returns why there
	// is no room.
	Admit func(c Client, from netip.Addr, streams budget.Use) (dismiss func(), err error)
	// Guesses limits wrong passwords.
	Guesses *budget.Guesses
	// Pending holds connections that have no test yet.
	Pending *greeting.Queue
	// Bounds apply to each client.
	Bounds message.Bounds
	// Users are allowed to run tests; nil: everybody is.
	Users *Users
	// Closed is why no client is served; empty if clients are.
	Closed string
	// Linerate is why linerate clients are refused at this port; empty: they get no answer.
	Linerate string
	// OnSession is called for each test and each refused client.
	OnSession func(Session)
}

// Client is a running test.
type Client interface {
	// Moved returns the bytes received and sent so far.
	Moved() (received, sent int64)
	// Flows returns the number of streams.
	Flows() int
}

// Session describes one test, or why there was none.
type Session struct {
	From    netip.AddrPort
	Version string // the client's iperf3 version; empty: unknown
	Began   time.Time
	// Length of the test, its streams, and the bytes they moved in that time, without the omitted time.
	RanS           float64
	Flows          int
	Received, Sent int64
	// Err is why it ended early or, if a Refused, did not begin.
	Err error
}

// Refused is the error of a client that was not served.
type Refused struct {
	Code   iperf3.Code
	Reason string
}

func (r Refused) Error() string { return r.Reason }

func refuse(code iperf3.Code, format string, arguments ...any) Refused {
	return Refused{code, fmt.Sprintf(format, arguments...)}
}

// Listener is a port opened for both TCP and UDP.
type Listener struct {
	tcp *net.TCPListener
	udp *net.UDPConn
}

// Listen opens the port for both.
func Listen(ctx context.Context, address string) (*Listener, error) {
	config := net.ListenConfig{KeepAlive: -1}
	config.SetMultipathTCP(false)
	tcp, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	config = net.ListenConfig{Control: sharePort}
	udp, err := config.ListenPacket(ctx, "udp", tcp.Addr().String())
	if err != nil {
		tcp.Close()
		return nil, err
	}
	return &Listener{tcp.(*net.TCPListener), udp.(*net.UDPConn)}, nil
}

// sharePort lets each UDP stream have its own socket on the same port.
func sharePort(_, _ string, raw syscall.RawConn) error {
	return socket.WithFD(raw, sock.SetReusePort)
}

func (l *Listener) Addr() *net.TCPAddr { return l.tcp.Addr().(*net.TCPAddr) }

// Close closes a listener that Serve was not called with.
func (l *Listener) Close() {
	l.tcp.Close()
	l.udp.Close()
}

// server is the state of a Serve.
type server struct {
	options  Options
	listener *Listener
	ctx      context.Context

	mu        sync.Mutex
	tests     map[iperf3.Cookie]*test // tests that expect TCP streams
	asking    map[netip.Addr]*test    // tests that expect UDP streams, by the client's address
	asked     chan struct{}           // closed and replaced when a test has all its UDP streams
	reporting sync.Mutex
	sessions  sync.WaitGroup
}

// Serve answers clients until ctx ends, and then ends all tests and closes the listener.
func Serve(ctx context.Context, l *Listener, options Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{
		options: options, listener: l, ctx: ctx,
		tests: map[iperf3.Cookie]*test{}, asking: map[netip.Addr]*test{}, asked: make(chan struct{}),
	}
	defer s.sessions.Wait()
	defer context.AfterFunc(ctx, l.Close)()
	defer cancel()
	s.sessions.Go(s.greet)
	place := 0
	return socket.AcceptAll(ctx, l.tcp, func(conn *net.TCPConn) {
		a := arrival{conn, place}
		place++
		from := socket.AddrPort(conn.RemoteAddr())
		if !from.IsValid() { // already reset: the kernel no longer knows the address
			socket.Reset(conn)
			return
		}
		waiter := options.Pending.Enter(from.Addr(), func() { socket.Reset(conn) })
		s.sessions.Go(func() { s.handle(a, waiter) })
	})
}

// arrival is a connection and the number of connections before it.
type arrival struct {
	conn  *net.TCPConn
	place int
}

// handle serves one connection: a stream of a test that expects it, or a client.
func (s *server) handle(a arrival, waiter *greeting.Waiter) {
	defer waiter.Leave()
	conn := a.conn
	// A silent connection is closed with the server.
	closing := context.AfterFunc(s.ctx, func() { conn.Close() })
	defer closing()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		socket.Reset(conn)
		return
	}
	cookie, err := iperf3.ReadCookie(conn)
	if err != nil && s.options.Linerate != "" && greeting.IsLinerate(cookie[:]) {
		greeted := struct {
			io.Reader
			io.Writer
		}{io.MultiReader(bytes.NewReader(cookie[:]), conn), conn}
		_, _, _ = greeting.Server{Closed: s.options.Linerate}.Receive(greeted)
		conn.Close() // without RST, so that the client receives the reason
		return
	}
	if err != nil {
		socket.Reset(conn)
		return
	}
	s.mu.Lock()
	owner := s.tests[cookie]
	s.mu.Unlock()
	if owner != nil {
		closing()
		if !waiter.Leave() {
			return // it has been closed
		}
		if !owner.take(a) {
			_ = iperf3.WriteState(conn, iperf3.AccessDenied)
			conn.Close()
		}
		return
	}
	t := newTest(s, conn, cookie)
	t.inside = func() bool {
		closing()
		return waiter.Leave()
	}
	t.conduct()
}

func (s *server) report(v Session) {
	s.reporting.Lock()
	defer s.reporting.Unlock()
	s.options.OnSession(v)
}

// expect registers a test for TCP streams with its cookie; it returns false if another test has the same
// cookie.
func (s *server) expect(t *test) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tests[t.cookie] != nil {
		return false
	}
	s.tests[t.cookie] = t
	return true
}

func (s *server) expectNoMore(t *test) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tests[t.cookie] == t {
		delete(s.tests, t.cookie)
	}
}
