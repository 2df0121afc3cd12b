// Package serve lets other hosts measure with this one. It listens on one TCP port and accepts
// any number of conductors at the same time, each served by an agent.Client with flows of its
// own. TCP flows connect to the same port, and flows of datagrams to the UDP port with the same
// number; their cookies identify them. So a firewall has to allow one port number only. iperf3
// clients are served on a port of their own (package iperf3/server), within the same bounds.
//
// It is made to run permanently. A connection that has not identified itself within a few bytes
// and seconds is closed. The number of such connections and of clients is bounded, and so is
// all that a client may do. The server opens no connections, changes nothing on the host, and
// discloses nothing about it except what a measurement needs.
package serve

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"linerate/internal/bus"
	"linerate/internal/bus/greeting"
	"linerate/internal/host/agent"
	"linerate/internal/host/budget"
	"linerate/internal/host/handshake"
	iperf3 "linerate/internal/host/iperf3/server"
	"linerate/internal/host/openmetrics"
	"linerate/internal/host/socket"
	"linerate/internal/host/traffic"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
)

const (
	// stopTimeout is how long sessions may take to end with the server; those that take
	// longer end with the process.
	stopTimeout = 1500 * time.Millisecond
	// reportTimeout is how long a session waits to be reported; if what is written goes
	// nowhere, it is not.
	reportTimeout = 500 * time.Millisecond
)

// Options of a server. Clients and Bounds are required.
type Options struct {
	// Token is what clients must know; empty: none is required.
	Token string
	// Allow lists the addresses that are served; empty: all.
	Allow []netip.Prefix
	// Clients is the maximum number of clients at a time.
	Clients int
	// Bounds apply to each client.
	Bounds message.Bounds
	// Iperf3 is the port for iperf3 clients; nil: none is served.
	Iperf3 *Iperf3
	// Metrics is the endpoint where Prometheus reads this host and the server; nil: none.
	Metrics *openmetrics.Endpoint
	// OnSession is called with each session that has ended, not concurrently.
	OnSession func(Session)
}

// Session describes the session of one client, or why it was refused.
type Session struct {
	From netip.AddrPort
	// Program is the client's program if that is not linerate, and Version the version of
	// either.
	Program string
	Version string
	Began   time.Time
	agent.Summary
	// Err is why the server refused or ended the session; nil: the client ended it.
	Err error
}

// Listener is a TCP port together with the UDP port of the same number.
type Listener struct {
	*net.TCPListener
	udp *handshake.Listener
}

// Listen opens the two ports. The connections that it accepts have no keep-alive probes, which
// would be foreign packets in flows; socket.DetectLoss detects vanished conductors instead.
func Listen(ctx context.Context, address string) (Listener, error) {
	config := net.ListenConfig{KeepAlive: -1}
	config.SetMultipathTCP(false)
	// A port that the kernel chooses for TCP may be in use for UDP.
	const tries = 8
	for try := 1; ; try++ {
		l, err := config.Listen(ctx, "tcp", address)
		if err != nil {
			return Listener{}, err
		}
		udp, err := handshake.Listen(ctx, l.Addr().String())
		if err == nil {
			return Listener{l.(*net.TCPListener), udp}, nil
		}
		l.Close()
		if _, port, _ := net.SplitHostPort(address); port != "0" || try == tries {
			return Listener{}, err
		}
	}
}

// Close closes both ports.
func (l Listener) Close() error {
	l.udp.Close()
	return l.TCPListener.Close()
}

// server is the state of a Run.
type server struct {
	options Options
	name    string
	port    int // of the first listener
	ctx     context.Context
	access  socket.Access // to worker processes, too
	budget  *budget.Budget
	pending *greeting.Queue // connections that are not identified yet
	guesses budget.Guesses
	// reporting has an element while a session is reported.
	reporting chan struct{}

	mu       sync.Mutex // held for assignments only
	clients  []client
	finished netstate.OtherFlows // bytes of ended sessions
	ended    int64               // sessions
	refused  int64               // of these
	sessions sync.WaitGroup
}

// client is one that has been accepted: an agent.Client, or one of iperf3.
type client = iperf3.Client

