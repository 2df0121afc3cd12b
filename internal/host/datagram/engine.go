package datagram

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"linerate/internal/host/handshake"
	"linerate/internal/host/socket"
	"linerate/internal/model/message"
)

// Engine holds one end of each of a trial's flows. All methods may be called
// from several goroutines. An engine serves one trial: make a new one for the
// next.
type Engine struct {
	backend backend
	signals signals
	books   *socket.Books[*flow]
}

// signals are what a mover has to obey.
type signals struct {
	start, stop atomic.Int64 // the instants at which senders start and stop
	begin, end  atomic.Int64 // of the window, in which delays are kept
	quit        atomic.Bool  // the engine closes: return now, whatever the error
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

// Listen opens a port for each order, which the kernel chooses, at
// order.Local (invalid: every address of the host), for one flow. An order with a
// cookie gets none: whoever shows the cookie elsewhere is to be offered. The reply
// has one entry per order, in order.
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
		if err := check(order); err != nil {
			out[i].Error = err.Error()
			f.fail("%s", out[i].Error)
			continue
		}
		if !order.Cookie.IsZero() {
			continue
		}
		address := ":0"
		if order.Local.IsValid() {
			address = net.JoinHostPort(order.Local.String(), "0")
		}
		d, err := handshake.Listen(ctx, address)
		if err != nil {
			out[i].Error = fmt.Sprintf("listen on %s: %s", socket.AddrName(order.Local), socket.Reason(err, order.Local))
			f.fail("%s", out[i].Error)
			continue
		}
		guests := handshake.Handler{Expects: f.expects, Accept: func(t message.Cookie, c handshake.Client) {
			if f.take(t) {
				e.meet(f, c)
				d.Close()
			}
		}}
		if !f.listening(d) || !e.books.Work(func() { d.Serve(guests) }) {
			d.Close()
			out[i].Error = socket.EngineClosed
			continue
		}
		out[i].Local = d.Addr()
	}
	return out
}

// Offer hands over a connection, which no flow of datagrams has a use for.
func (e *Engine) Offer(message.Cookie, *net.TCPConn) bool { return false }

// Expects says whether a flow of this engine waits for who has this cookie.
func (e *Engine) Expects(cookie message.Cookie) bool {
	return !cookie.IsZero() && slices.ContainsFunc(e.books.All(), func(f *flow) bool { return f.expects(cookie) })
}

// Admit takes a caller in who has shown a cookie at a door. False: no flow of this
// engine waits for him. It returns when the flow is open or has failed.
func (e *Engine) Admit(cookie message.Cookie, c handshake.Client) bool {
	flows := e.books.All()
	i := slices.IndexFunc(flows, func(f *flow) bool { return !cookie.IsZero() && f.take(cookie) })
	if i >= 0 {
		e.meet(flows[i], c)
	}
	return i >= 0
}

// meet opens the flow with who has come for it.
func (e *Engine) meet(f *flow, c handshake.Client) {
	conn, err := c.Dial(func(fd int) error { return prepare(f.order, fd) })
	if err != nil {
		f.fail("%s ← %s: %s", c.LocalAddr(), c.RemoteAddr(), socket.Reason(err, c.RemoteAddr().Addr()))
		return
	}
	ready := c.Ready()
	if e.adopt(f, conn, ready, nil) {
		_, _ = conn.Write(ready) // lost: the opener asks again
		if !e.books.Work(func() { e.carry(f) }) {
			f.mover.close()
			conn.Close()
		}
	}
}

// dialStagger is the longest that one first opening waits for another.
const dialStagger = 5 * time.Millisecond

// Connect opens a flow for each order and returns when each has succeeded, failed
// or taken longer than timeout. The reply has one entry per order, in order. As
// with package stream's, neighbours are asked for one after another.
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
			end, _, failure := f.state()
			out[i].Error = failure
			if end != nil {
				out[i].Local = end.local
			}
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
	type ends struct{ local, remote netip.AddrPort }
	taken := map[ends]bool{}
	var further []int
	for i, order := range orders {
		out[i].ID, out[i].Remote = order.ID, order.Remote
		// Of sockets that share a port, the kernel would not mind.
		between := ends{netip.AddrPortFrom(order.Local, order.LocalPort), order.Remote}
		if order.LocalPort != 0 && taken[between] {
			out[i].Error = fmt.Sprintf("connect %s → %s: another flow has the same two ends", between.local, order.Remote)
			if ok {
				flows[i].fail("%s", out[i].Error)
			}
			continue
		}
		taken[between] = true
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
	if err := check(order); err != nil {
		f.fail("%s", err)
		return false
	}
	if !order.Remote.IsValid() {
		f.fail("connect: flow %s has no remote address", order.ID)
		return false
	}
	conn, err := handshake.Dial(ctx, order, timeout, func(fd int) error { return prepare(order, fd) })
	if err != nil {
		f.fail("connect %s → %s: %s", socket.AddrName(order.Local), order.Remote, socket.Reason(err, order.Remote.Addr()))
		return false
	}
	return e.adopt(f, conn, nil, nil)
}

