package application

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"linerate/internal/host/socket"
	"linerate/internal/kernel/sched"
	"linerate/internal/kernel/sock"
	"linerate/internal/model/flow"
	"linerate/internal/model/record"
)

// Protocol implements both ends of an application protocol.
type Protocol interface {
	// Session returns a client's session. It opens a connection with d when the first transaction needs one.
	Session(d *Dialer) Session
	// Serve answers the clients of s until ctx ends or the listener or socket of s is closed.
	Serve(ctx context.Context, s *Server) error
}

// registered are the protocols by their names in package flow.
var registered = map[string]Protocol{}

// Register makes p the protocol with these names in package flow. The package of each protocol calls it in its init
// function. It panics if a name is already registered.
func Register(p Protocol, names ...string) {
	for _, name := range names {
		if registered[name] != nil {
			panic("application: protocol " + name + " is registered twice")
		}
		registered[name] = p
	}
}

// Registered returns the names of all protocols, unsorted.
func Registered() []string { return slices.Collect(maps.Keys(registered)) }

// Refusal is the error of a server's answer that refuses a connection. It counts as an answer that is an error, and
// the session waits before it opens another connection.
type Refusal struct {
	Code string // the server's code, in the protocol's notation
	Err  error
}

func (r *Refusal) Error() string { return r.Err.Error() }
func (r *Refusal) Unwrap() error { return r.Err }

// Session is a client with one connection at a time.
type Session interface {
	// Do makes a transaction, on the open connection or on a new one, and records its phases and outcome in x. It
	// returns when the answer is complete or ctx has ended. As many calls may run concurrently as the flow's spec has
	// in Pipeline.
	Do(ctx context.Context, x *Exchange) error
	// Close closes the connection and waits until nothing reads from it.
	Close()
}

// Server is the accepting end of a flow: a listener, or a socket for datagrams.
type Server struct {
	Spec     flow.Spec
	Listener net.Listener   // of a protocol over TCP; nil otherwise
	Packets  net.PacketConn // of a protocol over UDP; nil otherwise
	// Connected says that Packets is the socket of only one of the client's connections; otherwise it serves all of
	// them.
	Connected bool
	// TLS has the server's certificate, and no ALPN protocol yet.
	TLS *tls.Config
	// Answered counts one answer. Moved counts the bytes that a protocol over UDP has received from and sent to a
	// client.
	Answered func()
	Moved    func(client net.Addr, received, sent int)
}

// hangupCheck is how often a connection is looked at while its client waits for an answer.
const hangupCheck = 500 * time.Millisecond

// Think waits for the time that the flow's server is to take for each answer. It returns false if ctx has ended, or if
// the client has closed its connection: most protocols read nothing meanwhile and would not notice. A nil client has no
// connection.
func (s *Server) Think(ctx context.Context, client net.Conn) bool {
	if s.Spec.Think == 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(time.Duration(s.Spec.Think))
	defer timer.Stop()
	check := time.NewTicker(hangupCheck)
	defer check.Stop()
	for {
		select {
		case <-timer.C:
			return true
		case <-ctx.Done():
			return false
		case <-check.C:
			if hungUp(client) {
				return false
			}
		}
	}
}

// hungUp reports whether the other end of a TCP connection, or of TLS over one, has closed it.
func hungUp(c net.Conn) (is bool) {
	for {
		switch over := c.(type) {
		case *served:
			c = over.Conn
		case interface{ NetConn() net.Conn }:
			c = over.NetConn()
		case *net.TCPConn:
			_ = socket.WithConn(over, func(fd int) error {
				is = sock.HungUp(fd)
				return nil
			})
			return is
		default:
			return false
		}
	}
}

// Secure returns a TLS connection over c, which a client has opened. The handshake runs at the first read, within its
// deadline.
func (s *Server) Secure(c net.Conn, alpn ...string) *tls.Conn {
	config := s.TLS.Clone()
	config.NextProtos = alpn
	return tls.Server(c, config)
}

// SecureListener returns the listener with TLS on its connections.
func (s *Server) SecureListener(alpn ...string) net.Listener {
	config := s.TLS.Clone()
	config.NextProtos = alpn
	return tls.NewListener(s.Listener, config)
}

// Each accepts the connections of the listener, calls serve for each in a goroutine of its own, and closes the
// connection when serve returns. It returns when the listener is closed and every call has returned.
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

// Answer answers requests one after another on each connection, which may be idle for two minutes. next reads a
// request, whose lines are shorter than longest bytes, and returns what writes the answer.
func (s *Server) Answer(ctx context.Context, longest int,
	next func(*bufio.Reader) (func(io.Writer) error, error)) error {
	const idle = 2 * time.Minute
	socket.FillPayload()
	return s.Each(ctx, func(c net.Conn) {
		if Encrypted(s.Spec) {
			c = s.Secure(c)
		}
		lines := bufio.NewReaderSize(c, longest)
		for ctx.Err() == nil && c.SetDeadline(time.Now().Add(idle)) == nil {
			write, err := next(lines)
			if err != nil || !s.Think(ctx, c) || write(c) != nil {
				return
			}
			s.Answered()
		}
	})
}

// WriteValue writes a value of the size of the flow's responses, between a head and a tail, in as few packets as that
// takes.
func WriteValue(to io.Writer, spec flow.Spec, head func(size int64) string, tail string) error {
	size := int64(cmp.Or(spec.Response, flow.DefaultBody))
	buffer := bufio.NewWriterSize(to, int(min(size+longestFrame, receiveBytes)))
	_, err := buffer.WriteString(head(size))
	for left := size; left > 0 && err == nil; {
		var n int
		n, err = buffer.Write(socket.Payload[:min(left, int64(len(socket.Payload)))])
		left -= int64(n)
	}
	if err == nil {
		_, err = buffer.WriteString(tail)
	}
	return errors.Join(err, buffer.Flush())
}

// longestFrame is about what protocols have beside a value, in bytes.
const longestFrame = 512

// Exchange is the record of one transaction of a client. The time of a phase that did not happen is 0, such as that
// of connecting if the connection was open already.
type Exchange struct {
	due, began, ended int64 // instants
	phases            [record.Phases]int64
	// outcome is how the server answered: a status or response code.
	outcome string
	failed  bool  // the answer says that the request failed
	resent  int64 // segments that the connection sent again meanwhile
	synSent int64 // SYNs that its opening sent again
}

// Phase adds the time since began, a value of sched.Now, to phase p, and returns the present instant.
func (x *Exchange) Phase(p record.Phase, began int64) int64 {
	now := sched.Now()
	x.phases[p] += now - began
	return now
}

// Took adds ns, in nanoseconds, to phase p.
func (x *Exchange) Took(p record.Phase, ns int64) { x.phases[p] += ns }

// At records when the answer was complete, in ns of sched.Now, if the session noticed that only later.
func (x *Exchange) At(ns int64) { x.ended = ns }

// Answer records how the server answered, in the protocol's notation, and whether the answer says that the request
// failed.
func (x *Exchange) Answer(outcome string, failed bool) { x.outcome, x.failed = outcome, failed }
