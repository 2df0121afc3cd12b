package application

import (
	"context"
	"errors"
	"net"
	"sync"
)

// Pooled is a connection that several transactions use, in sequence or concurrently.
type Pooled interface {
	Close()
	// Usable reports whether, as far as known, the server has not closed the connection.
	Usable() bool
	// Received returns the bytes received so far.
	Received() uint64
}

// ErrUnprocessed marks a transaction that the server did not begin because it is closing the connection
// (GOAWAY: RFC 9113, section 6.8; RFC 9114, section 5.2).
var ErrUnprocessed = errors.New("the server ends the connection and has not begun the request")

// mostAttempts is how often a transaction is tried that the server does not begin.
const mostAttempts = 3

// Shared is the connection of a session's transactions. The first transaction opens it. It is replaced after a
// failure, when the server has closed it, and after as many transactions as the flow allows per connection. Its
// methods are safe for concurrent use.
type Shared[C Pooled] struct {
	most    int           // transactions per connection; 0: any number
	opening chan struct{} // held while a connection is being opened

	mu      sync.Mutex // held for assignments only
	current *lease[C]
	closed  bool
}

// lease is a connection and the transactions that use it.
type lease[C Pooled] struct {
	conn C

	uses, active int
	retired      bool // no further transaction may use it
}

// NewShared returns a Shared without a connection for d's session.
func NewShared[C Pooled](d *Dialer) *Shared[C] {
	return &Shared[C]{most: d.Spec().PerConnection, opening: make(chan struct{}, 1)}
}

// Do makes a transaction on the shared connection; open opens it if there is none. transact makes the
// transaction and returns last if no further one may use the connection. After ErrUnprocessed, Do repeats the
// transaction on a new connection. After a failure, the connection is not used again; after a timeout, it is if
// data has arrived meanwhile.
func (s *Shared[C]) Do(ctx context.Context, open func() (C, error), transact func(C) (last bool, err error)) error {
	for attempt := 1; ; attempt++ {
		l, err := s.get(ctx, open)
		if err != nil {
			return err
		}
		before := l.conn.Received()
		last, err := transact(l.conn)
		s.release(l, last || err != nil && (ctx.Err() == nil || l.conn.Received() == before))
		if !errors.Is(err, ErrUnprocessed) || attempt == mostAttempts || ctx.Err() != nil {
			return err
		}
	}
}

// get returns the connection for one transaction; return it with release.
func (s *Shared[C]) get(ctx context.Context, open func() (C, error)) (*lease[C], error) {
	if l := s.take(); l != nil {
		return l, nil
	}
	select {
	case s.opening <- struct{}{}:
		defer func() { <-s.opening }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if l := s.take(); l != nil { // another transaction opened it meanwhile
		return l, nil
	}
	conn, err := open()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	l := &lease[C]{conn: conn}
	closed := s.closed
	if !closed {
		s.current = l
		s.use(l)
	}
	s.mu.Unlock()
	if closed {
		conn.Close()
		return nil, net.ErrClosed
	}
	return l, nil
}

// take returns the open connection if another transaction may use it.
func (s *Shared[C]) take() *lease[C] {
	s.mu.Lock()
	l := s.current
	if l != nil {
		s.use(l)
	}
	s.mu.Unlock()
	if l == nil || l.conn.Usable() {
		return l
	}
	s.release(l, true)
	return nil
}

// use counts a transaction on a connection; the caller holds the lock.
func (s *Shared[C]) use(l *lease[C]) {
	l.uses++
	l.active++
	if l.uses == s.most {
		l.retired, s.current = true, nil
	}
}

// release returns a connection; last means that no further transaction may use it. It is closed when the last
// transaction that uses it ends.
func (s *Shared[C]) release(l *lease[C], last bool) {
	s.mu.Lock()
	l.active--
	if last && s.current == l {
		s.current = nil
	}
	l.retired = l.retired || last
	over := l.retired && l.active == 0
	s.mu.Unlock()
	if over {
		l.conn.Close()
	}
}

// Detach returns the open connection and how many transactions have used it, and forgets it; ok is false if there is
// none. No transaction may be in progress.
func (s *Shared[C]) Detach() (conn C, uses int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.current
	if s.current = nil; l == nil {
		return conn, 0, false
	}
	return l.conn, l.uses, true
}

// Close closes the connection for good.
func (s *Shared[C]) Close() {
	s.mu.Lock()
	l := s.current
	s.current, s.closed = nil, true
	s.mu.Unlock()
	if l != nil {
		l.conn.Close()
	}
}
