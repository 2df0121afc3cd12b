package transaction

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"syscall"
	"time"

	"linerate/internal/model/flow"

	"linerate/internal/bus"
	"linerate/internal/host/flowset"
	"linerate/internal/host/socket"

	"linerate/internal/kernel/sock"
	"linerate/internal/model/message"
)

// Engine holds one end of each of a trial's flows. It serves one trial. All methods
// may be called from several goroutines.
type Engine struct {
	*flowset.Set[end]
	isWorker bool // it is a worker process, and starts no others
}

// end is one end of a flow, in this process (flow) or in worker processes
// (processGroup).
type end interface {
	flowset.Flow
	// listen gets ready to respond.
	listen(ctx context.Context) message.Listening
	// connect opens the connections. first is called when the first of them is open.
	connect(ctx context.Context, timeout time.Duration, out *message.Opened, first func())
}

// New makes an engine without flows.
func New() *Engine { return &Engine{Set: flowset.New[end]()} }

// newEnd makes one end of an order's flow.
func (e *Engine) newEnd(order message.FlowRequest) end {
	if n := processCount(order.Connections); n > 1 && !e.isWorker && order.Protocol != flow.CRR {
		return newGroup(order, n)
	}
	return newFlow(e, order, part{0, 1, int64(max(1, order.Connections))})
}

// Listen gets ready to respond: with a socket for each order, on a port that the
// kernel chooses, at order.Local (invalid: every address of the host); an order with
// a cookie gets none, and its connections are to be offered. The replies are in the
// orders' order.
func (e *Engine) Listen(ctx context.Context, orders []message.FlowRequest) []message.Listening {
	out := make([]message.Listening, len(orders))
	for i, order := range orders {
		out[i] = e.addListening(ctx, e.newEnd(order), order.ID)
	}
	return out
}

func (e *Engine) addListening(ctx context.Context, f end, id string) message.Listening {
	if !e.Add(f) {
		return message.Listening{ID: id, Error: bus.Failure(flowset.ErrClosed)}
	}
	return f.listen(ctx)
}

// Connect opens the connections of each order's flow and returns when all are open,
// one could not be opened, or none has opened for the time of timeout (0: as long as
// the kernel tries). The replies are in the orders' order; see flowset.Set.Connect
// for the order of opening.
func (e *Engine) Connect(ctx context.Context, orders []message.FlowRequest, timeout time.Duration) []message.Opened {
	ends := make([]end, len(orders))
	for i, order := range orders {
		ends[i] = e.newEnd(order)
	}
	return e.Set.Connect(ctx, ends, func(ctx context.Context, f end, out *message.Opened, first func()) func() {
		f.connect(ctx, timeout, out, first)
		return nil
	})
}

// Offer hands over a connection that has shown a flow's cookie at a shared
// listener. False: no flow of this engine awaits it, and it is still the caller's.
func (e *Engine) Offer(cookie message.Cookie, conn *net.TCPConn) bool {
	claimed, ok := e.Claim(cookie)
	if !ok {
		return false
	}
	f := claimed.(*rrFlow)
	own, err := takeOver(conn)
	if err != nil {
		f.Fail("taking a connection over: %w", err)
		return true
	}
	f.addOffered(own, 0)
	return true
}

// takeOver takes a socket over from package net.
func takeOver(conn interface {
	syscall.Conn
	io.Closer
}) (own int, err error) {
	defer conn.Close()
	raw, err := conn.SyscallConn()
	if err != nil {
		return -1, err
	}
	err = socket.WithFD(raw, func(fd int) (err error) {
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

// hasStarted says that transactions may be under way.
func (e *Engine) hasStarted() bool {
	select {
	case <-e.Started():
		return true
	default:
		return false
	}
}

// plural is "1 connection", "2 connections".
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// pathName is "from → to" of a flow's first connection.
func pathName(from, to netip.AddrPort) string { return fmt.Sprintf("%s → %s", from, to) }
