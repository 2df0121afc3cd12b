package application

import (
	"context"
	"crypto/tls"
	"errors"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
	"linerate/internal/model/record"
)

// Protocol is an application protocol, at both ends.
type Protocol interface {
	// Session returns a client's session, which opens its connection by d when its first
	// transaction needs it.
	Session(d *Dialer) Session
	// Serve answers what comes to s until ctx ends or what s has is closed.
	Serve(ctx context.Context, s *Server) error
}

// registered are the protocols by their names in package flow.
var registered = map[string]Protocol{}

// Register makes a protocol known by its names in package flow. The package of each protocol calls it while the program
// is initialised; a name that is taken panics.
func Register(p Protocol, names ...string) {
	for _, name := range names {
		if registered[name] != nil {
			panic("application: protocol " + name + " is registered twice")
		}
		registered[name] = p
	}
}

// Registered are the names of the protocols.
func Registered() []string { return slices.Collect(maps.Keys(registered)) }

// Refusal is the answer of a server that refuses a connection: it counts as an answer that is
// an error, and the session waits before it opens another connection.
type Refusal struct {
	Code string // in the protocol's words
	Err  error
}

func (r *Refusal) Error() string { return r.Err.Error() }
func (r *Refusal) Unwrap() error { return r.Err }

// Session is a client with one connection at a time.
type Session interface {
	// Do makes a transaction, on the open connection or on a new one, and notes its
	// phases and its outcome in x. It returns when the answer is complete, or ctx has
	// ended. As many calls may be made at once as the flow's spec has in Pipeline.
	Do(ctx context.Context, x *Exchange) error
	// Close closes the connection, and waits for what reads from it.
	Close()
}

// Server is what a server's end of a flow answers at: a listener, or a socket of
// datagrams.
type Server struct {
	Spec     flow.Spec
	Listener net.Listener   // of a protocol over TCP
	Packets  net.PacketConn // of a protocol over UDP
	// Connected says that Packets is the socket of one of the client's connections; otherwise
	// it carries all of them.
	Connected bool
	// TLS has the server's certificate, and no protocol of ALPN.
	TLS *tls.Config
	// Answered counts an answer. Moved counts bytes of a client whose packets a
	// protocol over UDP has received and sent.
	Answered func()
	Moved    func(client net.Addr, received, sent int)
}

// Think waits as long as the flow's server is to take for each answer; false: ctx ended.
func (s *Server) Think(ctx context.Context) bool {
	if s.Spec.Think == 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(time.Duration(s.Spec.Think))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Secure makes a TLS connection of one that a client has opened. Its handshake is part
// of the first reading, whose deadline it has.
func (s *Server) Secure(c net.Conn, alpn ...string) *tls.Conn {
	config := s.TLS.Clone()
	config.NextProtos = alpn
	return tls.Server(c, config)
}

// SecureListener is the listener with TLS over its connections.
func (s *Server) SecureListener(alpn ...string) net.Listener {
	config := s.TLS.Clone()
	config.NextProtos = alpn
	return tls.NewListener(s.Listener, config)
}

// Each calls serve for each connection that a protocol's listener accepts, in a
// goroutine of its own, closes the connection when it returns, and returns when the
// listener is closed and all have.
func (s *Server) Each(ctx context.Context, serve func(net.Conn)) error {
	var serving sync.WaitGroup
	defer serving.Wait()
	for {
		c, err := s.Listener.Accept()
		if err != nil {
			if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return nil
			}
			select { // out of descriptors or memory, or reset while it waited: none of it lasts
			case <-time.After(20 * time.Millisecond):
			case <-ctx.Done():
			}
			continue
		}
		serving.Go(func() {
			defer c.Close()
			serve(c)
		})
	}
}

// Exchange is one transaction of a client. Phases that did not happen, such as opening
// a connection that was open, are 0.
type Exchange struct {
	due, began, ended int64 // instants
	phases            [record.Phases]int64
	// outcome is how the server answered: a status or response code.
	outcome string
	failed  bool  // the answer says that the request failed
	resent  int64 // segments that the connection sent again meanwhile
	synSent int64 // SYNs that its opening sent again
}

// Phase adds the time since began, a value of sched.Now, to phase p, and returns the present
// instant.
func (x *Exchange) Phase(p record.Phase, began int64) int64 {
	now := sched.Now()
	x.phases[p] += now - began
	return now
}

// Took adds to a phase.
func (x *Exchange) Took(p record.Phase, ns int64) { x.phases[p] += ns }

// At notes that the answer was complete at an instant, before the session noticed.
func (x *Exchange) At(ns int64) { x.ended = ns }

// Answer notes how the server answered, in the protocol's words, and whether that says
// that the request failed.
func (x *Exchange) Answer(outcome string, failed bool) { x.outcome, x.failed = outcome, failed }
