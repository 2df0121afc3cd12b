package stream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"linerate/internal/bus/greeting"
	"linerate/internal/host/socket"
	"linerate/internal/model/message"
)

// earlyEnd is how much before the agreed stop a receiver may see the end of the
// stream without calling it a failure: the two hosts' clocks differ.
const earlyEnd = 50 * time.Millisecond

// Engine holds one end of each of a trial's flows. All methods may be called
// from several goroutines. An engine serves one trial: make a new one for the
// next.
type Engine struct {
	backend backend
	signals signals
	books   *socket.Books[*flow]
}

// New makes an engine with no flows.
func New() *Engine { return with(platform) }

func with(m backend) *Engine { return &Engine{backend: m, books: socket.NewBooks[*flow]()} }

// add makes a flow for each order. False: the engine is closed.
func (e *Engine) add(orders []message.FlowRequest) ([]*flow, bool) {
	flows := make([]*flow, len(orders))
	for i, order := range orders {
		flows[i] = &flow{order: order}
	}
	return flows, e.books.Add(flows...)
}

// Listen opens one listening socket per order, on a port the kernel
// chooses, at order.Local (invalid: every address of the host). Each accepts one
// connection and then closes. An order with a cookie gets no socket: its
// connection is to be offered. The reply has one entry per order, in order; an
// order that fails says so there and does not keep the others from listening.
func (e *Engine) Listen(ctx context.Context, orders []message.FlowRequest) []message.Listening {
	out := make([]message.Listening, len(orders))
	flows, ok := e.add(orders)
	for i, order := range orders {
		out[i].ID = order.ID
		if !ok {
			out[i].Error = socket.EngineClosed
			continue
		}
		f := flows[i]
		if !order.Cookie.IsZero() {
			continue
		}
		l, err := listen(ctx, order)
		if err != nil {
			out[i].Error = fmt.Sprintf("listen on %s: %s", socket.AddrName(order.Local), socket.Reason(err, order.Local))
			f.fail("%s", out[i].Error)
			continue
		}
		at := socket.AddrPort(l.Addr())
		if !f.listening(l, at) || !e.books.Work(func() { e.accept(f, l) }) {
			l.Close()
			out[i].Error = socket.EngineClosed
			continue
		}
		out[i].Local = at
	}
	return out
}

func listen(ctx context.Context, order message.FlowRequest) (*net.TCPListener, error) {
	if err := checkMode(order); err != nil {
		return nil, err
	}
	// Keep-alive probes would be foreign packets in a quiet flow; an MPTCP
	// listener does not pass its options on as a TCP one does.
	config := net.ListenConfig{Control: socket.Control(order, false), KeepAlive: -1}
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
		f.fail("accept at %s: %s", f.listens, socket.Reason(err, f.order.Local))
		return
	}
	if e.adopt(f, conn) {
		e.carry(f)
	}
}

// Offer hands over a connection that has shown a cookie at a port that
// flows share. False: no flow of this engine waits for it, and the connection is
// still the caller's.
func (e *Engine) Offer(cookie message.Cookie, conn *net.TCPConn) bool {
	flows := e.books.All()
	i := slices.IndexFunc(flows, func(f *flow) bool { return f.take(cookie) })
	if i < 0 {
		return false
	}
	f := flows[i]
	return e.books.Work(func() {
		err := checkMode(f.order)
		raw, bad := conn.SyscallConn()
		if err = errors.Join(err, bad); err == nil {
			err = socket.WithFD(raw, func(fd int) error { return socket.PrepareAccepted(f.order, fd) })
		}
		if err != nil {
			f.fail("%s → %s: %s", conn.LocalAddr(), conn.RemoteAddr(), socket.Reason(err, f.order.Remote.Addr()))
			reset(conn)
			return
		}
		if e.adopt(f, conn) {
			e.carry(f)
		}
	})
}

// dialStagger is the longest that one first connection waits for another.
const dialStagger = 5 * time.Millisecond

