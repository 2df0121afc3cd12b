package stream

import (
	"context"
	"errors"
	"net"
	"time"

	"linerate/internal/bus/greeting"
	"linerate/internal/host/flowset"
	"linerate/internal/host/socket"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/message"
)

// Engine holds this host's ends of a trial's TCP flows. It serves one trial. Its methods are safe for
// concurrent use. Close resets the connections, so that neither end continues to send buffered data or stays in
// TIME_WAIT.
type Engine struct {
	*flowset.Set[*tcpFlow]
	backend backend
}

// New returns an engine without flows.
func New() *Engine { return with(platform) }

func with(b backend) *Engine {
	socket.FillPayload()
	return &Engine{flowset.New(newFlow), b}
}

func newFlow(request message.FlowRequest) *tcpFlow {
	return &tcpFlow{State: flowset.State{Request: request}}
}

// Listen opens a listening socket for each request, on a port that the kernel chooses, at request.Local
// (invalid: all addresses of the host). Each accepts one connection and then closes. A request with a cookie
// gets no socket: its connection comes through Offer. The replies are in the order of the requests; a request
// that fails does not affect the others.
func (e *Engine) Listen(ctx context.Context, requests []message.FlowRequest) []message.Listening {
	return e.Set.Listen(requests, func(f *tcpFlow) (*flowset.Listener, error) {
		if !f.Request.Cookie.IsZero() {
			return nil, nil
		}
		l, err := socket.Listen(ctx, f.Request)
		if err != nil {
			return nil, err
		}
		return &flowset.Listener{Addr: socket.AddrPort(l.Addr()), Serve: func() { e.accept(f, l) }, Close: func() {
			l.Close()
		}}, nil
	})
}

// accept accepts the flow's one connection and moves its data.
func (e *Engine) accept(f *tcpFlow, l *net.TCPListener) {
	conn, err := l.AcceptTCP()
	l.Close()
	if err != nil {
		f.Fail("accept at %s: %w", l.Addr(), socket.Reason(err, f.Request.Local))
		return
	}
	if e.open(f, conn, nil) {
		e.run(f)
	}
}

// Offer hands over a connection that has shown a flow's cookie at a shared listener. It returns false if no
// flow of this engine awaits it; the caller then still owns the connection.
func (e *Engine) Offer(cookie message.Cookie, conn *net.TCPConn) bool {
	f, ok := e.Claim(cookie)
	return ok && e.Go(func() {
		if e.open(f, conn, socket.PrepareConn(f.Request, conn)) {
			e.run(f)
		}
	})
}

// Connect opens a connection for each request and returns when each is open or has failed, after timeout at the
// latest (0: as long as the kernel tries). The replies are in the order of the requests; flowset.Set.Connect
// describes the order of opening.
func (e *Engine) Connect(ctx context.Context, requests []message.FlowRequest, timeout time.Duration) []message.Opened {
	return e.Set.Connect(ctx, requests, func(ctx context.Context, f *tcpFlow, _ func()) func() {
		if !e.dial(ctx, f, timeout) {
			return nil
		}
		return func() { e.run(f) }
	})
}

func (e *Engine) dial(ctx context.Context, f *tcpFlow, timeout time.Duration) bool {
	request := f.Request
	conn, err := Dial(ctx, request, timeout)
	if err != nil {
		f.Fail("%w", err)
		return false
	}
	if !request.Cookie.IsZero() {
		if err := sendCookie(conn, request.Cookie, timeout); err != nil {
			f.Fail("%w", socket.ConnectError(request.Local, request.Remote, timeout, err))
			socket.Reset(conn)
			return false
		}
	}
	return e.open(f, conn, nil)
}

// Dial opens a connection with a request's options and sends nothing. The caller owns it.
func Dial(ctx context.Context, request message.FlowRequest, timeout time.Duration) (*net.TCPConn, error) {
	conn, err := socket.Dial(ctx, request, timeout)
	if err != nil {
		return nil, socket.ConnectError(request.Local, request.Remote, timeout, err)
	}
	return conn, nil
}

// Adopt adds a flow that uses conn, a connection from Dial on which the caller has sent what the peer expects
// first. The engine owns conn afterwards, even if it returns an error. A sender hands piece bytes to the kernel
// at a time, in writes of at most 128 KiB; 0: whatever is cheapest.
func (e *Engine) Adopt(request message.FlowRequest, conn *net.TCPConn, piece int) error {
	f := newFlow(request)
	if request.Sends {
		f.piece = piece
	}
	err := e.Set.Adopt(f, func() bool { return e.open(f, conn, nil) }, func() { e.run(f) })
	if errors.Is(err, flowset.ErrClosed) {
		socket.Reset(conn)
	}
	return err
}

// sendCookie sends the flow's cookie, which is not counted among its bytes.
func sendCookie(conn net.Conn, cookie message.Cookie, timeout time.Duration) error {
	if timeout > 0 {
		if err := conn.SetWriteDeadline(time.Now().Add(timeout)); err != nil {
			return err
		}
	}
	if err := greeting.SendCookie(conn, cookie); err != nil {
		return err
	}
	return conn.SetWriteDeadline(time.Time{})
}

// open sets the options of a new connection, unless err is set, and assigns it to the flow. On failure it
// closes the connection.
func (e *Engine) open(f *tcpFlow, conn *net.TCPConn, err error) bool {
	var congestion string
	if err == nil {
		congestion, err = setOptions(f.Request, conn)
	}
	if err != nil {
		f.Fail("%s → %s: %w", conn.LocalAddr(), conn.RemoteAddr(), socket.Reason(err, f.Request.Remote.Addr()))
		socket.Reset(conn)
		return false
	}
	newMover := e.backend
	if programRate(f.Request) > 0 {
		newMover = portable
	}
	f.conn, f.congestion, f.mover = conn, congestion, newMover(f.Request, f.piece)
	if !f.Open(socket.AddrPort(conn.LocalAddr()), socket.AddrPort(conn.RemoteAddr()), func() { socket.Reset(conn) }) {
		f.mover.close()
		socket.Reset(conn)
		return false
	}
	return true
}

// run moves the flow's data until it ends. Receivers read as soon as they are open; senders wait for Start. A
// sender that stops closes its direction, so that the receiver reaches the end of the stream; the connection
// stays open for readings until Close.
func (e *Engine) run(f *tcpFlow) {
	conn, signals := f.conn, &e.Signals
	defer f.mover.close()
	if !f.Request.Sends {
		err := f.mover.receive(conn, &f.tally, signals)
		switch {
		case signals.Quit.Load():
		case err != nil:
			f.fail("receive", err)
		case !signals.Stopping():
			f.Fail("receive %s: the sender closed the connection before its time", f.Name())
		}
		return
	}
	if !e.WaitStart() {
		return
	}
	err := conn.SetWriteDeadline(sched.Deadline(signals.Stop.Load()))
	if err == nil {
		err = f.mover.send(conn, &f.tally, signals)
	}
	if signals.Quit.Load() {
		return // Close resets the connection; a FIN before would look like the end of the stream
	}
	if err == nil {
		// The receiver reads the buffered data and then the end of the stream.
		err = conn.CloseWrite()
	}
	if err != nil {
		f.fail("send", err)
	}
}

func (f *tcpFlow) fail(verb string, err error) {
	_, remote := f.Addrs()
	f.Break(err, "%s %s: %w", verb, f.Name(), socket.Reason(err, remote.Addr()))
}