// adopt settles a connected socket's options and puts it in the books.
func (e *Engine) adopt(f *flow, conn *net.UDPConn, ready handshake.Ready, header Header) bool {
	end, err := setOptions(f.order, conn, len(e.books.All()))
	if err != nil {
		f.fail("%s → %s: %s", conn.LocalAddr(), conn.RemoteAddr(), socket.Reason(err, f.order.Remote.Addr()))
		conn.Close()
		return false
	}
	end.ready, end.header = ready, header
	r := e.backend.newMover(f.order, end)
	if !f.open(end, r) {
		r.close()
		conn.Close()
		return false
	}
	return true
}

// Dial makes a connected socket with an order's options, over which nothing has
// been said yet. It is the caller's.
func Dial(ctx context.Context, order message.FlowRequest) (*net.UDPConn, error) {
	if err := check(order); err != nil {
		return nil, err
	}
	dialer := handshake.Dialer(order, func(fd int) error { return prepare(order, fd) })
	c, err := dialer.DialContext(ctx, "udp", order.Remote.String())
	if err != nil {
		return nil, fmt.Errorf("connect %s → %s: %s", socket.AddrName(order.Local), order.Remote, socket.Reason(err, order.Remote.Addr()))
	}
	return c.(*net.UDPConn), nil
}

// Adopt makes a flow of a socket that the caller has made with Dial, and over which
// it has agreed with a peer that is not linerate's. It belongs to the engine then,
// whatever the answer.
func (e *Engine) Adopt(order message.FlowRequest, conn *net.UDPConn, header Header) error {
	flows, ok := e.add([]message.FlowRequest{order})
	if !ok {
		conn.Close()
		return errors.New(socket.EngineClosed)
	}
	f, adopted := flows[0], make(chan error, 1)
	if !e.books.Work(func() {
		if !e.adopt(f, conn, nil, header) {
			_, _, failure := f.state()
			adopted <- errors.New(failure)
			return
		}
		adopted <- nil
		e.carry(f)
	}) {
		conn.Close()
		return errors.New(socket.EngineClosed)
	}
	return <-adopted
}

// carry moves the flow's datagrams until the flow ends. Receivers are ready from
// the moment the flow is open; senders wait for Start.
func (e *Engine) carry(f *flow) {
	defer f.mover.close()
	verb, err := "receive", error(nil)
	if f.order.Sends {
		verb = "send"
		if err = e.attend(f.end); err == nil {
			err = f.mover.send(&f.tally, &e.signals)
		}
	} else {
		err = f.mover.receive(&f.tally, &e.signals)
	}
	if err != nil && !e.signals.quit.Load() {
		why := socket.Reason(err, f.end.remote.Addr())
		if errors.Is(err, syscall.ECONNREFUSED) {
			why = "ICMP port unreachable (ECONNREFUSED): nobody is there any more"
		}
		f.fail("%s %s: %s", verb, f.name(), why)
	}
}

// attend waits for the start. Meanwhile it answers an opener that has missed that
// the flow is ready, and notices if nobody is there any more.
func (e *Engine) attend(end *endpoint) error {
	over := make(chan struct{})
	waiting := e.books.Work(func() {
		select {
		case <-e.books.Gate():
		case <-e.books.Context().Done():
		case <-over:
		}
		_ = end.conn.SetReadDeadline(time.Unix(1, 0))
	})
	defer close(over)
	buffer := make([]byte, handshake.FrameBytes+1)
	for waiting {
		n, err := end.conn.Read(buffer)
		select {
		case <-e.books.Gate():
			return nil
		case <-e.books.Context().Done():
			return nil
		default:
		}
		if err != nil {
			return err
		}
		end.resendReady(buffer[:n])
	}
	return nil
}

// resendReady answers somebody who shows the flow's cookie once more: he has not heard
// that it is ready.
func (end *endpoint) resendReady(b []byte) {
	if end.ready.IsRequestedBy(b) {
		_, _ = end.conn.Write(end.ready)
	}
}

// Abandon stops waiting for the flows named: their openers have given up.
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

// Start lets every sender begin at the window's start and stop at its stop, both
// in kernel.Now's nanoseconds, and returns at once. Only the first call counts.
func (e *Engine) Start(w message.WindowRequest) {
	e.books.Start(w.StartNs, func() {
		e.signals.start.Store(w.StartNs)
		e.signals.stop.Store(w.StopNs)
		e.signals.begin.Store(w.BeginNs)
		e.signals.end.Store(w.EndNs)
	})
}

// Close ends every flow, closes every door and waits until nothing of the engine
// is left. The counts remain readable. It may be called again.
func (e *Engine) Close() {
	e.books.Close(func() { e.signals.quit.Store(true) }, (*flow).close)
}