// Run serves on all listeners until ctx ends, and then ends all sessions.
func Run(ctx context.Context, listeners []Listener, options Options) error {
	outer := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := &server{
		options: options, name: rand.Text(), port: listeners[0].Addr().(*net.TCPAddr).Port, ctx: ctx,
		access: socket.Access{At: addressesOf(listeners), From: options.Allow},
		budget: budget.New(options.Clients, options.Bounds), pending: greeting.NewQueue(budget.Pending()),
		reporting: make(chan struct{}, 1),
	}
	defer context.AfterFunc(ctx, func() {
		for _, l := range listeners {
			l.Close()
		}
	})()
	if options.Iperf3 != nil {
		s.sessions.Go(s.serveIperf3)
	}
	if options.Metrics != nil {
		s.sessions.Go(func() {
			if err := options.Metrics.Serve(ctx, s.serving); err != nil {
				cancel(fmt.Errorf("metrics: %w", err))
			}
		})
	}
	var accepting sync.WaitGroup
	for _, l := range listeners {
		accepting.Go(func() {
			allowed := func(_, from netip.Addr) bool { return s.access.AllowsFrom(from) }
			l.udp.Serve(handshake.Handler{Allowed: allowed, Expects: s.expects, Accept: s.acceptFlow})
		})
		accepting.Go(func() {
			cancel(s.acceptAll(l.TCPListener))
		})
	}
	<-ctx.Done()
	var failed error
	if outer.Err() == nil {
		failed = context.Cause(ctx)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		accepting.Wait()
		s.sessions.Wait()
	}()
	select {
	case <-ended:
		return failed
	case <-time.After(stopTimeout):
		return errors.Join(failed, fmt.Errorf("sessions went on %v after the server's end", stopTimeout))
	}
}

// receive handles a connection that is not identified yet.
func (s *server) receive(conn *net.TCPConn) {
	from := socket.AddrPort(conn.RemoteAddr())
	if !from.IsValid() { // reset already: the kernel no longer has the address
		socket.Reset(conn)
		return
	}
	waiter := s.pending.Enter(from.Addr(), func() { socket.Reset(conn) })
	s.sessions.Go(func() { s.greet(conn, from, waiter) })
}

// greet identifies a connection, and serves it.
func (s *server) greet(conn *net.TCPConn, from netip.AddrPort, waiter *greeting.Waiter) {
	host := greeting.Server{Token: s.options.Token, Name: s.name, Iperf3: s.iperf3Elsewhere()}
	allowed := s.access.AllowsFrom(from.Addr())
	switch {
	case !allowed:
		host.Closed = fmt.Sprintf("%s is not among the addresses that this server allows", from.Addr())
	case s.options.Token != "":
		// Of conductors alone: a flow's cookie is from a session that has proved the token, and
		// others may have the same address (NAT) or prefix.
		host.Closed = s.guesses.Refused(from.Addr())
		host.Guess = func(right bool) string { return s.guesses.Judge(from.Addr(), right) }
	}
	// A connection that says nothing is closed with the server.
	closing := context.AfterFunc(s.ctx, func() { conn.Close() })
	err := conn.SetDeadline(time.Now().Add(greeting.Timeout))
	var peer greeting.Peer
	var welcome func() error
	if err == nil {
		peer, welcome, err = host.Receive(conn)
	}
	if waits := waiter.Leave(); !closing() || !waits {
		socket.Reset(conn)
		return
	}
	v := Session{From: from, Version: peer.Version, Began: time.Now()}
	switch {
	case err != nil:
		if _, is := errors.AsType[greeting.Refused](err); is {
			v.Err = err
			s.report(v)
			conn.Close() // without RST, so that the reason arrives
			return
		}
		socket.Reset(conn)
	case !peer.Cookie.IsZero():
		if !allowed || conn.SetDeadline(time.Time{}) != nil || !s.offer(peer.Cookie, conn) {
			socket.Reset(conn)
		}
	default:
		v.Summary, v.Err = s.serve(conn, peer.Stream, from.Addr(), welcome)
		conn.Close()
		s.report(v)
	}
}

