package transaction

import (
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"linerate/internal/bus/greeting"
	"linerate/internal/host/flowset"
	"linerate/internal/host/handshake"
	"linerate/internal/host/socket"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/unit"
)

const (
	checkInterval = flowset.CheckInterval
	// responseTimeout is the time that a response over UDP may take: TCP's initial retransmission
	// timeout (RFC 6298, section 2.1).
	responseTimeout = time.Second
	// maxUnanswered is the number of consecutive requests without a response after which the peer
	// is considered gone.
	maxUnanswered = 3
	// sequenceBytes is the length of the transaction's number at the beginning of a datagram that
	// is long enough, in little-endian byte order.
	sequenceBytes = 4
)

// rrFlow is one end of a flow of transactions: its connections, or a process's part of them, and
// the workers that make transactions over them.
type rrFlow struct {
	flowset.State // its addresses are those of the first connection
	engine        *Engine
	isClient      bool
	udp           bool   // requests and responses are datagrams
	polls         bool   // whether its threads poll
	follows       bool   // whether its threads run on the CPU that processes their packets
	part          part   // the flow's connections in this process
	cookie        []byte // first data of a TCP connection

	// arrived counts connections that were accepted or connected. active counts those that are open
	// and assigned to a worker.
	arrived, active atomic.Int64
	acceptMu        sync.Mutex // one UDP client is accepted at a time

	mu         sync.Mutex // not taken while transactions are made
	workers    []*worker
	hasWorkers bool    // whether all workers exist, so that connections can be assigned
	fds        []int32 // of every connection that was ever opened
	// clients maps UDP clients to their sockets. ready has the frame that is repeated when a client
	// asks again.
	clients    map[netip.AddrPort]int32
	ready      map[int32]handshake.Ready
	lostConns  int64
	lossReason string // reason of the first loss
	closed     bool   // no further connection is registered

	sockets // implemented with epoll(7) or package net
}

func newFlow(e *Engine, request message.FlowRequest) *rrFlow {
	socket.FillPayload()
	f := &rrFlow{
		State: flowset.State{Request: request}, engine: e, isClient: request.Remote.IsValid(),
		part: part{e.part.first, e.part.step, int64(max(1, request.Connections))},
		udp:  request.Protocol == flow.UDPRR, polls: flow.On(request.Poll), follows: flow.On(request.Follow),
	}
	if !request.Cookie.IsZero() {
		f.cookie = greeting.CookieFrame(request.Cookie)
	}
	f.sockets.init()
	return f
}

// connections returns the number of connections in this process.
func (f *rrFlow) connections() int { return f.part.size() }

// sharesListener says that connections for one transaction each come from a listener
// that flows share.
func (f *rrFlow) sharesListener() bool { return f.isCRR() && !f.isClient && !f.Request.Cookie.IsZero() }

// isCRR reports whether each transaction has its own connection.
func (f *rrFlow) isCRR() bool { return f.Request.Protocol == flow.CRR }

func requestBytes(o message.FlowRequest) int  { return int(max(1, o.Request)) }
func responseBytes(o message.FlowRequest) int { return int(max(1, o.Response)) }

// payload is what is sent, repeatedly.
var payload = socket.Payload[:64<<10]

// connLost records that the connection between two addresses ended. Err is nil if the peer closed
// it. Its descriptor is closed with the engine.
func (f *rrFlow) connLost(local, remote netip.AddrPort, err error) {
	if f.engine.Signals.Quit.Load() {
		return
	}
	if !f.isCRR() {
		f.active.Add(-1)
	}
	if f.engine.Signals.Stopping() {
		return
	}
	reason := "the peer closed the connection before its time"
	if err != nil {
		reason = socket.Reason(err, remote.Addr()).Error()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lostConns++
	if f.lossReason == "" {
		f.lossReason = fmt.Sprintf("%s → %s: %s", local, remote, reason)
		if !remote.IsValid() { // the kernel has forgotten the address
			f.lossReason = reason
		}
	}
}

// Status returns why the flow does not exist, or not completely. Nil: it does.
func (f *rrFlow) Status() *message.Error {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.connections()
	if f.isCRR() {
		n = 1 // one is enough to show that the peer responds
	}
	failure := f.Failure()
	status := func(format string, args ...any) *message.Error {
		return &message.Error{Text: fmt.Sprintf(format, args...)}
	}
	switch missing := f.arrived.Load() < int64(n); {
	case failure != nil:
		return failure
	case f.closed:
		return status("closed")
	case f.lostConns > 0 && f.isCRR():
		return status("%s failed; the first: %s", unit.Plural(int(f.lostConns), "connection"), f.lossReason)
	case f.lostConns > 0:
		return status("%d of %s lost; the first: %s", f.lostConns, unit.Plural(n, "connection"), f.lossReason)
	case missing && f.ListenAddr().IsValid():
		return status("%d of %s accepted at %s", f.active.Load(), unit.Plural(n, "connection"), f.ListenAddr())
	case missing && !f.isClient:
		return status("%d of %s have shown the flow's cookie", f.active.Load(), unit.Plural(n, "connection"))
	case f.active.Load() == 0:
		return status("not connected yet")
	}
	return nil
}

// Settled reports whether there is nothing to wait for: all connections are open, or the flow has
// failed.
func (f *rrFlow) Settled() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.isCRR() && f.active.Load() > 0 {
		return true // the others are opened when they are needed
	}
	return f.Failure() != nil || f.closed || f.active.Load()+f.lostConns >= int64(f.connections())
}

// MostOpen returns the maximum number of open connections of a request's flow at the accepting end.
// For crr it is twice the number at the client, because the client sees the end of a connection
// before this host.
func MostOpen(request message.FlowRequest) int {
	n := max(1, request.Connections)
	if request.Protocol == flow.CRR {
		n = 2*n + 16
	}
	return n
}

// open returns the number of connections that were accepted and, for crr, not closed. The caller
// must hold mu.
func (f *rrFlow) open() int64 {
	n := f.arrived.Load()
	if f.isCRR() {
		for _, w := range f.workers {
			n -= w.closed.Load()
		}
	}
	return n
}

// Claim reports whether a connection with this cookie belongs to the flow.
func (f *rrFlow) Claim(cookie message.Cookie) bool {
	if f.isClient || f.udp || f.Request.Cookie != cookie || cookie.IsZero() {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.hasWorkers || f.closed || f.Failure() != nil || f.open() >= int64(MostOpen(f.Request)) {
		return false
	}
	f.arrived.Add(1)
	return true
}

// Expects reports whether the flow uses UDP and expects a client with this cookie.
func (f *rrFlow) Expects(cookie message.Cookie) bool {
	if !f.udp || f.isClient || f.Request.Cookie != cookie {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hasWorkers && !f.closed && f.Failure() == nil && f.arrived.Load() < int64(f.connections())
}

// Abandon fails a flow that still expects connections, because the client has given up.
func (f *rrFlow) Abandon() {
	if !f.Settled() {
		f.Fail("the client has given up: %d of %d connections were open", f.active.Load(), f.connections())
	}
}
