package traffic

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"linerate/internal/bus/greeting"
	"linerate/internal/kernel"
	"linerate/internal/model/record"
)

// earlyEnd is how much before the agreed stop a receiver may see the end of the
// stream without calling it a failure: the two hosts' clocks differ.
const earlyEnd = 50 * time.Millisecond

// Engine holds one end of each of a trial's flows. All methods may be called
// from several goroutines. An engine serves one trial: make a new one for the
// next.
type Engine struct {
	mover   mover
	signals signals

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	gate   chan struct{} // closed when senders are to begin

	mu      sync.Mutex // guards the following
	flows   []*flow
	started bool
	closed  bool
	share   cpuShare

	workers sync.WaitGroup
	closing sync.Once
}

// New makes an engine with no flows.
func New() *Engine { return with(platform) }

func with(m mover) *Engine {
	e := &Engine{mover: m, gate: make(chan struct{})}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	e.share.cpu, e.share.at = kernel.ProcessCPU(), now()
	return e
}

// all is every flow so far.
func (e *Engine) all() []*flow {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clip(e.flows)
}

// add makes a flow for each order. False: the engine is closed.
func (e *Engine) add(orders []record.FlowOrder) ([]*flow, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, false
	}
	added := make([]*flow, len(orders))
	for i, order := range orders {
		added[i] = &flow{order: order}
	}
	e.flows = append(e.flows, added...)
	return added, true
}

// work runs f in a goroutine that Close waits for. False: the engine is closed.
func (e *Engine) work(f func()) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.closed {
		e.workers.Go(f)
	}
	return !e.closed
}

const engineClosed = "the traffic engine is closed"

// Listen opens one listening socket per order, on a service port the kernel
// chooses, at order.Local (invalid: every address of the host). Each accepts one
// connection and then closes. An order with a ticket gets no socket: its
// connection is to be offered. The reply has one entry per order, in order; an
// order that fails says so there and does not keep the others from listening.
func (e *Engine) Listen(ctx context.Context, orders []record.FlowOrder) []record.Listening {
	out := make([]record.Listening, len(orders))
	flows, ok := e.add(orders)
	for i, order := range orders {
		out[i].ID = order.ID
		if !ok {
			out[i].Error = engineClosed
			continue
		}
		f := flows[i]
		if !order.Ticket.IsZero() {
			continue
		}
		l, err := listen(ctx, order)
		if err != nil {
			out[i].Error = fmt.Sprintf("listen on %s: %s", place(order.Local), why(err, order.Local))
			f.fail("%s", out[i].Error)
			continue
		}
		at := addrPort(l.Addr())
		if !f.listening(l, at) || !e.work(func() { e.accept(f, l) }) {
			l.Close()
			out[i].Error = engineClosed
			continue
		}
		out[i].Local = at
	}
	return out
}

func listen(ctx context.Context, order record.FlowOrder) (*net.TCPListener, error) {
	// Keep-alive probes would be foreign packets in a quiet flow; an MPTCP
	// listener does not pass its options on as a TCP one does.
	config := net.ListenConfig{Control: control(order, false), KeepAlive: -1}
	config.SetMultipathTCP(false)
	address := ":0"
	if order.Local.IsValid() {
		address = net.JoinHostPort(order.Local.String(), "0")
	}
	l, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return l.(*net.TCPListener), nil
}

// accept takes the flow's one connection and carries it.
func (e *Engine) accept(f *flow, l *net.TCPListener) {
	conn, err := l.AcceptTCP()
	l.Close()
	if err != nil {
		f.fail("accept at %s: %s", f.listens, why(err, f.order.Local))
		return
	}
	if e.adopt(f, conn) {
		e.carry(f)
	}
}

