package application

import (
	"context"
	"errors"
	"net"
	"sync"
)

// Pooled is a connection that transactions use one after another, or several at a time.
type Pooled interface {
	Close()
	// Usable reports whether the server has not ended the connection, as far as is known.
	Usable() bool
	// Received is how many bytes have arrived so far.
	Received() uint64
}

// ErrUnprocessed marks the failure of a transaction that the server has not begun, and says
// so because it ends the connection (GOAWAY: RFC 9113, section 6.8; RFC 9114, section 5.2).
var ErrUnprocessed = errors.New("the server ends the connection and has not begun the request")

// mostAttempts is how often a transaction is begun that the server did not begin.
const mostAttempts = 3

// Shared is the connection that a session's transactions share: one at a time, which the
// first transaction opens, and which is replaced after a failure, once the server has ended
// it, or after as many transactions as the flow allows one. Its methods may be called from
// several goroutines.
type Shared[C Pooled] struct {
	most    int           // transactions of a connection; 0: any number
	opening chan struct{} // held by the one that opens a connection

	mu      sync.Mutex // held for assignments only
	current *lease[C]
	closed  bool
}

// lease is a connection with the transactions that use it.
type lease[C Pooled] struct {
	conn C

	uses, active int
	retired      bool // no further transaction uses it
}

// NewShared makes one for the session of a dialer, without a connection.
func NewShared[C Pooled](d *Dialer) *Shared[C] {
	return &Shared[C]{most: d.Spec().PerConnection, opening: make(chan struct{}, 1)}
}

// Do makes a transaction over the connection, which open opens if there is none; last: no
// further one is to use it. A transaction that fails with ErrUnprocessed is made again over
// a new connection. A connection is not used again after a failure; after a timeout only
// if something has arrived over it meanwhile.
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

// get is the connection for one transaction, which gives it back by release.
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
	if l := s.take(); l != nil { // another has opened it meanwhile
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

// take is the open connection, if another transaction may use it.
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

// use counts a transaction of a connection; it is called with the lock.
func (s *Shared[C]) use(l *lease[C]) {
	l.uses++
	l.active++
	if l.uses == s.most {
		l.retired, s.current = true, nil
	}
}

// release gives a connection back, for the last time or not. It is closed once the last of
// the transactions that use it is over.
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

// Close closes the connection; no other is opened.
func (s *Shared[C]) Close() {
	s.mu.Lock()
	l := s.current
	s.current, s.closed = nil, true
	s.mu.Unlock()
	if l != nil {
		l.conn.Close()
	}
}
