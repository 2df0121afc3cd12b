//go:build !portable

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
	"linerate/internal/host/socket"
	"linerate/internal/host/traffic"
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

// acceptAll accepts connections on a thread of its own, by raw system calls. A
// connection that begins with the cookie of a flow of transactions is handed to the
// flow as a descriptor, or answered right here; any other gets a goroutine.
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
	wakeup, err := sock.NewEventFD()
	if err != nil {
		return err
	}
	defer wakeup.Close()
	watch, err := sock.NewEpoll()
	if err != nil {
		return err
	}
	defer watch.Close()
	// Clients send first, so that one wake-up serves a connection and its first data; a
	// connection without data is accepted after a second.
	if err := errors.Join(wakeup.AddTo(watch, tagWakeup), watch.AddExclusive(listener, tagListener),
		sock.SetDeferAccept(listener, 1)); err != nil {
		return fmt.Errorf("listening on %s: %w", l.Addr(), err)
	}
	signaled := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(signaled)
		wakeup.Signal()
	})
	defer func() {
		if !stop() {
			<-signaled
		}
	}()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	until := int64(0) // the listener is polled
	for emptyPolls := 0; ctx.Err() == nil; {
		limit := time.Duration(-1)
		if until > 0 {
			if limit = 0; sched.Now() > until {
				limit, until = -1, 0
			}
		}
		if watch.Wait(limit) == 0 {
			if emptyPolls++; emptyPolls%16 == 0 {
				sched.Yield()
			}
			continue
		}
		// One at a time: for a single connection, a second accept that finds none costs
		// more.
		fd, err := sock.Accept(listener)
		switch {
		case err == syscall.EAGAIN:
		case err != nil:
			// Out of descriptors or memory, or a connection that was reset while it
			// waited: none of it lasts.
			sched.SleepUntil(sched.Now() + int64(time.Millisecond))
		case s.handOff(fd):
			until = sched.Now() + pollTime
		}
	}
	return nil
}

// handOff accepts a connection. True: expect more of its kind at once.
func (s *server) handOff(fd int) bool {
	var frame [greeting.CookieFrameBytes]byte
	n, err := sock.TryPeek(fd, frame[:])
	if err == nil {
		if cookie, ok := greeting.ParseCookie(frame[:n]); ok && s.allowedFD(fd) {
			if taken, more := s.offerSocket(cookie, fd, len(frame)); taken {
				return more
			}
		}
	}
	s.acceptSlow(fd)
	return false
}

// allowedFD says whether a connection comes from an allowed address.
func (s *server) allowedFD(fd int) bool {
	if len(s.options.Allow) == 0 {
		return true
	}
	_, from := sock.Addresses(fd)
	return s.access.AllowsFrom(from.Addr())
}

// offerSocket gives a connection to the conductor that expects its cookie, which has
// been peeked at only.
func (s *server) offerSocket(cookie message.Cookie, fd, shown int) (taken, more bool) {
	s.some(func(e *traffic.Engine) bool {
		taken, more = e.OfferSocket(cookie, fd, shown)
		return taken
	})
	return taken, more
}

// acceptSlow handles a connection in a goroutine.
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
