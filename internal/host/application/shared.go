package application

import (
	"context"
	"net"
	"sync"
)

// Shared is the connection that a session's transactions share: one at a time, which the
// first transaction opens, and which is replaced after a failure or after as many
// transactions as the flow allows one. Its methods may be called from several goroutines.
type Shared[C interface{ Close() }] struct {
	most    int           // transactions of a connection; 0: any number
	opening chan struct{} // held by the one that opens a connection

	mu      sync.Mutex // held for assignments only
	current *Lease[C]
	closed  bool
}

// Lease is a connection with the transactions that use it.
type Lease[C interface{ Close() }] struct {
	Conn C

	uses, active int
	retired      bool // no further transaction uses it
}

// NewShared makes one for the session of a dialer, without a connection.
func NewShared[C interface{ Close() }](d *Dialer) *Shared[C] {
	return &Shared[C]{most: d.Spec().PerConnection, opening: make(chan struct{}, 1)}
}

// Get is the connection for one transaction, opened by open if there is none; the
// transaction gives it back by Release.
func (s *Shared[C]) Get(ctx context.Context, open func() (C, error)) (*Lease[C], error) {
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
	l := &Lease[C]{Conn: conn}
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
func (s *Shared[C]) take() *Lease[C] {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == nil {
		return nil
	}
	return s.use(s.current)
}

// use counts a transaction of a connection; it is called with the lock.
func (s *Shared[C]) use(l *Lease[C]) *Lease[C] {
	l.uses++
	l.active++
	if l.uses == s.most {
		l.retired, s.current = true, nil
	}
	return l
}

// Release gives a connection back. It is closed if it is broken, or once the last of
// the transactions that it may have is over.
func (s *Shared[C]) Release(l *Lease[C], broken bool) {
	s.mu.Lock()
	l.active--
	if broken && s.current == l {
		s.current = nil
	}
	l.retired = l.retired || broken
	over := broken || l.retired && l.active == 0
	s.mu.Unlock()
	if over {
		l.Conn.Close()
	}
}

// Close closes the connection; no other is opened.
func (s *Shared[C]) Close() {
	s.mu.Lock()
	l := s.current
	s.current, s.closed = nil, true
	s.mu.Unlock()
	if l != nil {
		l.Conn.Close()
	}
}
