//go:build !portable

package transaction

import (
	"io"
	"net"
	"syscall"

	"linerate/internal/host/flowset"
	"linerate/internal/host/socket"
	"linerate/internal/kernel/sock"
	"linerate/internal/model/message"
)

// newEnd returns one end of the flow of a request.
func (e *Engine) newEnd(request message.FlowRequest) end {
	if n := Processes(request); n > 1 && !e.isWorker {
		return &processGroup{State: flowset.State{Request: request}, count: n, access: e.access}
	}
	return newFlow(e, request)
}

// acceptOffered responds to a connection that has sent the flow's cookie.
func (f *rrFlow) acceptOffered(conn *net.TCPConn) {
	fd, err := takeOver(conn)
	if err != nil {
		f.Fail("taking a connection over: %w", err)
		return
	}
	f.addOffered(fd, 0)
}

// takeOver duplicates the descriptor of a socket of package net and closes the original.
func takeOver(conn interface {
	syscall.Conn
	io.Closer
}) (own int, err error) {
	defer conn.Close()
	err = socket.WithConn(conn, func(fd int) (err error) {
		own, err = sock.Dup(fd)
		return err
	})
	return own, err
}

// OfferSocket is like Offer, for a descriptor whose first shown bytes are the cookie and have not
// been read. It responds to a connection for a single transaction immediately, on the caller's
// thread; more is then true if the flow polls for connections.
func (e *Engine) OfferSocket(cookie message.Cookie, fd, shown int) (taken, more bool) {
	claimed, ok := e.Claim(cookie)
	if !ok {
		return false, false
	}
	f := claimed.(*rrFlow)
	f.addOffered(fd, shown)
	return true, f.isCRR() && f.polls
}
