// Package serve is a host that anyone may measure with: it listens on one TCP
// port and lets conductors in, each as a guest (package agent) with flows of its
// own, any number at the same time. Flows come to the same port and are told
// apart by their tickets, so that one hole in a firewall is enough.
//
// It is made to be left running. Whoever has not said within a few bytes and
// seconds who he is, is shown out; how many wait for that, and how many are in,
// is bounded, and so is all that a guest may do. It connects to nobody, changes
// nothing on the host, and shows nothing of it but what a measurement needs.
package serve

import (
	"context"
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
	"linerate/internal/model/record"
)

const (
	// greetingTimeout is how long a visitor has to introduce itself.
	greetingTimeout = 10 * time.Second
	// maxStrangers is how many may be introducing themselves at a time.
	maxStrangers = 1024
	// maxRequest bounds one request of a guest: the orders of all its flows.
	maxRequest = 256 << 10
)

// Options of a server. All bounds have to be set.
type Options struct {
	// Token that clients have to know; empty: none.
	Token string
	// Allow are the addresses that are served; empty: all.
	Allow []netip.Prefix
	// Clients is how many are served at the same time.
	Clients int
	// Bounds are for each of them.
	Bounds record.Bounds
	// Ended is told of each visit, one at a time.
	Ended func(Visit)
}

// Visit is one client's, or why it was refused.
type Visit struct {
	From    netip.AddrPort
	Version string
	Began   time.Time
	agent.Summary
	// Err says why the visit was refused or ended by the server; nil: the client
	// left by itself.
	Err error
}

// Listen opens the port. Keep-alive probes find out about conductors that have
// vanished; the connections of flows do not have them.
func Listen(ctx context.Context, address string) (*net.TCPListener, error) {
	config := net.ListenConfig{KeepAlive: -1}
	config.SetMultipathTCP(false)
	l, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return l.(*net.TCPListener), nil
}

// server is the state of a Run.
type server struct {
	options Options
	ctx     context.Context
	door    chan struct{} // a place for each who introduces himself

	mu       sync.Mutex
	guests   []*agent.Guest
	finished record.OtherFlows // bytes of those who have left
	telling  sync.Mutex
	visits   sync.WaitGroup
}

// Run serves until ctx ends, and then ends all visits.
func Run(ctx context.Context, l *net.TCPListener, options Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{options: options, ctx: ctx, door: make(chan struct{}, maxStrangers)}
	defer s.visits.Wait()
	defer context.AfterFunc(ctx, func() { l.Close() })()
	defer cancel()
	for {
		conn, err := l.AcceptTCP()
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && errors.Is(err, net.ErrClosed):
			return err
		case err != nil:
			// Out of descriptors or memory, or a connection that was reset while
			// it waited: none of it lasts.
			pause(ctx, 20*time.Millisecond)
			continue
		}
		select {
		case s.door <- struct{}{}:
			s.visits.Go(func() { s.visit(conn) })
		default:
			discard(conn)
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// discard closes a connection without waiting for anything.
func discard(conn *net.TCPConn) {
	_ = conn.SetLinger(0)
	conn.Close()
}

// visit receives one connection, whoever it is.
func (s *server) visit(conn *net.TCPConn) {
	from := conn.RemoteAddr().(*net.TCPAddr).AddrPort()
	from = netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
	host := greeting.Server{Token: s.options.Token}
	if !s.allowed(from.Addr()) {
		host.Closed = fmt.Sprintf("%s is not among the addresses that this server allows", from.Addr())
	}
	// Whoever only holds the door open leaves with the server.
	closing := context.AfterFunc(s.ctx, func() { conn.Close() })
	err := conn.SetDeadline(time.Now().Add(greetingTimeout))
	var visitor greeting.Visitor
	var welcome func() error
	if err == nil {
		visitor, welcome, err = host.Receive(conn)
	}
	<-s.door
	if closing(); s.ctx.Err() != nil {
		discard(conn)
		return
	}
	v := Visit{From: from, Version: visitor.Version, Began: time.Now()}
	switch {
	case err != nil:
		if _, refused := errors.AsType[greeting.Refused](err); refused {
			v.Err = err
			s.tell(v)
			conn.Close() // in its own time, so that the reason arrives
			return
		}
		discard(conn)
	case !visitor.Ticket.IsZero():
		if host.Closed != "" || conn.SetDeadline(time.Time{}) != nil || !s.seat(visitor.Ticket, conn) {
			discard(conn)
		}
	default:
		v.Summary, v.Err = s.serve(conn, welcome)
		conn.Close()
		s.tell(v)
	}
}

func (s *server) allowed(from netip.Addr) bool {
	return len(s.options.Allow) == 0 ||
		slices.ContainsFunc(s.options.Allow, func(p netip.Prefix) bool { return p.Contains(from.WithZone("")) })
}

func (s *server) tell(v Visit) {
	s.telling.Lock()
	defer s.telling.Unlock()
	s.options.Ended(v)
}

// seat gives a flow's connection to the guest that waits for it.
func (s *server) seat(ticket record.Ticket, conn *net.TCPConn) bool {
	s.mu.Lock()
	guests := slices.Clone(s.guests)
	s.mu.Unlock()
	return slices.ContainsFunc(guests, func(g *agent.Guest) bool { return g.Offer(ticket, conn) })
}

// serve welcomes a conductor that has proved itself, and serves it.
func (s *server) serve(conn *net.TCPConn, welcome func() error) (agent.Summary, error) {
	g, err := s.admit()
	if err != nil {
		return agent.Summary{}, greeting.Refuse(conn, err.Error())
	}
	defer s.dismiss(g)
	err = welcome()
	if err == nil {
		err = conn.SetDeadline(time.Time{})
	}
	if err == nil {
		err = conn.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3})
	}
	if err != nil {
		g.Discard()
		return agent.Summary{}, err
	}
	err = g.Serve(s.ctx, bus.Guarded(conn, maxRequest))
	if s.ctx.Err() != nil {
		err = errors.New("the server was stopped")
	}
	return g.Summary(), err
}

// admit makes a guest if there is room for one.
func (s *server) admit() (*agent.Guest, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.guests) >= s.options.Clients {
		return nil, fmt.Errorf("the server is full: it serves %d clients at a time", s.options.Clients)
	}
	var g *agent.Guest
	g, err := agent.NewGuest(s.options.Bounds, func() record.OtherFlows { return s.others(g) })
	if err != nil {
		return nil, err
	}
	s.guests = append(s.guests, g)
	return g, nil
}

func (s *server) dismiss(g *agent.Guest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.guests = slices.DeleteFunc(s.guests, func(other *agent.Guest) bool { return other == g })
	received, written := g.Moved()
	s.finished.ReceivedBytes += received
	s.finished.WrittenBytes += written
}

// others is what all guests but one have moved since the server began, and how
// many they are now.
func (s *server) others(than *agent.Guest) record.OtherFlows {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := s.finished
	for _, g := range s.guests {
		if g == than {
			continue
		}
		received, written := g.Moved()
		sum.ReceivedBytes += received
		sum.WrittenBytes += written
		if n := g.Flows(); n > 0 {
			sum.Clients++
			sum.Flows += n
		}
	}
	return sum
}
