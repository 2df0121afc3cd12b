//go:build !portable

package transaction

import (
	"errors"
	"sync/atomic"
	"syscall"
	"time"

	"linerate/internal/host/caused"
	"linerate/internal/kernel/sched"
	"linerate/internal/kernel/sock"
)

// With crr each transaction has its own connection. The responder closes it with the last byte of
// its response, so that the end of the stream arrives with it. The requester, which then has
// everything, resets the connection. So neither host has connections in TIME_WAIT, which would use
// up the ports within seconds.

// connect opens a connection for a transaction whose request follows immediately. On a short path
// the connection is open when it returns. It returns false if the connection failed.
func (a *requester) connect(c *conn) bool {
	peer := a.f.opener.peer(int(c.index))
	fd, err := a.spare, error(nil)
	if a.spare = -1; fd < 0 {
		if fd, err = a.socket(peer); err != nil {
			a.fail(c, err)
			return false
		}
	}
	atomic.StoreInt32(&c.fd, int32(fd))
	add(&a.opened, 1)
	err = peer.Connect(fd)
	switch {
	case err != nil && err != syscall.EINPROGRESS:
	case a.sequential:
		err = nil
	default:
		err = a.epoll.Add(fd, int32(c.index))
	}
	if err != nil {
		a.fail(c, err)
		return false
	}
	return true
}

// socket creates a socket for a transaction.
func (a *requester) socket(peer *sock.Peer) (int, error) {
	fd, err := a.f.opener.socket(peer)
	if err != nil {
		return -1, err
	}
	caused.Add(caused.Reset)
	if err := errors.Join(sock.SetLingerZero(fd), sock.DisableQuickAck(fd)); err != nil {
		sock.CloseSocket(fd)
		return -1, err
	}
	return fd, nil
}

// runSequential makes one connection after another. It waits for each directly, without epoll.
func (a *requester) runSequential() {
	c, quit := &a.conns[0], &a.f.engine.Signals.Quit
	woken := sched.Now()
	if !a.paced {
		a.begin(c, woken)
	}
	for !quit.Load() {
		limit := checkInterval
		if a.paced {
			woken = sched.Now()
			limit = sooner(a.beginDue(), limit)
		}
		if a.failedConns > 0 {
			a.retry()
		}
		a.tidy()
		switch {
		case c.fd >= 0:
		case a.poll && a.paced && a.failedConns == 0:
			a.emptyPoll()
			continue
		default:
			a.wait.Sleep(limit)
			continue
		}
		if a.poll {
			add(&a.useful, sched.Now()-woken)
		}
		done := a.done.Load()
		a.spin.Begin()
		for a.advance(c); a.done.Load() == done && c.fd >= 0 && !quit.Load(); a.advance(c) {
			if a.poll {
				a.emptyPoll()
			} else if a.spins && a.spin.Again() {
				continue
			} else if _, _ = a.wait.Wait(int(c.fd), c.unsent > 0, limit); a.paced {
				break // a transaction may be due
			}
		}
		if a.spins {
			a.spin.End()
		}
		woken, a.emptyPolls = a.last.Load(), 0
	}
}

// advance writes the rest of a request, or reads the available part of a response.
func (a *requester) advance(c *conn) {
	if c.unsent > 0 {
		a.writeRequest(c)
	}
	if c.unsent == 0 {
		a.readResponse(int(c.index))
	}
}

// tidy uses the time in which a response is awaited: it closes the previous connection and creates
// the socket for the next one.
func (a *requester) tidy() {
	if a.previous >= 0 {
		sock.CloseSocket(a.previous)
		add(&a.closed, 1)
		a.previous = -1
	}
	if a.spare < 0 {
		// If that fails, connect tries again and reports the error.
		a.spare, _ = a.socket(a.f.opener.peer(0))
	}
}

// closeConn closes a connection whose transaction has ended.
func (a *requester) closeConn(c *conn) {
	switch {
	case c.fd < 0:
	case a.sequential && a.previous < 0:
		a.previous = int(c.fd) // tidy closes it and creates the next socket
	default:
		sock.CloseSocket(int(c.fd))
		add(&a.closed, 1)
	}
	atomic.StoreInt32(&c.fd, -1)
	c.unsent = 0
}

// retry opens connections again that have failed, after a short delay so that a host that is gone
// is not flooded. With a pace, they then make the transactions that are behind their schedule.
func (a *requester) retry() {
	at := sched.Now()
	if at < a.retryAt {
		return
	}
	a.retryAt = at + int64(checkInterval)
	a.failedConns = 0
	for i := range a.conns {
		if a.conns[i].began == 0 {
			a.beginNext(i, at)
		}
	}
}

// closeAll closes the connections that are still open.
func (a *requester) closeAll() {
	for i := range a.conns {
		a.closeConn(&a.conns[i])
	}
	if a.previous >= 0 {
		sock.CloseSocket(a.previous)
		add(&a.closed, 1)
	}
	if a.spare >= 0 {
		sock.CloseSocket(a.spare)
	}
}

// sooner returns the shorter of two waiting times. A negative limit means no limit.
func sooner(limit, other time.Duration) time.Duration {
	if limit < 0 {
		return other
	}
	return min(limit, other)
}

// acceptSome accepts at most a few connections, each with one request, so that open connections get
// their turn.
func (r *responder) acceptSome(listener int) {
	const most = 16
	for range most {
		fd, err := sock.Accept(listener)
		if err != nil {
			return // there is none, or it was closed before it was accepted
		}
		r.serveConn(fd, 0)
		if r.f.Request.Connections <= len(r.f.workers) {
			return // the listener has no further connection
		}
	}
}

// serveOnListener responds to a connection from a shared listener, on the listener's thread.
func (r *responder) serveOnListener(fd, shown int) {
	if r.f.listenerThread.Load() == 0 {
		r.f.listenerThread.Store(int64(sched.ThreadID()))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.f.engine.Signals.Quit.Load() {
		sock.CloseSocket(fd)
		return
	}
	if !r.f.polls || r.done.Load()%sampleEvery != 0 {
		r.serveConn(fd, shown)
		return
	}
	at := sched.Now()
	r.serveConn(fd, shown)
	add(&r.useful, sampleEvery*(sched.Now()-at))
}

// closeAll closes the connections that have not received their response.
func (r *responder) closeAll() {
	r.mu.Lock() // no further connection is accepted
	defer r.mu.Unlock()
	r.binding.Release() // the calling thread may be the listener's
	for i, p := range r.replies {
		if p == nil {
			continue
		}
		for k := range p {
			if c := &p[k]; c.perTransaction {
				fd := i*len(p) + k
				_ = sock.SetLingerZero(fd)
				r.closeConn(fd, c)
			}
		}
	}
}

// serveConn answers a new connection, immediately if its request is available. The first shown
// bytes are a cookie that has already been checked.
func (r *responder) serveConn(fd, shown int) {
	add(&r.opened, 1)
	caused.Add(caused.Reset) // its other end closes with RST
	r.followPackets(fd)
	if r.f.active.Load() == 0 {
		r.f.noteConn(sock.Addresses(fd))
	}
	c := r.state(fd)
	*c = responderConn{perTransaction: true, cookieLeft: shown}
	r.readRequest(fd, c)
	if c.perTransaction { // not finished yet
		c.watched = true
		if err := r.epoll.Add(fd, int32(fd)); err != nil {
			r.endConn(fd, err)
		}
	}
}
