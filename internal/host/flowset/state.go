package flowset

import (
	"fmt"
	"net/netip"
	"sync"

	"linerate/internal/bus"
	"linerate/internal/model/message"
)

// Listener is a socket of a flow's own that a client connects to.
type Listener struct {
	Addr  netip.AddrPort
	Ports []uint16 // all of them, where the flow has several
	Serve func()   // accepts until Close, in a goroutine of the set
	Close func()   // may be called more than once
}

// State is where one end of a flow is in its life cycle: waiting for a client or
// connecting, open, failed, closed. Flows embed it. The zero value with a Request
// is a flow that is not connected yet. Its methods may be called from several
// goroutines.
type State struct {
	Request message.FlowRequest

	mu            sync.Mutex // held for assignments only
	listener      *Listener
	claimed       bool // a client has shown the flow's cookie
	open          bool
	shut          func() // closes the open flow's socket
	local, remote netip.AddrPort
	failure       *message.Error // the first reason is kept
	cause         error          // of a failure of the open flow's socket
	closed        bool
}

func (s *State) state() *State { return s }

// Fail notes why the flow is not alive, as fmt.Errorf words it. Only the first reason
// counts, and none after Close.
func (s *State) Fail(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure == nil && !s.closed {
		s.failure = bus.Failure(fmt.Errorf(format, args...))
	}
}

// Break fails an open flow whose socket has failed.
func (s *State) Break(cause error, format string, args ...any) {
	s.Fail(format, args...)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cause == nil && !s.closed {
		s.cause = cause
	}
}

// Failure is why the flow is not alive; nil: it has not failed.
func (s *State) Failure() *message.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failure
}

// listen notes the listener; false: the flow is closed.
func (s *State) listen(l *Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.listener = l
	}
	return !s.closed
}

// Open notes that the flow is open between two addresses, and how to close its
// socket. False: the flow is closed, and the socket is still the caller's.
func (s *State) Open(local, remote netip.AddrPort, shut func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.open, s.local, s.remote, s.shut = true, local, remote, shut
	}
	return !s.closed
}

// ListenAddr is the address of the flow's own listener; invalid: it has none.
func (s *State) ListenAddr() (at netip.AddrPort) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listener != nil {
		at = s.listener.Addr
	}
	return at
}

// IsOpen says that the flow has been opened, whatever became of it since. What was
// stored before Open may be read then.
func (s *State) IsOpen() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// IsClosed says that Close has been called.
func (s *State) IsClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// Addrs are the two ends of an open flow; invalid before.
func (s *State) Addrs() (local, remote netip.AddrPort) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.local, s.remote
}

// Name is "10.0.0.1:1024 → 10.0.0.2:5000", in the direction of the data.
func (s *State) Name() string {
	local, remote := s.Addrs()
	if s.Request.Sends {
		return fmt.Sprintf("%s → %s", local, remote)
	}
	return fmt.Sprintf("%s → %s", remote, local)
}

// awaitsClient says that the flow is accepted, not connected, and has no client.
func (s *State) awaitsClient() bool {
	return !s.Request.Remote.IsValid() && !s.claimed && !s.open && !s.closed && s.failure == nil
}

// Expects says whether the flow awaits a client with this cookie; the cookie is
// zero on a listener of the flow's own.
func (s *State) Expects(cookie message.Cookie) bool {
	if s.Request.Cookie != cookie { // without the lock: any host may ask, at any rate
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.awaitsClient()
}

// Claim gives the flow to the client that has shown this cookie. It is true once.
func (s *State) Claim(cookie message.Cookie) bool {
	if s.Request.Cookie != cookie {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	claimed := s.awaitsClient()
	s.claimed = s.claimed || claimed
	return claimed
}

// Abandon fails a flow that still awaits its client, which has given up.
func (s *State) Abandon() {
	s.mu.Lock()
	l, waits := s.listener, s.awaitsClient()
	switch {
	case !waits:
		l = nil
	case l != nil:
		s.failure = noClient("no client connected to %s", l.Addr)
	default:
		s.failure = noClient("no client showed the flow's cookie")
	}
	s.mu.Unlock()
	if l != nil {
		l.Close()
	}
}

// Settled says that there is nothing to wait for: the flow is open, or has failed.
func (s *State) Settled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open || s.failure != nil || s.closed
}

// noClient is the failure of a flow without a client in time.
func noClient(format string, args ...any) *message.Error {
	return &message.Error{Code: message.Deadline, Text: fmt.Sprintf(format, args...)}
}

// Status is why the flow is not alive, or not yet; nil: it is.
func (s *State) Status() *message.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.failure != nil:
		return s.failure
	case s.closed:
		return &message.Error{Text: "closed"}
	case s.open:
		return nil
	case s.listener != nil:
		return noClient("no client has connected to %s yet", s.listener.Addr)
	case s.awaitsClient():
		return noClient("no client has shown the flow's cookie yet")
	}
	return &message.Error{Text: "not connected yet"}
}

// Close closes the flow's sockets. It is called once, by the set.
func (s *State) Close() {
	s.mu.Lock()
	s.closed = true
	l, shut := s.listener, s.shut
	s.mu.Unlock()
	if l != nil {
		l.Close()
	}
	if shut != nil {
		shut()
	}
}

// Start lets the flow know of the window ahead of its start.
func (s *State) Start(message.WindowRequest) {}

// Shorten lets the flow know of an earlier end and stop.
func (s *State) Shorten(endNs, stopNs int64) {}

// Stop ends waiting for room to send: the senders' stop is now.
func (s *State) Stop() {}

// Release gives back what the flow's workers used, once they have ended.
func (s *State) Release() {}
