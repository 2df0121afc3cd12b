package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"syscall"
	"time"

	"linerate/internal/bus/greeting"
	"linerate/internal/host/agent"
	"linerate/internal/host/socket"
	"linerate/internal/kernel/sched"
	"linerate/internal/kernel/sock"
	"linerate/internal/model/message"
)

// Tags of what the listener's thread waits for.
const (
	tagWakeup = iota
	tagListener
)

// pollTime is how long the listener is polled for connections after one that
// wants it.
const pollTime = int64(time.Millisecond)

// acceptAll takes connections from the listener on a thread of its own, by raw system
// calls. A connection that has shown the cookie of a flow of transactions is
// handed over as the descriptor that it is, or has been answered right here; any
// other is received in its own time.
func (s *server) acceptAll(l *net.TCPListener) error {
	ctx := s.ctx
	raw, err := l.SyscallConn()
	if err != nil {
		return err
	}
	var listener int
	if err := socket.WithFD(raw, func(fd int) error {
		sock.DetachPoller(fd)
		listener, err = sock.Dup(fd)
		return err
	}); err != nil {
		return err
	}
	defer sock.CloseSocket(listener)
	bell, err := sock.NewEventFD()
	if err != nil {
		return err
	}
	defer bell.Close()
	watch, err := sock.NewEpoll()
	if err != nil {
		return err
	}
	defer watch.Close()
	// A client speaks first, so that one wake-up is enough for a connection
	// and its words; who says nothing comes in a second later.
	if err := errors.Join(bell.AddTo(watch, tagWakeup), watch.AddExclusive(listener, tagListener), sock.SetDeferAccept(listener, 1)); err != nil {
		return fmt.Errorf("listening on %s: %w", l.Addr(), err)
	}
	rung := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(rung)
		bell.Signal()
	})
	defer func() {
		if !stop() {
			<-rung
		}
	}()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	until := int64(0) // the listener is polled
	for emptyPolls := 0; ctx.Err() == nil; {
		limit := time.Duration(-1)
		if until > 0 {
			if limit = 0; socket.Now() > until {
				limit, until = -1, 0
			}
		}
		if watch.Wait(limit) == 0 {
			if emptyPolls++; emptyPolls%16 == 0 {
				sched.Yield()
			}
			continue
		}
		// One at a time: for one that comes alone, a second question whether there is
		// another would be the dearer.
		fd, err := sock.Accept(listener)
		switch {
		case err == syscall.EAGAIN:
		case err != nil:
			// Out of descriptors or memory, or a connection that was reset while it
			// waited: none of it lasts.
			sched.SleepUntil(sched.Now() + int64(time.Millisecond))
		case s.handOff(fd):
			until = socket.Now() + pollTime
		}
	}
	return nil
}

// handOff lets a connection in. True: more of its kind are to be expected at once.
func (s *server) handOff(fd int) bool {
	var frame [greeting.TicketBytes]byte
	n, err := sock.TryPeek(fd, frame[:])
	if err == nil {
		if cookie, ok := greeting.TicketOf(frame[:n]); ok && s.allowedFD(fd) {
			if taken, more := s.offerSocket(cookie, fd, len(frame)); taken {
				return more
			}
		}
	}
	s.acceptSlow(fd)
	return false
}

// allowedFD says that a connection comes from where it may.
func (s *server) allowedFD(fd int) bool {
	if len(s.options.Allow) == 0 {
		return true
	}
	_, from := sock.Addresses(fd)
	return s.allowed(from.Addr())
}

// offerSocket gives a connection to the conductor that waits for it, without the
// cookie that was only looked at.
func (s *server) offerSocket(cookie message.Cookie, fd, shown int) (taken, more bool) {
	s.mu.Lock()
	clients := s.clients
	s.mu.Unlock()
	for _, c := range clients {
		if g, ok := c.(*agent.Client); ok {
			if taken, more = g.OfferSocket(cookie, fd, shown); taken {
				return taken, more
			}
		}
	}
	return false, false
}

// acceptSlow receives a connection that may take its time.
func (s *server) acceptSlow(fd int) {
	if sock.SetBlocking(fd, false) != nil {
		sock.CloseSocket(fd)
		return
	}
	file := os.NewFile(uintptr(fd), "conn")
	conn, err := net.FileConn(file)
	file.Close()
	if err != nil {
		return
	}
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		conn.Close()
		return
	}
	s.receive(tcp)
}