// Offer hands over a connection that has shown a ticket at a service port that
// flows share. False: no flow of this engine waits for it, and the connection is
// still the caller's.
func (e *Engine) Offer(ticket record.Ticket, conn *net.TCPConn) bool {
	flows := e.all()
	i := slices.IndexFunc(flows, func(f *flow) bool { return f.take(ticket) })
	if i < 0 {
		return false
	}
	f := flows[i]
	return e.work(func() {
		raw, err := conn.SyscallConn()
		if err == nil {
			err = onSocket(raw, func(fd int) error { return prepareAccepted(f.order, fd) })
		}
		if err != nil {
			f.fail("%s → %s: %s", conn.LocalAddr(), conn.RemoteAddr(), why(err, f.order.Remote.Addr()))
			reset(conn)
			return
		}
		if e.adopt(f, conn) {
			e.carry(f)
		}
	})
}

// apart is the longest that one first connection waits for another.
const apart = 5 * time.Millisecond

// Connect opens a connection for each order and returns when each has succeeded,
// failed or taken longer than timeout (0: as long as the kernel tries). The
// reply has one entry per order, in order.
//
// The first connection to each address waits for the one before it, a moment at
// most; the others are opened all at once. So neighbours are asked for one after
// another, as programs that are started by people do, and who answers first is
// the network's doing rather than a race among our own questions.
func (e *Engine) Connect(ctx context.Context, orders []record.FlowOrder, timeout time.Duration) []record.Opened {
	out := make([]record.Opened, len(orders))
	flows, ok := e.add(orders)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.ctx, cancel)()
	var pending sync.WaitGroup
	open := func(i int) <-chan struct{} {
		done := make(chan struct{})
		pending.Add(1)
		over := func() {
			close(done)
			pending.Done()
		}
		if !ok || !e.work(func() {
			f := flows[i]
			opened := e.dial(ctx, f, timeout)
			_, out[i].Local, out[i].Error = f.state()
			over()
			if opened {
				e.carry(f)
			}
		}) {
			out[i].Error = engineClosed
			over()
		}
		return done
	}
	known := map[netip.Addr]bool{}
	var further []int
	for i, order := range orders {
		out[i].ID, out[i].Remote = order.ID, order.Remote
		if known[order.Remote.Addr()] {
			further = append(further, i)
			continue
		}
		known[order.Remote.Addr()] = true
		moment := time.NewTimer(apart)
		select {
		case <-open(i):
		case <-moment.C:
		}
		moment.Stop()
	}
	for _, i := range further {
		open(i)
	}
	pending.Wait()
	return out
}

func (e *Engine) dial(ctx context.Context, f *flow, timeout time.Duration) bool {
	order := f.order
	if !order.Remote.IsValid() {
		f.fail("connect: flow %s has no remote address", order.ID)
		return false
	}
	dialer := net.Dialer{Timeout: timeout, Control: control(order, true), KeepAlive: -1}
	dialer.SetMultipathTCP(false)
	if order.Local.IsValid() {
		dialer.LocalAddr = &net.TCPAddr{IP: order.Local.AsSlice(), Zone: order.Local.Zone()}
	}
	conn, err := dialer.DialContext(ctx, "tcp", order.Remote.String())
	if err != nil {
		f.fail("%s", connectError(order.Local, order.Remote, timeout, err))
		return false
	}
	if !order.Ticket.IsZero() {
		if err := show(conn, order.Ticket, timeout); err != nil {
			f.fail("%s", connectError(order.Local, order.Remote, timeout, err))
			reset(conn.(*net.TCPConn))
			return false
		}
	}
	return e.adopt(f, conn.(*net.TCPConn))
}

// show presents the flow's ticket, which is not counted among its bytes.
func show(conn net.Conn, ticket record.Ticket, timeout time.Duration) error {
	if timeout > 0 {
		if err := conn.SetWriteDeadline(time.Now().Add(timeout)); err != nil {
			return err
		}
	}
	if err := greeting.ShowTicket(conn, ticket); err != nil {
		return err
	}
	return conn.SetWriteDeadline(time.Time{})
}

