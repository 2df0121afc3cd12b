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
	// responseTimeout is how long a response over UDP may take: as long as TCP waits at
	// first before it sends again (RFC 6298, section 2.1).
	responseTimeout = time.Second
	// maxUnanswered is after how many requests in a row without a response no peer
	// seems to be there any more.
	maxUnanswered = 3
	// sequenceBytes of a datagram, if it has so many, are the number of its
	// transaction, the least significant first.
	sequenceBytes = 4
)

// rrFlow is one end of a flow of transactions: its connections, or a process's part
// of them, and the workers that make transactions over them.
type rrFlow struct {
	flowset.State // its addresses are the first connection's
	engine        *Engine
	isClient      bool
	udp           bool   // requests and responses are datagrams
	polls         bool   // its threads poll
	follows       bool   // its threads run on the CPU that their packets come to
	part          part   // which of the flow's connections are here
	cookie        []byte // what a connection over TCP sends first

	// arrived counts connections that have been accepted or connected, active those
	// that are open and assigned to a worker.
	arrived, active atomic.Int64
	acceptMu        sync.Mutex // one client over UDP is accepted at a time

	mu         sync.Mutex // never taken while transactions are made
	workers    []*worker
	hasWorkers bool    // all of them: connections may be assigned
	fds        []int32 // of every connection that there has been
	// clients are the sockets of clients over UDP, ready the frame that each repeats
	// when its client asks again.
	clients    map[netip.AddrPort]int32
	ready      map[int32]handshake.Ready
	lostConns  int64
	lossReason string // of the first of them
	closed     bool   // nothing is registered any more

	sockets // by epoll(7), or by package net
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

// connections is how many there are to be here.
func (f *rrFlow) connections() int { return f.part.size() }

// sharesListener says that connections for one transaction each come from a listener
// that flows share.
func (f *rrFlow) sharesListener() bool { return f.isCRR() && !f.isClient && !f.Request.Cookie.IsZero() }

// isCRR says that each transaction has a connection of its own.
func (f *rrFlow) isCRR() bool { return f.Request.Protocol == flow.CRR }

func requestBytes(o message.FlowRequest) int  { return int(max(1, o.Request)) }
func responseBytes(o message.FlowRequest) int { return int(max(1, o.Response)) }

// payload is what is sent, over and over.
var payload = socket.Payload[:64<<10]

// connLost notes that the connection between two addresses ended; err is nil if the
// peer closed it. What remains of it is closed with the engine.
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
		if !remote.IsValid() { // the kernel has forgotten
			f.lossReason = reason
		}
	}
}

// Status is why there is no flow, or not all of it; nil: there is.
func (f *rrFlow) Status() *message.Error {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.connections()
	if f.isCRR() {
		n = 1 // has shown that the peer responds
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

// Settled says that there is nothing to wait for: all connections are open, or the
// flow has failed.
func (f *rrFlow) Settled() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.isCRR() && f.active.Load() > 0 {
		return true // the others are opened as they are needed
	}
	return f.Failure() != nil || f.closed || f.active.Load()+f.lostConns >= int64(f.connections())
}

// MostOpen is how many connections of a request's flow may be open at an end that accepts
// them: those of crr, of which the client sees the end before this host does, twice as many
// as it has.
func MostOpen(request message.FlowRequest) int {
	n := max(1, request.Connections)
	if request.Protocol == flow.CRR {
		n = 2*n + 16
	}
	return n
}

// open is how many connections have been accepted and, for one transaction, not been
// closed. It is called with the lock.
func (f *rrFlow) open() int64 {
	n := f.arrived.Load()
	if f.isCRR() {
		for _, w := range f.workers {
			n -= w.closed.Load()
		}
	}
	return n
}

// Claim says that a connection with this cookie is one of the flow's.
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

// Expects says whether the flow is over UDP and awaits a client with this cookie.
func (f *rrFlow) Expects(cookie message.Cookie) bool {
	if !f.udp || f.isClient || f.Request.Cookie != cookie {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hasWorkers && !f.closed && f.Failure() == nil && f.arrived.Load() < int64(f.connections())
}

// Abandon fails a flow that still awaits connections: the client has given up.
func (f *rrFlow) Abandon() {
	if !f.Settled() {
		f.Fail("the client has given up: %d of %d connections were open", f.active.Load(), f.connections())
	}
}
