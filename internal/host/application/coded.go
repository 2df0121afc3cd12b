package application

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"linerate/internal/host/socket"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
	"linerate/internal/model/record"
)

// receiveBytes is how much is received at a time.
const receiveBytes = 16 << 10

// buffers are for receiving. A connection has one only while it waits for an answer, because a flow may have very many
// connections.
var buffers = sync.Pool{New: func() any { return new([receiveBytes]byte) }}

// Invalid is the session of a flow whose requests cannot be encoded.
type Invalid struct{ Err error }

// Do returns the error.
func (i Invalid) Do(context.Context, *Exchange) error { return i.Err }

// Close does nothing.
func (Invalid) Close() {}

// coded is a session of a protocol that has a codec. It opens the connections of which something must be awaited, and
// makes the transactions that run on no loop: the first one of each session, and all of them where there are no loops.
// Its connections have no goroutines.
type coded struct {
	d      *Dialer
	codec  Codec
	alpn   []string
	shared *Shared[*codedConn]
	number atomic.Uint64 // of the latest request
}

// NewCoded returns a session whose requests have the form of a codec. alpn is the protocol's name in TLS (RFC 7301), if
// it has one.
func NewCoded(d *Dialer, codec Codec, alpn ...string) Session {
	s := &coded{d: d, codec: codec, alpn: alpn, shared: NewShared[*codedConn](d)}
	s.number.Store(rand.Uint64())
	socket.FillPayload()
	return s
}

// codedConn is a connection of such a session.
type codedConn struct {
	*Conn
	stream    net.Conn // the connection itself, or TLS on it
	wire      *wire    // of TLS; nil: without
	datagrams bool
	reading   chan struct{} // held by the one transaction that reads, for all of the connection
	writing   sync.Mutex    // one request is written at a time

	mu      sync.Mutex // held for parsing and assignments only
	parser  Parser
	pending Pending
	failure error // why no further request is possible
}

func (c *codedConn) Close() { c.Conn.Close() }

// Usable reports whether another request is possible, as far as this host knows.
func (c *codedConn) Usable() bool { return !c.over() && c.Conn.Usable() }

// over reports whether no further request is possible.
func (c *codedConn) over() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failure != nil
}

func (s *coded) Close() { s.shared.Close() }

