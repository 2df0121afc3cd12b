package transaction

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"linerate/internal/host/socket"

	"linerate/internal/kernel/sched"
	"linerate/internal/kernel/sock"
)

// A connection for each transaction. The responder closes with the last byte of
// its response, so that the end of the stream comes along; the asking end, which
// then has all that there is, resets. So nothing is left in TIME_WAIT on either
// host, whose ports would be used up within seconds.

// connect opens a connection for a transaction. The request is to follow at
// once: on a short way, the connection is open when the call returns. False: it
// has failed.
func (a *asking) connect(c *conn) bool {
	peer := a.f.opener.to(int(c.place))
	fd, err := a.spare, error(nil)
	if a.spare = -1; fd < 0 {
		if fd, err = a.socket(peer); err != nil {
			a.broken(c, err)
			return false
		}
	}
	atomic.StoreInt32(&c.fd, int32(fd))
	bump(&a.opened, 1)
	err = peer.Connect(fd)
	switch {
	case err != nil && err != syscall.EINPROGRESS:
	case a.single:
		err = nil
	default:
		err = a.epoll.Add(fd, int32(c.place))
	}
	if err != nil {
		a.broken(c, err)
		return false
	}
	return true
}

// socket makes one for a transaction.
func (a *asking) socket(peer *sock.Peer) (int, error) {
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

// inTurn makes one connection after another, and waits for each by itself: there is
// nothing to choose from.
func (a *asking) inTurn() {
	c, quit := &a.conns[0], &a.f.engine.quit
	vain, woken := 0, socket.Now()
	if !a.paced {
		a.begin(c, woken)
	}
	for !quit.Load() {
		limit := glance
		if a.paced {
			woken = socket.Now()
			limit = sooner(a.due(), limit)
		}
		if a.resting > 0 {
			a.resume()
		}
		a.tidy()
		switch {
		case c.fd >= 0:
		case a.poll && a.paced && a.resting == 0:
			a.rest(&vain)
			continue
		default:
			a.wait.Sleep(limit)
			continue
		}
		if a.poll {
			bump(&a.useful, socket.Now()-woken)
		}
		done := a.done.Load()
		for a.carry(c); a.done.Load() == done && c.fd >= 0 && !quit.Load(); a.carry(c) {
			if a.poll {
				a.rest(&vain)
			} else if _, _ = a.wait.Wait(int(c.fd), c.ask > 0, limit); a.paced {
				break // something may be due
			}
		}
		woken, vain = a.last.Load(), 0
	}
}

// carry writes what is left of a request, or reads what there is of a response.
func (a *asking) carry(c *conn) {
	if c.ask > 0 {
		a.push(c)
	}
	if c.ask == 0 {
		a.pull(int(c.place))
	}
}

// tidy does what can be done while a response is awaited: it closes the connection
// before, and makes the socket for the next.
func (a *asking) tidy() {
	if a.former >= 0 {
		sock.CloseSocket(a.former)
		bump(&a.closed, 1)
		a.former = -1
	}
	if a.spare < 0 {
		// One that cannot be made now is missed, and its failure told, when it is needed.
		a.spare, _ = a.socket(a.f.opener.to(0))
	}
}

// discard closes a connection, which has done what it was for.
func (a *asking) discard(c *conn) {
	switch {
	case c.fd < 0:
	case a.single && a.former < 0:
		a.former = int(c.fd) // closed by tidy, beside the next
	default:
		sock.CloseSocket(int(c.fd))
		bump(&a.closed, 1)
	}
	atomic.StoreInt32(&c.fd, -1)
	c.ask = 0
}

// resume lets connections that have failed try again, a moment later: a responder
// that is gone is not to be knocked at without pause.
func (a *asking) resume() {
	at := socket.Now()
	if at < a.again {
		return
	}
	a.again = at + int64(glance)
	a.resting = 0
	if a.paced {
		return // the schedule says when
	}
	for i := range a.conns {
		if c := &a.conns[i]; c.began == 0 {
			a.begin(c, at)
		}
	}
}

// drop closes what is still open.
func (a *asking) drop() {
	for i := range a.conns {
		a.discard(&a.conns[i])
	}
	if a.former >= 0 {
		sock.CloseSocket(a.former)
		bump(&a.closed, 1)
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

// probe makes one transaction to see that there is somebody who answers. It is
// not counted.
func (f *end) probe(ctx context.Context, o *opener, timeout time.Duration) error {
	fd, err := o.to(0).Socket(false)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer sock.CloseSocket(fd)
	if err = errors.Join(o.prepare(fd), sock.SetLingerZero(fd)); err != nil {
		return err
	}
	waiting, err := sock.NewEpoll()
	if err != nil {
		return err
	}
	defer waiting.Close()
	if err = o.to(0).Connect(fd); err != nil && err != syscall.EINPROGRESS {
		return os.NewSyscallError("connect", err)
	}
	if err = waiting.Add(fd, 0); err != nil {
		return err
	}
	began, connected := time.Now(), false
	ask, want := append(f.ticket[:len(f.ticket):len(f.ticket)], make([]byte, requestBytes(f.order))...), responseBytes(f.order)
	buffer := make([]byte, 64<<10)
	for want > 0 {
		waiting.Wait(glance)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case timeout > 0 && time.Since(began) > timeout && connected:
			return errMute
		case timeout > 0 && time.Since(began) > timeout:
			return errSlow
		}
		if err := sock.SocketError(fd); err != nil {
			return os.NewSyscallError("connect", err)
		}
		for len(ask) > 0 && err == nil {
			var n int
			if n, err = sock.TrySend(fd, ask[:min(len(ask), len(payload))], false); n > 0 && !connected {
				connected = true
				f.mu.Lock()
				f.local, f.remote = sock.Addresses(fd)
				f.mu.Unlock()
			}
			ask = ask[max(0, n):]
		}
		for want > 0 && (err == nil || passing(err)) {
			var n int
			n, err = sock.TryRead(fd, buffer[:min(want, len(buffer))])
			if err == nil && n == 0 {
				return errClosed
			}
			if err != nil {
				break
			}
			want -= n
		}
		if err != nil && !passing(err) {
			return os.NewSyscallError("connect", err)
		}
		err = nil
	}
	f.came.Add(1)
	f.joined.Add(1)
	return nil
}

var (
	errMute   = errors.New("connected, but no answer to the first request")
	errClosed = errors.New("the peer closed the connection instead of answering")
)

// turn accepts connections of which each brings one request: at most some, so
// that those that are open have their turn.
func (r *answering) turn(listener int) {
	const most = 16
	for range most {
		fd, err := sock.Accept(listener)
		if err != nil {
			return // nothing there, or gone while it waited
		}
		r.visitor(fd, 0)
		if r.f.order.Connections <= len(r.f.workers) {
			return // there is no other
		}
	}
}

// visit answers a connection that a door brings, on the door's thread.
func (r *answering) visit(fd, shown int) {
	if r.f.door.Load() == 0 {
		r.f.door.Store(int64(sched.ThreadID()))
	}
	r.turns.Lock()
	defer r.turns.Unlock()
	if r.f.engine.quit.Load() {
		sock.CloseSocket(fd)
		return
	}
	if !r.f.order.Poll || r.done.Load()%sampled != 0 {
		r.visitor(fd, shown)
		return
	}
	at := socket.Now()
	r.visitor(fd, shown)
	bump(&r.useful, sampled*(socket.Now()-at))
}

// dismiss closes the connections that have not had their answer.
func (r *answering) dismiss() {
	r.turns.Lock() // none comes in any more
	defer r.turns.Unlock()
	r.place.Release() // which may be the door's thread
	for fd := range r.replies {
		if c := &r.replies[fd]; c.visits {
			_ = sock.SetLingerZero(fd)
			r.over(fd, c)
		}
	}
}

// visitor answers a new connection, at once if its request is there. What comes
// first, so many bytes, is a ticket that somebody has looked at.
func (r *answering) visitor(fd, shown int) {
	bump(&r.opened, 1)
	r.keepUp(fd)
	if r.f.joined.Load() == 0 {
		r.f.welcome(fd)
	}
	c := r.state(fd)
	*c = reply{visits: true, shown: shown}
	r.pull(fd, c)
	if c.visits { // not over yet
		if err := r.epoll.Add(fd, int32(fd)); err != nil {
			r.end(fd, err)
		}
	}
}

// welcome notes the first connection.
func (f *end) welcome(fd int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.came.Add(1) == 1 {
		f.local, f.remote = sock.Addresses(fd)
	}
	f.joined.Add(1)
}
