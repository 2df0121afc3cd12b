package transaction

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"linerate/internal/host/socket"
	"linerate/internal/kernel/sock"
	modelflow "linerate/internal/model/flow"
	"linerate/internal/model/message"
)

// Engine holds one end of each of a trial's flows. All methods may be called
// from several goroutines. An engine serves one trial: make a new one for the
// next.
type Engine struct {
	books    *socket.Books[*flow]
	quit     atomic.Bool
	isWorker bool // nothing is spread over further processes

	mu     sync.Mutex // guards the following
	groups []*processGroup
	window message.WindowRequest // set once, before the gate opens
}

// New makes an engine with no flows.
func New() *Engine { return &Engine{books: socket.NewBooks[*flow]()} }

// processGroups is every flow's end that is spread over further processes.
func (e *Engine) processGroups() []*processGroup {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clip(e.groups)
}

// add makes an end for an order. nil: the engine is closed.
func (e *Engine) add(order message.FlowRequest, p part) *flow {
	f := newFlow(e, order, p)
	if !e.books.Add(f) {
		return nil
	}
	return f
}

// Listen gets ready to respond: with a socket for each order, on a port
// that the kernel chooses, at order.Local (invalid: every address of the host);
// an order with a cookie gets none, and its connections are to be offered. The
// reply has one entry per order, in order.
func (e *Engine) Listen(ctx context.Context, orders []message.FlowRequest) []message.Listening {
	out := make([]message.Listening, len(orders))
	for i, order := range orders {
		if n := processCount(order.Connections); n > 1 && !e.isWorker && order.Protocol != modelflow.CRR {
			out[i] = e.listenGroup(order, n)
			continue
		}
		out[i] = e.listen(ctx, order, wholeOf(order))
	}
	return out
}

// listen gets ready to respond to a part of a flow's connections.
func (e *Engine) listen(ctx context.Context, order message.FlowRequest, p part) message.Listening {
	out := message.Listening{ID: order.ID}
	f := e.add(order, p)
	if f == nil {
		out.Error = socket.EngineClosed
		return out
	}
	at, err := f.listen(ctx)
	if err != nil {
		out.Error = fmt.Sprintf("listen on %s: %s", socket.AddrName(order.Local), socket.Reason(err, order.Local))
		f.fail("%s", out.Error)
		return out
	}
	out.Local = at
	return out
}

// dialStagger is the longest that one flow's first connection waits for another's.
const dialStagger = 5 * time.Millisecond

// Connect opens the connections of each order's flow and returns when all are
// open, one could not be opened, or none has come about for the time of timeout
// (0: as long as the kernel tries). The reply has one entry per order, in order.
//
// The first connection of each flow waits for that of the one before it, a moment
// at most, so that neighbours are asked for one after another.
func (e *Engine) Connect(ctx context.Context, orders []message.FlowRequest, timeout time.Duration) []message.Opened {
	out := make([]message.Opened, len(orders))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.books.Context(), cancel)()
	var pending sync.WaitGroup
	for i, order := range orders {
		first := make(chan struct{})
		over := sync.OnceFunc(func() { close(first) })
		pending.Add(1)
		if !e.books.Work(func() {
			defer pending.Done()
			defer over()
			if n := processCount(order.Connections); n > 1 && !e.isWorker && order.Protocol != modelflow.CRR {
				out[i] = e.connectGroup(order, n, timeout)
				return
			}
			out[i] = e.connect(ctx, order, wholeOf(order), timeout, over)
		}) {
			out[i] = message.Opened{ID: order.ID, Remote: order.Remote, Error: socket.EngineClosed}
			pending.Done()
			continue
		}
		moment := time.NewTimer(dialStagger)
		select {
		case <-first:
		case <-moment.C:
		}
		moment.Stop()
	}
	pending.Wait()
	return out
}

// connect opens a part of a flow's connections. first is called when the first of
// them is open.
func (e *Engine) connect(ctx context.Context, order message.FlowRequest, p part, timeout time.Duration, first func()) message.Opened {
	out := message.Opened{ID: order.ID, Remote: order.Remote}
	f := e.add(order, p)
	if f == nil {
		out.Error = socket.EngineClosed
		return out
	}
	f.open(ctx, timeout, first)
	out.Local, out.Error = f.state()
	out.Exhausted = f.exhausted
	return out
}

