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

// listenTCP accepts from a listener of package net, which knows how to listen on all
// addresses of both families, by system calls.
func (f *rrFlow) listenTCP(l *net.TCPListener) (*flowset.Listener, error) {
	fd, err := takeOver(l)
	if err != nil {
		return nil, err
	}
	// One wake-up for connection and first data; a connection without data waits in the
	// kernel, for a cookie longer than for a request.
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
		err = flowset.ErrClosed // nothing would close it
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

// closeListener closes the flow's own listener. No thread uses it any more.
func (f *rrFlow) closeListener() {
	if fd := f.listener.Swap(-1); fd >= 0 {
		sock.CloseSocket(int(fd))
	}
}

// maxPending is how many accepted connections may have shown no cookie at a time, a quarter of
// them from one source (greeting.Queue).
const maxPending = 1024

// greetingTimeout is how long each of them may take; tests have less patience.
var greetingTimeout = greeting.Timeout

// pendingConn is one of them.
type pendingConn struct {
	place *greeting.Waiter
	until int64
}

// accept accepts the flow's connections, which inherit the listener's options, and
// closes the listener.
func (f *rrFlow) accept(listener int) {
	defer f.closeListener()
	waiting, err := sock.NewEpoll()
	if err == nil {
		defer waiting.Close()
		err = errors.Join(f.wakeup.AddTo(waiting, wakeupTag), waiting.AddExclusive(listener, int32(listener)))
	}
	// Connections that have shown no cookie yet: the kernel defers nothing when it sends
	// SYN cookies (tcp_syncookies).
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
	looked := sched.Now() // for those that have had their time
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
		case isTemporary(err), err == syscall.ECONNABORTED: // reset while it waited
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

// showsCookie reads the flow's cookie, if there is one, from a new connection. wait: it has
// shown none yet; neither: it has shown another, or is closed.
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

// acceptOnAll has all threads accept from a listener that is closed with the engine.
func (f *rrFlow) acceptOnAll(listener int) {
	for _, w := range f.workers {
		if err := w.epoll.AddExclusive(listener, int32(listener)); err != nil {
			f.Fail("accept at %s: %w", f.ListenAddr(), err)
			return
		}
	}
}

// addOffered takes a connection that has shown the flow's cookie, of which so many bytes
// are still to be read.
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
		_, _ = sock.TryRead(fd, cookie[:shown]) // if that fails, so does the connection
	}
	f.assign(fd)
}

// assign gives a connection to the thread whose turn it is.
func (f *rrFlow) assign(fd int) {
	f.mu.Lock()
	defer f.mu.Unlock() // the engine closes neither the connection nor its thread meanwhile
	number, kept := f.register(fd)
	if !kept {
		return
	}
	w := f.workers[number%len(f.workers)]
	f.active.Add(1)
	if err := f.watch(w, fd, int32(fd)); err != nil {
		f.Fail("%w", err)
	} else if w.epoll == nil {
		w.assigned <- fd // has room for the one that there is
	}
}

// watch adds a connection to a thread's epoll, if it has one. Over UDP room to send is no event: there
// would be one for each datagram that has gone.
func (f *rrFlow) watch(w *worker, fd int, tag int32) error {
	switch {
	case w.epoll == nil:
		return sock.SetBlocking(fd, true)
	case f.udp:
		return w.epoll.AddRead(fd, tag)
	}
	return w.epoll.Add(fd, tag)
}