// addressesOf is where listeners listen; nil: at all addresses of this host.
func addressesOf(listeners []Listener) (at []netip.Addr) {
	for _, l := range listeners {
		own := socket.AddrPort(l.Addr()).Addr()
		if own.IsUnspecified() {
			return nil
		}
		if !slices.Contains(at, own) {
			at = append(at, own)
		}
	}
	return at
}

func (s *server) report(v Session) {
	_, refused := errors.AsType[greeting.Refused](v.Err)
	s.mu.Lock()
	s.ended++
	if refused {
		s.refused++
	}
	s.mu.Unlock()
	select {
	case s.reporting <- struct{}{}:
		s.options.OnSession(v)
		<-s.reporting
	case <-time.After(reportTimeout):
	}
}

// offer gives a flow's connection to the conductor that expects its cookie.
func (s *server) offer(cookie message.Cookie, conn *net.TCPConn) bool {
	return s.some(func(e *traffic.Engine) bool { return e.Offer(cookie, conn) })
}

// expects says whether a UDP flow of some conductor expects a cookie.
func (s *server) expects(cookie message.Cookie) bool {
	return s.some(func(e *traffic.Engine) bool { return e.Expects(cookie) })
}

// acceptFlow gives a UDP flow to the conductor that expects its cookie.
func (s *server) acceptFlow(cookie message.Cookie, caller handshake.Client) {
	s.some(func(e *traffic.Engine) bool { return e.Admit(cookie, caller) })
}

// some reports whether f is true for the flows of one of the conductors that are served
// now, and calls it up to there. It allocates nothing.
func (s *server) some(f func(*traffic.Engine) bool) bool {
	s.mu.Lock()
	clients := s.clients
	s.mu.Unlock()
	return slices.ContainsFunc(clients, func(c client) bool {
		g, ok := c.(*agent.Client)
		if !ok {
			return false
		}
		engine := g.Engine()
		return engine != nil && f(engine)
	})
}

// serve accepts a conductor that has authenticated itself, and serves it over a stream, which
// is the connection or TLS over it.
func (s *server) serve(conn *net.TCPConn, stream net.Conn, from netip.Addr, welcome func() error) (
	agent.Summary, error) {
	account, err := s.budget.Admit(from)
	if err != nil {
		return agent.Summary{}, greeting.Refuse(stream, err.Error())
	}
	defer account.Close()
	var g *agent.Client
	g, err = agent.NewClient(account, s.options.Bounds, s.access, func() netstate.OtherFlows { return s.others(g) })
	if err != nil {
		return agent.Summary{}, greeting.Refuse(stream, err.Error())
	}
	s.add(g)
	defer s.remove(g)
	err = welcome()
	if err == nil {
		err = conn.SetDeadline(time.Time{})
	}
	if err == nil {
		err = socket.DetectLoss(conn)
	}
	if err != nil {
		g.Discard()
		return agent.Summary{}, err
	}
	err = g.Serve(s.ctx, bus.Guarded(stream, agent.RequestBytes(s.options.Bounds)))
	if s.ctx.Err() != nil {
		err = errors.New("the server was stopped")
	}
	return g.Summary(), err
}

// add makes a client one of those that are served.
func (s *server) add(c client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clients = append(slices.Clone(s.clients), c) // a listener may be reading it
}

// remove takes a client, whose flows have ended, from those that are served.
func (s *server) remove(c client) {
	received, written := c.Moved()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clients = slices.DeleteFunc(slices.Clone(s.clients), func(other client) bool { return other == c })
	s.finished.ReceivedBytes += received
	s.finished.WrittenBytes += written
}

// others is what all clients but one have moved since the server began, and how
// many they are now.
func (s *server) others(than client) netstate.OtherFlows {
	s.mu.Lock()
	sum, clients := s.finished, s.clients
	s.mu.Unlock()
	for _, c := range clients {
		if c == than {
			continue
		}
		received, written := c.Moved()
		sum.ReceivedBytes += received
		sum.WrittenBytes += written
		if n := c.Flows(); n > 0 {
			sum.Clients++
			sum.Flows += n
		}
	}
	return sum
}