// Connect opens a connection for each order and returns when each has succeeded,
// failed or taken longer than timeout (0: as long as the kernel tries). The
// reply has one entry per order, in order.
//
// The first connection to each address waits for the one before it, a moment at
// most; the others are opened all at once. So neighbours are asked for one after
// another, as programs that are started by people do, and who answers first is
// the network's doing rather than a race among our own questions.
func (e *Engine) Connect(ctx context.Context, orders []message.FlowRequest, timeout time.Duration) []message.Opened {
	out := make([]message.Opened, len(orders))
	flows, ok := e.add(orders)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.books.Context(), cancel)()
	var pending sync.WaitGroup
	open := func(i int) <-chan struct{} {
		done := make(chan struct{})
		pending.Add(1)
		over := func() {
			close(done)
			pending.Done()
		}
		if !ok || !e.books.Work(func() {
			f := flows[i]
			opened := e.dial(ctx, f, timeout)
			_, out[i].Local, out[i].Error = f.state()
			over()
			if opened {
				e.carry(f)
			}
		}) {
			out[i].Error = socket.EngineClosed
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
		moment := time.NewTimer(dialStagger)
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
	conn, err := Dial(ctx, order, timeout)
	if err != nil {
		f.fail("%s", err.Error())
		return false
	}
	if !order.Cookie.IsZero() {
		if err := sendCookie(conn, order.Cookie, timeout); err != nil {
			f.fail("%s", socket.ConnectError(order.Local, order.Remote, timeout, err))
			reset(conn)
			return false
		}
	}
	return e.adopt(f, conn)
}

// Dial opens a connection with an order's options, on which nothing has been said
// yet. It is the caller's.
func Dial(ctx context.Context, order message.FlowRequest, timeout time.Duration) (*net.TCPConn, error) {
	if !order.Remote.IsValid() {
		return nil, fmt.Errorf("connect: flow %s has no remote address", order.ID)
	}
	if err := checkMode(order); err != nil {
		return nil, errors.New(socket.ConnectError(order.Local, order.Remote, timeout, err))
	}
	dialer := net.Dialer{Timeout: timeout, Control: socket.Control(order, true), KeepAlive: -1}
	dialer.SetMultipathTCP(false)
	if order.Local.IsValid() || order.LocalPort != 0 {
		dialer.LocalAddr = &net.TCPAddr{IP: order.Local.AsSlice(), Port: int(order.LocalPort), Zone: order.Local.Zone()}
	}
	conn, err := dialer.DialContext(ctx, "tcp", order.Remote.String())
	if err != nil {
		return nil, errors.New(socket.ConnectError(order.Local, order.Remote, timeout, err))
	}
	return conn.(*net.TCPConn), nil
}

// Adopt makes a flow of a connection that the caller has opened with Dial and on
// which it has said what the peer wants to hear first. It belongs to the engine
// then, whatever the answer.
func (e *Engine) Adopt(order message.FlowRequest, conn *net.TCPConn) error {
	flows, ok := e.add([]message.FlowRequest{order})
	if !ok {
		reset(conn)
		return errors.New(socket.EngineClosed)
	}
	f, adopted := flows[0], make(chan error, 1)
	if !e.books.Work(func() {
		if !e.adopt(f, conn) {
			_, _, failure := f.state()
			adopted <- errors.New(failure)
			return
		}
		adopted <- nil
		e.carry(f)
	}) {
		reset(conn)
		return errors.New(socket.EngineClosed)
	}
	return <-adopted
}

// sendCookie presents the flow's cookie, which is not counted among its bytes.
func sendCookie(conn net.Conn, cookie message.Cookie, timeout time.Duration) error {
	if timeout > 0 {
		if err := conn.SetWriteDeadline(time.Now().Add(timeout)); err != nil {
			return err
		}
	}
	if err := greeting.ShowTicket(conn, cookie); err != nil {
		return err
	}
	return conn.SetWriteDeadline(time.Time{})
}

// adopt settles a new connection's options and puts it in the books.
func (e *Engine) adopt(f *flow, conn *net.TCPConn) bool {
	end, err := setOptions(f.order, conn)
	if err != nil {
		f.fail("%s → %s: %s", conn.LocalAddr(), conn.RemoteAddr(), socket.Reason(err, f.order.Remote.Addr()))
		reset(conn)
		return false
	}
	r := newPaced(f.order)
	if r == nil {
		r = e.backend.newMover(f.order)
	}
	if !f.open(end, r) {
		r.close()
		reset(conn)
		return false
	}
	return true
}

// carry moves the flow's bytes until they end. Receivers read from the moment
// they are open; senders wait for Start.
func (e *Engine) carry(f *flow) {
	conn := f.end.conn
	defer f.mover.close()
	if !f.order.Sends {
		err := f.mover.receive(conn, &f.tally, &e.signals)
		stop := e.signals.stop.Load()
		switch {
		case e.signals.quit.Load():
		case err != nil:
			f.fail("receive %s: %s", f.name(), socket.Reason(err, f.remote.Addr()))
		case stop == 0 || socket.Now() < stop-int64(earlyEnd):
			f.fail("receive %s: the sender closed the connection before its time", f.name())
		}
		return
	}
	select {
	case <-e.books.Gate():
	case <-e.books.Context().Done():
		return
	}
	err := conn.SetWriteDeadline(socket.Deadline(e.signals.stop.Load()))
	if err == nil {
		err = f.mover.send(conn, &f.tally, &e.signals)
	}
	if err == nil {
		// The receiver reads what is buffered, and then the end.
		err = conn.CloseWrite()
	}
	if err != nil && !e.signals.quit.Load() {
		f.fail("send %s: %s", f.name(), socket.Reason(err, f.remote.Addr()))
	}
}

// Abandon stops waiting for the connections of the flows named: their openers
// have given up.
func (e *Engine) Abandon(unused []string) {
	for _, f := range e.books.All() {
		if slices.Contains(unused, f.order.ID) {
			f.abandon()
		}
	}
}

// Settled says that every flow is open or has failed.
func (e *Engine) Settled() bool {
	return !slices.ContainsFunc(e.books.All(), func(f *flow) bool { return !f.settled() })
}

// Start lets every sender begin writing at the window's start and stop at its
// stop, both in kernel.Now's nanoseconds, and returns at once. A sender that
// stops closes its direction, so that receivers reach the end of the stream; the
// connection stays open for readings until Close. Only the first call counts.
func (e *Engine) Start(w message.WindowRequest) {
	e.books.Start(w.StartNs, func() {
		e.signals.stop.Store(w.StopNs)
	})
}

// Close resets every connection, closes every listener and waits until nothing
// of the engine is left: no goroutine, no descriptor, nothing in TIME_WAIT. The
// counts remain readable. It may be called again.
func (e *Engine) Close() {
	e.books.Close(func() { e.signals.quit.Store(true) }, (*flow).close)
}