func wholeOf(order message.FlowRequest) part { return part{0, 1, int64(max(1, order.Connections))} }

// Offer hands over a connection that has shown a cookie at a port that
// flows share. False: no flow of this engine waits for it, and the connection is
// still the caller's.
func (e *Engine) Offer(cookie message.Cookie, conn *net.TCPConn) bool {
	ends := e.books.All()
	i := slices.IndexFunc(ends, func(f *flow) bool { return f.claim(cookie) })
	if i < 0 {
		return false
	}
	f := ends[i]
	own, err := takeOver(conn)
	if err != nil {
		f.fail("taking a connection over: %v", err)
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

// OfferSocket is Offer for a descriptor whose first bytes, so many, show the
// cookie and are still to be read. A connection that is for one transaction is
// answered right away, on the caller's thread; more is then said of one whose
// flow polls.
func (e *Engine) OfferSocket(cookie message.Cookie, fd, shown int) (taken, more bool) {
	ends := e.books.All()
	i := slices.IndexFunc(ends, func(f *flow) bool { return f.claim(cookie) })
	if i < 0 {
		return false, false
	}
	f := ends[i]
	f.addOffered(fd, shown)
	return true, f.isCRR() && f.order.Poll
}

// Abandon stops waiting for the connections of the flows named: their openers
// have given up.
func (e *Engine) Abandon(unused []string) {
	for _, f := range e.books.All() {
		if slices.Contains(unused, f.order.ID) {
			f.abandon()
		}
	}
	for _, s := range e.processGroups() {
		if slices.Contains(unused, s.order.ID) {
			s.callAll(func(int) task { return task{Abandon: true} })
		}
	}
}

// Settled says that every flow has its connections or has failed.
func (e *Engine) Settled() bool {
	return !slices.ContainsFunc(e.books.All(), func(f *flow) bool { return !f.settled() }) &&
		!slices.ContainsFunc(e.processGroups(), func(s *processGroup) bool { return !s.isSettled() })
}

// Start lets the asking ends begin at the window's start, and begin nothing any
// more after its stop, both in kernel.Now's nanoseconds. It returns at once. Only
// the first call counts.
func (e *Engine) Start(w message.WindowRequest) {
	e.books.Start(w.StartNs, func() {
		e.mu.Lock()
		e.window = w
		e.mu.Unlock()
		for _, s := range e.processGroups() {
			s.callAll(func(int) task { return task{Start: &w} })
		}
	})
}

// waitStart waits for the gate. False: the engine closes.
func (e *Engine) waitStart() bool {
	select {
	case <-e.books.Gate():
	case <-e.books.Context().Done():
	}
	return !e.quit.Load()
}

// started says that the transactions may be under way: the gate is open.
func (e *Engine) started() bool {
	select {
	case <-e.books.Gate():
		return true
	default:
		return false
	}
}

// windowTimes is the window; nothing of it is known before Start.
func (e *Engine) windowTimes() message.WindowRequest {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.window
}

// Close ends everything and waits until nothing of the engine is left: no thread,
// no descriptor, nothing in TIME_WAIT. The counts remain readable. It may be
// called again.
func (e *Engine) Close() {
	e.books.Close(func() {
		e.mu.Lock()
		e.quit.Store(true)
		spreads := e.groups
		e.mu.Unlock()
		// Before the workers are waited for: some of them wait for the hands.
		for _, s := range spreads {
			s.close()
		}
	}, (*flow).wake)
	for _, f := range e.books.All() {
		f.close()
	}
}

// Flows is how many flows there are.
func (e *Engine) Flows() int { return len(e.books.All()) + len(e.processGroups()) }

// plural is "1 connection", "2 connections".
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// pathName is "from → to" of a flow's first connection.
func pathName(from, to netip.AddrPort) string { return fmt.Sprintf("%s → %s", from, to) }
