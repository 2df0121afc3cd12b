// Package server answers iperf3 clients, any number at the same time: each test
// has its own control connection, streams and counters, and is identified by its
// cookie. What goes over the connections is in package iperf3.
//
// It is made to be left running, as package serve is, which runs it and decides
// how many are accepted: what does not speak the protocol is closed, every wait has an
// end, and a datagram is answered, with one of its own size, only to an address
// from which a control connection came that waits for it.
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
	// patience is how long a client may take for a step: a cookie, parameters, a stream,
	// results.
	patience = 10 * time.Second
)

// Options of a server. All but Logins and Closed have to be set.
type Options struct {
	// Allowed says whether an address is served.
	Allowed func(netip.Addr) bool
	// Admit accepts a client with what its streams take, until dismiss is called, or returns
	// why there is no room.
	Admit func(c Client, from netip.Addr, streams budget.Use) (dismiss func(), err error)
	// Guesses limits wrong passwords.
	Guesses *budget.Guesses
	// Pending holds connections without a test.
	Pending *greeting.Queue
	// Bounds are for each client.
	Bounds message.Bounds
	// Users are those who may run tests; nil: all.
	Users *Users
	// Closed is why no client is served; empty: they are.
	Closed string
	// Linerate is why clients of linerate are refused at this port; empty: without an answer.
	Linerate string
	// OnSession is called with each test, and each client that was refused.
	OnSession func(Session)
}

// Client is what others may ask of a test while it is there.
type Client interface {
	// Moved is what it has received and sent so far.
	Moved() (received, sent int64)
	// Flows is how many streams it has.
	Flows() int
}

// Session is one test, or why there was none.
type Session struct {
	From    netip.AddrPort
	Version string // the client's iperf3; empty: it did not say
	Began   time.Time
	// Of the test: how long it was, its streams, and what they moved in that
	// time, without what was omitted.
	RanS           float64
	Flows          int
	Received, Sent int64
	// Err is why it ended before its end, or, a Refused, did not begin.
	Err error
}

// Refused is why a client was not served.
type Refused struct {
	Code   iperf3.Code
	Reason string
}

func (r Refused) Error() string { return r.Reason }

func refuse(code iperf3.Code, format string, arguments ...any) Refused {
	return Refused{code, fmt.Sprintf(format, arguments...)}
}

// Listener is the port, of TCP and of UDP.
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

// sharePort lets each UDP stream have a socket of its own with the same port.
func sharePort(_, _ string, raw syscall.RawConn) error {
	return socket.WithFD(raw, sock.SetReusePort)
}

// Addr is the address that is listened on.
func (l *Listener) Addr() *net.TCPAddr { return l.tcp.Addr().(*net.TCPAddr) }

// Close gives the port back, for those who do not Serve.
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
	tests     map[iperf3.Cookie]*test // whose TCP streams are expected
	asking    map[netip.Addr]*test    // whose UDP streams are expected, by the client's address
	asked     chan struct{}           // closed, and made anew, when one of them has all
	reporting sync.Mutex
	sessions  sync.WaitGroup
}

// Serve answers clients until ctx ends, and then ends all tests. It closes the
// listener.
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
		if !from.IsValid() { // reset already: the kernel no longer has the address
			socket.Reset(conn)
			return
		}
		waiter := options.Pending.Enter(from.Addr(), func() { socket.Reset(conn) })
		s.sessions.Go(func() { s.handle(a, waiter) })
	})
}

// arrival is a connection and how many came before it.
type arrival struct {
	conn  *net.TCPConn
	place int
}

// handle handles one connection: a stream of a test that expects it, or a client.
func (s *server) handle(a arrival, waiter *greeting.Waiter) {
	defer waiter.Leave()
	conn := a.conn
	// A connection that says nothing is closed with the server.
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
		conn.Close() // without RST, so that the reason arrives
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

// expect has TCP streams with a test's cookie given to it; false: another test
// has the same cookie.
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
