//go:build !portable

package transaction

import (
	"errors"
	"fmt"
	"net"
	"syscall"

	"linerate/internal/bus/greeting"
	"linerate/internal/host/flowset"
	"linerate/internal/host/socket"
	"linerate/internal/kernel/sched"
	"linerate/internal/kernel/sock"
)

// listenTCP lets the workers accept by system calls from a listener of package net, which knows how
// to listen on all addresses of both families.
func (f *rrFlow) listenTCP(l *net.TCPListener) (*flowset.Listener, error) {
	fd, err := socket.TakeOver(l)
	if err != nil {
		return nil, err
	}
	// One wake-up for connection and first data. A connection without data waits in the kernel,
	// longer for a cookie than for a request.
	deferred := 0
	switch {
	case !f.Request.Cookie.IsZero():
		deferred = 10
	case f.isCRR():
		deferred = 1
	}
	if err = f.setSocketOptions(fd); err == nil && deferred > 0 {
		if err = sock.SetDeferAccept(fd, deferred); err != nil {
			err = fmt.Errorf("setting TCP_DEFER_ACCEPT: %w", err)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil && f.closed {
		err = flowset.ErrClosed // nothing would close the listener later
	}
	if err != nil {
		sock.CloseSocket(fd)
		return nil, err
	}
	f.listener.Store(int32(fd)) // before the first event
	serve := func() { f.accept(fd) }
	if f.isCRR() {
		serve = func() { f.acceptOnAll(fd) }
	}
	return &flowset.Listener{Addr: socket.AddrPort(l.Addr()), Serve: serve, Close: func() {}}, nil
}

// closeListener closes the flow's own listener. It must be called when no thread uses it any more.
func (f *rrFlow) closeListener() {
	if fd := f.listener.Swap(-1); fd >= 0 {
		sock.CloseSocket(int(fd))
	}
}

// maxPending is the maximum number of accepted connections that have not sent a cookie yet, a
// quarter of them from one source (greeting.Queue).
const maxPending = 1024

// greetingTimeout is the time in which a connection must send its cookie. Tests shorten it.
var greetingTimeout = greeting.Timeout

// pendingConn is an accepted connection that has not sent its cookie yet.
type pendingConn struct {
	place *greeting.Waiter
	until int64
}

// accept accepts the flow's connections, which inherit the options of the listener, and closes the
// listener.
func (f *rrFlow) accept(listener int) {
	defer f.closeListener()
	waiting, err := sock.NewEpoll()
	if err == nil {
		defer waiting.Close()
		err = errors.Join(f.wakeup.AddTo(waiting, wakeupTag), waiting.AddExclusive(listener, int32(listener)))
	}
	// Connections without a cookie so far. The kernel does not defer them when it sends SYN cookies
	// (tcp_syncookies).
	queue, pending := greeting.NewQueue(maxPending), map[int]pendingConn{}
	leave := func(fd int) {
		if p, waits := pending[fd]; waits {
			p.place.Leave()
			delete(pending, fd)
		}
	}
	drop := func(fd int) {
		leave(fd)
		sock.CloseSocket(fd)
	}
	defer func() {
		for fd := range pending {
			sock.CloseSocket(fd)
		}
	}()
	admit := func(fd int) {
		_, waits := pending[fd]
		switch shown, wait := f.showsCookie(fd); {
		case shown && f.arrived.Load() < int64(f.connections()):
			if waits {
				waiting.Remove(fd)
				leave(fd)
			}
			f.arrived.Add(1)
			f.assign(fd)
		case wait && waits:
		case wait && waiting.Add(fd, int32(fd)) == nil:
			_, remote := sock.Addresses(fd)
			place := queue.Enter(remote.Addr(), func() { drop(fd) })
			pending[fd] = pendingConn{place, sched.Now() + int64(greetingTimeout)}
		default:
			drop(fd)
		}
	}
	looked := sched.Now() // time of the last check for connections whose time has expired
	for err == nil && f.arrived.Load() < int64(f.connections()) && !f.engine.Signals.Quit.Load() && f.Failure() == nil {
		if now := sched.Now(); now-looked > int64(checkInterval) {
			looked = now
			for fd, p := range pending {
				if now > p.until {
					drop(fd)
				}
			}
		}
		var fd int
		fd, err = sock.Accept(listener)
		switch {
		case err == syscall.EAGAIN:
			err = nil
			for i := range waiting.Wait(checkInterval) {
				if tag, _, _ := waiting.Event(i); tag != wakeupTag && int(tag) != listener {
					admit(int(tag))
				}
			}
		case isTemporary(err), err == syscall.ECONNABORTED: // reset before it was accepted
			err = nil
		case err == nil:
			if local, remote := sock.Addresses(fd); f.engine.access.Allows(local.Addr(), remote.Addr()) {
				admit(fd)
			} else {
				closeReset(fd)
			}
		}
	}
	if err != nil {
		f.Fail("accept at %s: %w", f.ListenAddr(), socket.Reason(err, f.Request.Local))
	}
}

// showsCookie reads the cookie from a new connection if the flow has one. Shown reports whether it
// is the flow's. Wait reports whether none has arrived yet. If both are false, the connection has
// sent another cookie or is closed.
func (f *rrFlow) showsCookie(fd int) (shown, wait bool) {
	if f.Request.Cookie.IsZero() {
		return true, false
	}
	var frame [greeting.CookieFrameBytes]byte
	n, err := sock.TryPeek(fd, frame[:])
	if err != nil {
		return false, isTemporary(err)
	}
	cookie, whole := greeting.ParseCookie(frame[:n])
	if !whole {
		return false, n > 0 && n < len(frame)
	}
	_, err = sock.TryRead(fd, frame[:])
	return err == nil && cookie == f.Request.Cookie, false
}

// acceptOnAll lets all threads accept from a listener that is closed together with the engine.
func (f *rrFlow) acceptOnAll(listener int) {
	for _, w := range f.workers {
		if err := w.epoll.AddExclusive(listener, int32(listener)); err != nil {
			f.Fail("accept at %s: %w", f.ListenAddr(), err)
			return
		}
	}
}

// addOffered adds a connection that has sent the flow's cookie. Shown is the number of bytes of the
// cookie that must still be read.
func (f *rrFlow) addOffered(fd, shown int) {
	err := socket.PrepareAccepted(f.Request, fd)
	if err == nil {
		err = f.setSocketOptions(fd)
	}
	if err != nil {
		_, remote := sock.Addresses(fd)
		f.Fail("a connection from %s: %w", remote, socket.Reason(err, remote.Addr()))
		closeReset(fd)
		return
	}
	if f.isCRR() {
		f.workers[0].responder.serveOnListener(fd, shown)
		return
	}
	if shown > 0 {
		var cookie [greeting.CookieFrameBytes]byte
		_, _ = sock.TryRead(fd, cookie[:shown]) // if that fails, the connection fails later
	}
	f.assign(fd)
}

// assign assigns a connection to a thread, in turn.
func (f *rrFlow) assign(fd int) {
	f.mu.Lock()
	defer f.mu.Unlock() // meanwhile the engine closes neither the connection nor its thread
	number, kept := f.register(fd)
	if !kept {
		return
	}
	w := f.workers[number%len(f.workers)]
	f.active.Add(1)
	if err := f.watch(w, fd, int32(fd)); err != nil {
		f.Fail("%w", err)
	} else if w.epoll == nil {
		w.assigned <- fd // has room for the only connection
	}
}

// watch adds a connection to the epoll of a thread that has one. Over UDP it does not watch for
// room to send, since each datagram that leaves would be an event.
func (f *rrFlow) watch(w *worker, fd int, tag int32) error {
	switch {
	case w.epoll == nil:
		return sock.SetBlocking(fd, true)
	case f.udp:
		return w.epoll.AddRead(fd, tag)
	}
	return w.epoll.Add(fd, tag)
}
