//go:build !portable

package transaction

import (
	"net"

	"linerate/internal/host/flowset"
	"linerate/internal/host/socket"
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
	fd, err := socket.TakeOver(conn)
	if err != nil {
		f.Fail("taking a connection over: %w", err)
		return
	}
	f.addOffered(fd, 0)
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
