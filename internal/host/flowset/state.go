package flowset

import (
	"fmt"
	"net/netip"
	"sync"

	"linerate/internal/bus"
	"linerate/internal/model/message"
)

// Listener is a flow's own listening socket.
type Listener struct {
	Addr  netip.AddrPort
	Ports []uint16 // all ports, if the flow has several
	Serve func()   // accepts until Close; runs in a goroutine of the set
	Close func()   // may be called more than once
}

// State is the life cycle of one end of a flow: waiting for a client or connecting, open, failed, closed. Flows
// embed it. The zero value with a Request is a flow that is not connected yet. Its methods are safe for
// concurrent use.
type State struct {
	Request message.FlowRequest

	mu            sync.Mutex // held for assignments only
	listener      *Listener
	claimed       bool // a client has shown the flow's cookie
	open          bool
	shut          func() // closes the open flow's socket
	local, remote netip.AddrPort
	failure       *message.Error // the first failure
	cause         error          // the socket error behind it
	closed        bool
}

func (s *State) state() *State { return s }

// Fail records, worded as by fmt.Errorf, why the flow is not alive. Only the first failure counts, and none
// after Close.
func (s *State) Fail(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure == nil && !s.closed {
		s.failure = bus.Failure(fmt.Errorf(format, args...))
	}
}

// Break records that the socket of an open flow has failed with cause.
func (s *State) Break(cause error, format string, args ...any) {
	s.Fail(format, args...)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cause == nil && !s.closed {
		s.cause = cause
	}
}

// Failure returns why the flow is not alive; nil if it has not failed.
func (s *State) Failure() *message.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failure
}

// listen sets the flow's listener; it returns false if the flow is closed.
func (s *State) listen(l *Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.listener = l
	}
	return !s.closed
}

// Open records that the flow is open between two addresses, and how to close its socket. It returns false if
// the flow is closed; the caller then still owns the socket.
func (s *State) Open(local, remote netip.AddrPort, shut func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.open, s.local, s.remote, s.shut = true, local, remote, shut
	}
	return !s.closed
}

// ListenAddr returns the address of the flow's own listener; invalid if it has none.
func (s *State) ListenAddr() (at netip.AddrPort) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listener != nil {
		at = s.listener.Addr
	}
	return at
}

// IsOpen reports whether the flow has been opened, even if it has failed or closed since. What was stored
// before Open may then be read.
func (s *State) IsOpen() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// IsClosed reports whether Close has been called.
func (s *State) IsClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// Addrs returns the two ends of an open flow; they are invalid before.
func (s *State) Addrs() (local, remote netip.AddrPort) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.local, s.remote
}

// Name returns the flow's addresses in the direction of its data, such as "10.0.0.1:1024 → 10.0.0.2:5000".
func (s *State) Name() string {
	local, remote := s.Addrs()
	if s.Request.Sends {
		return fmt.Sprintf("%s → %s", local, remote)
	}
	return fmt.Sprintf("%s → %s", remote, local)
}

// awaitsClient reports whether the flow accepts its connection and has no client yet.
func (s *State) awaitsClient() bool {
	return !s.Request.Remote.IsValid() && !s.claimed && !s.open && !s.closed && s.failure == nil
}

// Expects reports whether the flow awaits a client with this cookie; a listener of the flow's own has cookie
// zero.
func (s *State) Expects(cookie message.Cookie) bool {
	if s.Request.Cookie != cookie { // without the lock: any host may ask, at any rate
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.awaitsClient()
}

// Claim assigns the flow to the client that has shown this cookie. It returns true once.
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

// Abandon fails a flow that still awaits its client, because the client gave up.
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

// Settled reports whether the flow is open or has failed.
func (s *State) Settled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open || s.failure != nil || s.closed
}

// noClient returns the failure of a flow whose client did not come in time.
func noClient(format string, args ...any) *message.Error {
	return &message.Error{Code: message.Deadline, Text: fmt.Sprintf(format, args...)}
}

// Status returns why the flow is not, or not yet, alive; nil if it is.
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

// Close closes the flow's sockets. The set calls it once.
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

// Start is called with the window before it starts.
func (s *State) Start(message.WindowRequest) {}

// Shorten is called when the window's end and stop are brought forward.
func (s *State) Shorten(endNs, stopNs int64) {}

// Stop is called when senders must stop now, to end a wait for room to send.
func (s *State) Stop() {}

// Release frees what the flow's workers used; it is called after they have ended.
func (s *State) Release() {}