func (s *coded) Do(ctx context.Context, x *Exchange) error {
	err := s.shared.Do(ctx, func() (*codedConn, error) { return s.open(ctx, x) }, func(c *codedConn) (bool, error) {
		defer c.Ended(x)
		err := c.exchange(ctx, s, x)
		return err != nil && s.codec.Ordered() || c.over(), err
	})
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// open opens a connection.
func (s *coded) open(ctx context.Context, x *Exchange) (*codedConn, error) {
	spec := s.d.Spec()
	c := &codedConn{datagrams: flow.Of(spec.Protocol).Transport == flow.UDP, reading: make(chan struct{}, 1),
		parser: s.codec.Parser(), pending: NewPending(spec.Pipeline)}
	var err error
	if c.datagrams {
		c.Conn, err = s.d.UDP(ctx, x)
	} else {
		c.Conn, err = s.d.TCP(ctx, x)
	}
	if err != nil {
		return nil, err
	}
	c.stream = c.Conn
	if greeter, is := s.codec.(Greeter); is {
		err = greeter.Greet(ctx, &Opening{c, s, x})
	} else if Encrypted(spec) {
		err = c.startTLS(ctx, s, x)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// startTLS starts TLS on the connection.
func (c *codedConn) startTLS(ctx context.Context, s *coded, x *Exchange) (err error) {
	c.wire = &wire{Conn: c.Conn}
	if c.wire.tls, err = s.d.TLS(ctx, x, c.wire, s.alpn...); err == nil {
		c.stream = c.wire.tls
	}
	return err
}

// Opening is a connection before its first request.
type Opening struct {
	c *codedConn
	s *coded
	x *Exchange
}

// Stream returns the connection itself, or TLS on it. Its deadline is not set.
func (o *Opening) Stream() net.Conn { return o.c.stream }

// StartTLS starts TLS on the connection.
func (o *Opening) StartTLS(ctx context.Context) error { return o.c.startTLS(ctx, o.s, o.x) }

// Phase adds the time since began, a value of sched.Now, to phase p, and returns the present instant.
func (o *Opening) Phase(p record.Phase, began int64) int64 { return o.x.Phase(p, began) }

// exchange makes a transaction.
func (c *codedConn) exchange(ctx context.Context, s *coded, x *Exchange) error {
	ended := make(chan error, 1)
	call, err := c.send(ctx, s, x, ended)
	defer c.forget(call, ended)
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		select {
		case err := <-ended:
			return err
		case c.reading <- struct{}{}:
			// Another transaction may have read the answer before this one's turn.
			if len(ended) == 0 {
				c.read(deadline(ctx), s.d)
			}
			<-c.reading
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}

// send sends a request. The call is nil if it was not begun.
func (c *codedConn) send(ctx context.Context, s *coded, x *Exchange, ended chan error) (call *Call, err error) {
	c.writing.Lock() // requests are sent in the order of the calls
	defer c.writing.Unlock()
	request := Request{}
	c.mu.Lock()
	if err = c.failure; err == nil {
		if call = c.pending.Add(); call == nil {
			err = errors.New("as many requests as the connection may have are unanswered")
		} else {
			call.Number, call.x, call.sent, call.ended = s.number.Add(1), x, sched.Now(), ended
			request = call.Request
		}
	}
	c.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if err := c.stream.SetWriteDeadline(deadline(ctx)); err != nil {
		return call, err
	}
	if _, err := c.stream.Write(s.codec.Append(nil, request)); err != nil {
		return call, err
	}
	for left := s.codec.Payload(); left > 0; {
		n, err := c.stream.Write(socket.Payload[:min(left, int64(len(socket.Payload)))])
		if err != nil {
			return call, err
		}
		left -= int64(n)
	}
	return call, nil
}

// forget gives a request up, unless it has ended: then its place may be another's.
func (c *codedConn) forget(call *Call, ended chan error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if call != nil && call.pending && call.ended == ended {
		c.pending.remove(call)
	}
}

// read receives once, sends what requests go on with, and ends the transactions whose answers are complete, or all of
// them when the connection ends.
func (c *codedConn) read(until time.Time, d *Dialer) {
	buffer := buffers.Get().(*[receiveBytes]byte)
	defer buffers.Put(buffer)
	err := c.stream.SetReadDeadline(until)
	n := 0
	if err == nil {
		n, err = c.stream.Read(buffer[:])
	}
	further, wrong := c.arrived(buffer[:n], d)
	if wrong == nil && further != nil {
		c.writing.Lock()
		_, wrong = c.stream.Write(further)
		c.writing.Unlock()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case wrong != nil:
		err = wrong
	case err == nil, timedOut(err), c.datagrams && transient(err):
		return
	case err == io.EOF:
		if e, ends := c.parser.End(&c.pending); ends {
			c.happened(e, sched.Now(), d)
		}
	}
	c.failure = err
	for call := c.pending.Oldest(); call != nil; call = c.pending.Oldest() {
		c.pending.remove(call)
		call.ended <- err
	}
}

// arrived notes what the parser finds in what has arrived, and returns what a request goes on with.
func (c *codedConn) arrived(b []byte, d *Dialer) (further []byte, err error) {
	at := sched.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(b) > 0 {
		used, e, err := c.parser.Next(b, &c.pending)
		if err == nil && e.Send != nil && further != nil {
			err = errUnasked
		}
		if err != nil {
			return nil, err
		}
		b = b[used:]
		if e.Send != nil {
			further = e.Send
		}
		c.happened(e, at, d)
		if e.Last {
			// What the server has not begun may be made again (RFC 9112, section 9.3.2).
			return nil, fmt.Errorf("%w: it said so in an answer", ErrUnprocessed)
		}
	}
	return further, nil
}

// errUnasked means that a server has answered what was not sent yet.
var errUnasked = errors.New("the server has answered before it was asked")

// transient reports whether receiving datagrams may succeed again: err is a peer's ICMP error.
func transient(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

// happened notes what the parser has found; the caller holds the lock.
func (c *codedConn) happened(e Event, at int64, d *Dialer) {
	if e.Late {
		d.Late()
	}
	if e.Call == nil {
		return
	}
	e.note(at)
	if e.Done {
		c.pending.remove(e.Call)
		e.Call.ended <- nil
	}
}

// note records in an event's transaction what has happened to it.
func (e *Event) note(at int64) {
	call := e.Call
	if call.first == 0 {
		call.first = at
		call.x.Took(record.PhaseFirstByte, at-call.sent)
	}
	if e.Done {
		call.x.Took(record.PhaseLastByte, at-call.first)
		call.x.At(at)
		call.x.Answer(e.Outcome, e.Failed)
	}
}

// Encrypted reports whether the connections of a flow have TLS.
func Encrypted(spec flow.Spec) bool {
	return flow.Of(spec.Protocol).Encrypted || spec.TLS != "" && spec.TLS != flow.TLSOff
}