// adopt settles a new connection's options and puts it in the books.
func (e *Engine) adopt(f *flow, conn *net.TCPConn) bool {
	end, err := settle(f.order, conn)
	if err != nil {
		f.fail("%s → %s: %s", conn.LocalAddr(), conn.RemoteAddr(), why(err, f.order.Remote.Addr()))
		reset(conn)
		return false
	}
	if !f.open(end) {
		reset(conn)
		return false
	}
	return true
}

// carry moves the flow's bytes until they end. Receivers read from the moment
// they are open; senders wait for Start.
func (e *Engine) carry(f *flow) {
	conn := f.end.conn
	if !f.order.Sends {
		err := e.mover.receive(conn, &f.tally, &e.signals)
		stop := e.signals.stop.Load()
		switch {
		case e.signals.quit.Load():
		case err != nil:
			f.fail("receive %s: %s", f.name(), why(err, f.remote.Addr()))
		case stop == 0 || now() < stop-int64(earlyEnd):
			f.fail("receive %s: the sender closed the connection before its time", f.name())
		}
		return
	}
	select {
	case <-e.gate:
	case <-e.ctx.Done():
		return
	}
	err := conn.SetWriteDeadline(deadline(e.signals.stop.Load()))
	if err == nil {
		err = e.mover.send(conn, &f.tally, &e.signals)
	}
	if err == nil {
		// The receiver reads what is buffered, and then the end.
		err = conn.CloseWrite()
	}
	if err != nil && !e.signals.quit.Load() {
		f.fail("send %s: %s", f.name(), why(err, f.remote.Addr()))
	}
}

// Ready waits until every listener has accepted or failed, but no longer than
// timeout, and reports every flow as Read does. Listeners of the flows named
// unused (their openers gave up) are closed and not waited for.
func (e *Engine) Ready(ctx context.Context, timeout time.Duration, unused ...string) []record.FlowEnd {
	flows := e.all()
	for _, f := range flows {
		if slices.Contains(unused, f.order.ID) {
			f.abandon()
		}
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !all(flows, (*flow).settled) {
		select {
		case <-ctx.Done():
			return e.Read()
		case <-e.ctx.Done():
			return e.Read()
		case <-tick.C:
		}
	}
	return e.Read()
}

func all(flows []*flow, holds func(*flow) bool) bool {
	return !slices.ContainsFunc(flows, func(f *flow) bool { return !holds(f) })
}

// Start lets every sender begin writing at one instant and stop at another, both
// in kernel.Now's nanoseconds, and returns at once. A sender that stops closes
// its direction, so that receivers reach the end of the stream; the connection
// stays open for readings until Close. Only the first call counts.
func (e *Engine) Start(at, stop int64) {
	e.mu.Lock()
	first := !e.started
	e.started = true
	e.mu.Unlock()
	if !first {
		return
	}
	e.signals.stop.Store(stop)
	e.work(func() {
		defer close(e.gate)
		// A timer for the bulk, as it can be interrupted; the kernel's own sleep
		// for the rest, as it is precise. Nothing spins: other hosts of a lab may
		// share the processors.
		const precise = 5 * time.Millisecond
		coarse := time.NewTimer(time.Duration(at-now()) - precise)
		defer coarse.Stop()
		select {
		case <-coarse.C:
			kernel.SleepUntil(at)
		case <-e.ctx.Done():
		}
	})
}

// Close resets every connection, closes every listener and waits until nothing
// of the engine is left: no goroutine, no descriptor, nothing in TIME_WAIT. The
// counts remain readable. It may be called again.
func (e *Engine) Close() {
	e.closing.Do(func() {
		e.mu.Lock()
		e.closed = true
		flows := e.flows
		e.mu.Unlock()
		e.signals.quit.Store(true)
		e.cancel()
		for _, f := range flows {
			f.close()
		}
		e.workers.Wait()
	})
}

// Closed is closed as soon as Close has been called.
func (e *Engine) Closed() <-chan struct{} { return e.ctx.Done() }

func place(a netip.Addr) string {
	if a.IsValid() {
		return a.String()
	}
	return "any address"
}
