package datagram

import (
	"fmt"
	"net"
	"net/netip"
	"sync"

	"linerate/internal/host/handshake"
	"linerate/internal/model/message"
)

// flow is one end of a flow: its order, its counts and what became of it.
type flow struct {
	order message.FlowRequest
	tally tally

	mu      sync.Mutex          // never taken while datagrams move
	door    *handshake.Listener // on a port of the flow's own
	listens netip.AddrPort
	offered bool // somebody has shown the flow's cookie
	end     *endpoint
	mover   mover // moves the datagrams; set with end
	failure string
	closed  bool
}

// endpoint is a flow's socket, connected to the other end.
type endpoint struct {
	conn          *net.UDPConn
	local, remote netip.AddrPort
	bytes         int // of a datagram that it sends
	mtu           int // of the route; 0: not known
	packets       int // that each of them takes
	buffer        int // for receiving, as the kernel counts it
	sndbuf        int // when a window was ordered
	notes         []string
	header        Header // nil: our own
	// ready is what the acceptor says when it is shown the flow's cookie again; nil
	// at the opener.
	ready handshake.Ready
}

// fail notes why the flow is not alive; the first reason is kept.
func (f *flow) fail(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failure == "" && !f.closed {
		f.failure = fmt.Sprintf(format, args...)
	}
}

// listening notes the door that the flow comes to. False: the flow is closed.
func (f *flow) listening(d *handshake.Listener) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed {
		f.door, f.listens = d, d.Addr()
	}
	return !f.closed
}

// open notes the connected socket. False: the flow is closed.
func (f *flow) open(end *endpoint, r mover) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed {
		f.end, f.mover = end, r
	}
	return !f.closed
}

// abandon stops waiting for somebody to come.
func (f *flow) abandon() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.end != nil || f.failure != "" {
		return
	}
	switch {
	case f.door != nil:
		f.door.Close()
		f.failure = fmt.Sprintf("nobody came to %s", f.listens)
	case f.waits():
		f.failure = "nobody came with the flow's cookie"
	}
}

// waits says that the flow waits for somebody who shows its cookie, which is
// empty at a port of its own.
func (f *flow) waits() bool { return !f.order.Remote.IsValid() && !f.offered }

// expects says whether a cookie is the flow's, which nobody has shown yet.
func (f *flow) expects(cookie message.Cookie) bool {
	// Whoever likes can ask, as often as he likes.
	if f.order.Cookie != cookie {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.closed && f.failure == "" && f.waits()
}

// take says, once, that whoever has shown this cookie is the flow's.
func (f *flow) take(cookie message.Cookie) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.order.Cookie != cookie || f.closed || f.failure != "" || !f.waits() {
		return false
	}
	f.offered = true
	return true
}

// close gives the sockets back.
func (f *flow) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	if f.door != nil {
		f.door.Close()
	}
	if f.end != nil {
		f.end.conn.Close()
	}
}

// state is what became of a flow so far.
func (f *flow) state() (end *endpoint, how method, failure string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	end, failure = f.end, f.failure
	if f.mover != nil {
		how = f.mover.method()
	}
	switch {
	case failure != "":
	case f.closed:
		failure = "closed"
	case end == nil && f.listens.IsValid():
		failure = fmt.Sprintf("nobody has come to %s", f.listens)
	case end == nil && f.waits():
		failure = "nobody has come with the flow's cookie"
	case end == nil:
		failure = "not connected yet"
	}
	return end, how, failure
}

// settled says that nothing more is to be waited for: open, or failed.
func (f *flow) settled() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.end != nil || f.failure != "" || f.closed
}

// name is "10.0.0.1:1024 → 10.0.0.2:5000", in the direction the datagrams go.
func (f *flow) name() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.end == nil {
		return f.order.ID
	}
	if f.order.Sends {
		return fmt.Sprintf("%s → %s", f.end.local, f.end.remote)
	}
	return fmt.Sprintf("%s → %s", f.end.remote, f.end.local)
}
