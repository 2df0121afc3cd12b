package stream

import (
	"fmt"
	"net"
	"net/netip"
	"sync"

	"linerate/internal/host/socket"
	"linerate/internal/model/message"
)

// flow is one end of one connection: its order, its counts and what became of it.
type flow struct {
	order message.FlowRequest
	tally tally

	mu       sync.Mutex // never taken while bytes move
	listener net.Listener
	listens  netip.AddrPort
	offered  bool // a connection has come with the flow's cookie
	local    netip.AddrPort
	remote   netip.AddrPort
	end      *endpoint // nil until the connection is open
	mover    mover     // moves the bytes; set with end
	failure  string    // why it is not alive; the first reason is kept
	closed   bool
}

// fail notes why the flow is not alive.
func (f *flow) fail(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failure == "" && !f.closed {
		f.failure = fmt.Sprintf(format, args...)
	}
}

// listening notes the socket to accept from. False: the flow is closed already.
func (f *flow) listening(l net.Listener, at netip.AddrPort) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed {
		f.listener, f.listens = l, at
	}
	return !f.closed
}

// open notes the connection. False: the flow is closed already.
func (f *flow) open(end *endpoint, r mover) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return false
	}
	f.end, f.mover = end, r
	f.local = socket.AddrPort(end.conn.LocalAddr())
	f.remote = socket.AddrPort(end.conn.RemoteAddr())
	return true
}

// abandon stops waiting for a connection.
func (f *flow) abandon() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.end != nil || f.failure != "" {
		return
	}
	switch {
	case f.listener != nil:
		f.listener.Close()
		f.failure = fmt.Sprintf("nobody connected to %s", f.listens)
	case f.expects():
		f.failure = "nobody came with the flow's cookie"
	}
}

// expects says that the flow waits for a connection with its cookie.
func (f *flow) expects() bool {
	return !f.order.Cookie.IsZero() && !f.order.Remote.IsValid() && !f.offered
}

// take says, once, that a connection with this cookie is the flow's.
func (f *flow) take(cookie message.Cookie) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.order.Cookie != cookie || f.closed || f.failure != "" || !f.expects() {
		return false
	}
	f.offered = true
	return true
}

// close gives the sockets back. The connection is reset, so that neither end
// goes on sending what is buffered or waits in TIME_WAIT.
func (f *flow) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	if f.listener != nil {
		f.listener.Close()
	}
	if f.end != nil {
		reset(f.end.conn)
	}
}

// reset closes a connection at once with RST; see SO_LINGER in socket(7).
func reset(conn *net.TCPConn) {
	_ = conn.SetLinger(0)
	_ = conn.Close()
}

// state is what became of a flow so far.
func (f *flow) state() (end *endpoint, local netip.AddrPort, failure string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	end, local, failure = f.end, f.local, f.failure
	switch {
	case failure != "":
	case f.closed:
		failure = "closed"
	case end == nil && f.listens.IsValid():
		failure = fmt.Sprintf("nobody has connected to %s", f.listens)
	case end == nil && f.expects():
		failure = "nobody has come with the flow's cookie"
	case end == nil:
		failure = "not connected yet"
	}
	if f.closed {
		end = nil
	}
	return end, local, failure
}

// method is how the flow's bytes are moved; nothing before the connection is open.
func (f *flow) method() method {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mover == nil {
		return method{}
	}
	return f.mover.method()
}

// settled says that nothing more is to be waited for: open, or failed.
func (f *flow) settled() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.end != nil || f.failure != "" || f.closed
}

// name is "10.0.0.1:1024 → 10.0.0.2:5000", in the direction the bytes go.
func (f *flow) name() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.order.Sends {
		return fmt.Sprintf("%s → %s", f.local, f.remote)
	}
	return fmt.Sprintf("%s → %s", f.remote, f.local)
}
