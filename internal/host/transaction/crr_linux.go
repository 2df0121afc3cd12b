//go:build !portable

package transaction

import (
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"linerate/internal/kernel/sched"
	"linerate/internal/kernel/sock"
)

// A connection for each transaction. The responder closes with the last byte of
// its response, so that the end of the stream comes along; the requesting end, which
// then has all that there is, resets. So nothing is left in TIME_WAIT on either
// host, whose ports would be used up within seconds.

// connect opens a connection for a transaction. The request is to follow at
// once: on a short path, the connection is open when the call returns. False: it
// has failed.
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

// socket makes one for a transaction.
func (a *requester) socket(peer *sock.Peer) (int, error) {
	fd, err := peer.Socket(false)
	if err != nil {
		return -1, os.NewSyscallError("socket", err)
	}
	err = a.f.opener.prepare(fd)
	if err == nil {
		err = sock.SetLingerZero(fd)
	}
	if err == nil {
		err = sock.DisableQuickAck(fd)
	}
	if err != nil {
		sock.CloseSocket(fd)
		return -1, err
	}
	return fd, nil
}

// runSequential makes one connection after another, and waits for each by itself: there is
// nothing to choose from.
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
		for a.advance(c); a.done.Load() == done && c.fd >= 0 && !quit.Load(); a.advance(c) {
			if a.poll {
				a.emptyPoll()
			} else if _, _ = a.wait.Wait(int(c.fd), c.unsent > 0, limit); a.paced {
				break // something may be due
			}
		}
		woken, a.emptyPolls = a.last.Load(), 0
	}
}

// advance writes what is left of a request, or reads what there is of a response.
func (a *requester) advance(c *conn) {
	if c.unsent > 0 {
		a.writeRequest(c)
	}
	if c.unsent == 0 {
		a.readResponse(int(c.index))
	}
}

// tidy does what can be done while a response is awaited: it closes the connection
// before, and makes the socket for the next.
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

// closeConn closes a connection, which has done what it was for.
func (a *requester) closeConn(c *conn) {
	switch {
	case c.fd < 0:
	case a.sequential && a.previous < 0:
		a.previous = int(c.fd) // closed by tidy, beside the next
	default:
		sock.CloseSocket(int(c.fd))
		add(&a.closed, 1)
	}
	atomic.StoreInt32(&c.fd, -1)
	c.unsent = 0
}

// retry lets connections that have failed try again, a moment later, so that a
// responder that is gone does not get them without pause. With a pace, that is for those
// behind their schedule, which may be over.
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

// closeAll closes what is still open.
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

// sooner is the shorter of two limits of waiting, the first of which may be none.
func sooner(limit, other time.Duration) time.Duration {
	if limit < 0 {
		return other
	}
	return min(limit, other)
}

// acceptSome accepts connections of which each brings one request: at most some, so
// that those that are open have their turn.
func (r *responder) acceptSome(listener int) {
	const most = 16
	for range most {
		fd, err := sock.Accept(listener)
		if err != nil {
			return // nothing there, or gone while it waited
		}
		r.serveConn(fd, 0)
		if r.f.Request.Connections <= len(r.f.workers) {
			return // there is no other
		}
	}
}

// serveOnListener responds to a connection of a shared listener, on its thread.
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

// closeAll closes the connections that have not had their answer.
func (r *responder) closeAll() {
	r.mu.Lock() // none comes in any more
	defer r.mu.Unlock()
	r.binding.Release() // which may be the listener's thread
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

// serveConn answers a new connection, at once if its request is there. What comes
// first, so many bytes, is a cookie that has been looked at.
func (r *responder) serveConn(fd, shown int) {
	add(&r.opened, 1)
	r.followPackets(fd)
	if r.f.active.Load() == 0 {
		r.f.noteConn(sock.Addresses(fd))
	}
	c := r.state(fd)
	*c = responderConn{perTransaction: true, cookieLeft: shown}
	r.readRequest(fd, c)
	if c.perTransaction { // not over yet
		c.watched = true
		if err := r.epoll.Add(fd, int32(fd)); err != nil {
			r.endConn(fd, err)
		}
	}
}
