package application

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"linerate/internal/host/socket"
	"linerate/internal/kernel/sched"
)

// connect makes one uncounted transaction per session or, if connections are not kept, on one session, to see
// that the server answers. It calls first after the first transaction.
func (f *appFlow) connect(ctx context.Context, timeout time.Duration, first func()) {
	var sessions []Session
	for range f.connections() {
		sessions = append(sessions, f.protocol.Session(&Dialer{f}))
	}
	f.mu.Lock()
	f.sessions = sessions
	f.mu.Unlock()
	if err := f.probe(ctx, sessions[0], timeout); err != nil {
		f.Fail("%w", f.openError(err, timeout))
		return
	}
	first()
	if f.Request.PerConnection == 0 {
		if err := f.openRest(ctx, sessions[1:], timeout); err != nil {
			f.Fail("%w", f.openError(err, timeout))
		}
	}
	if f.Failure() != nil {
		return
	}
	f.mu.Lock()
	var one *Conn
	for c := range f.conns {
		one = c
		break
	}
	f.mu.Unlock()
	local, remote := netEnds(one, f.Request)
	f.Open(local, remote, nil)
	f.counts.received.Store(0)
	f.counts.written.Store(0)
	loops, err := f.newLoops()
	if err != nil {
		f.Fail("%w", err)
		return
	}
	f.mu.Lock()
	closed := f.closed
	if !closed {
		f.loops = loops
	}
	f.mu.Unlock()
	if closed { // nothing else would close them
		for _, l := range loops {
			l.close()
		}
	}
}

// openRest makes one transaction per session, at most maxOpening concurrently. It stops at the first failure
// and returns it.
func (f *appFlow) openRest(ctx context.Context, sessions []Session, timeout time.Duration) (failure error) {
	var mu sync.Mutex
	failed := func(err error) bool {
		mu.Lock()
		defer mu.Unlock()
		failure = cmp.Or(failure, err)
		return failure != nil
	}
	places := make(chan struct{}, maxOpening)
	var opening sync.WaitGroup
	for _, s := range sessions {
		places <- struct{}{}
		if failed(ctx.Err()) {
			break
		}
		opening.Go(func() {
			defer func() { <-places }()
			failed(f.probe(ctx, s, timeout))
		})
	}
	opening.Wait()
	return failure
}

// probe makes one uncounted transaction.
func (f *appFlow) probe(ctx context.Context, s Session, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, f.within(timeout))
	defer cancel()
	var x Exchange
	x.due = sched.Now()
	if err := s.Do(ctx, &x); err != nil {
		return err
	}
	if x.failed {
		f.note(x.outcome) // the server answers; later answers are counted by outcome
	}
	return nil
}

// within returns how long a transaction that opens a connection may take.
func (f *appFlow) within(timeout time.Duration) time.Duration {
	if timeout <= 0 {
		return f.timeout()
	}
	return timeout
}

// openError returns why not all connections could be opened, and how many were.
func (f *appFlow) openError(err error, timeout time.Duration) error {
	f.mu.Lock()
	open, local := len(f.conns), f.Request.Local
	for c := range f.conns {
		at, _ := c.addrs()
		local = at.Addr()
		break
	}
	f.mu.Unlock()
	if exhausted := socket.Exhausted(f.Request, local, open, err); exhausted != nil {
		return exhausted
	}
	err = fmt.Errorf("%s to %s: %w", f.Request.Protocol, f.Request.Remote, f.reason(err, f.within(timeout)))
	if n := f.connections(); n > 1 && f.Request.PerConnection == 0 {
		err = fmt.Errorf("%w (%d of %d connections were open by then)", err, open, n)
	}
	return err
}
