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

// newEnd makes one end of a request's flow.
func (e *Engine) newEnd(request message.FlowRequest) end {
	if n := Processes(request); n > 1 && !e.isWorker {
		return &processGroup{State: flowset.State{Request: request}, count: n, access: e.access}
	}
	return newFlow(e, request)
}

// acceptOffered responds to a connection that has shown the flow's cookie.
func (f *rrFlow) acceptOffered(conn *net.TCPConn) {
	fd, err := takeOver(conn)
	if err != nil {
		f.Fail("taking a connection over: %w", err)
		return
	}
	f.addOffered(fd, 0)
}

// takeOver takes a socket over from package net.
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

// OfferSocket is Offer for a descriptor whose first shown bytes are the cookie and
// still to be read. A connection for one transaction is responded to at once, on the
// caller's thread; more is then true if its flow polls for connections.
func (e *Engine) OfferSocket(cookie message.Cookie, fd, shown int) (taken, more bool) {
	claimed, ok := e.Claim(cookie)
	if !ok {
		return false, false
	}
	f := claimed.(*rrFlow)
	f.addOffered(fd, shown)
	return true, f.isCRR() && f.polls
}
