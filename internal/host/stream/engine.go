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

// Engine holds one end of each of a trial's TCP flows. It serves one trial. All
// methods may be called from several goroutines. Close resets the connections, so
// that neither end goes on sending what is buffered or stays in TIME_WAIT.
type Engine struct {
	*flowset.Set[*tcpFlow]
	backend backend
}

// New makes an engine without flows.
func New() *Engine { return with(platform) }

func with(b backend) *Engine {
	socket.FillPayload()
	return &Engine{flowset.New(newFlow), b}
}

func newFlow(request message.FlowRequest) *tcpFlow {
	return &tcpFlow{State: flowset.State{Request: request}}
}

// Listen opens one listening socket per request, on a port that the kernel chooses,
// at request.Local (invalid: every address of the host). Each accepts one connection
// and then closes. A request with a cookie gets no socket: its connection is to be
// offered. The replies are in the requests' order; a request that fails says so there
// and stops no other.
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

// accept takes the flow's one connection and moves its data.
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

// Offer hands over a connection that has shown a flow's cookie at a shared
// listener. False: no flow of this engine awaits it, and it is still the caller's.
func (e *Engine) Offer(cookie message.Cookie, conn *net.TCPConn) bool {
	f, ok := e.Claim(cookie)
	return ok && e.Go(func() {
		if e.open(f, conn, socket.PrepareConn(f.Request, conn)) {
			e.run(f)
		}
	})
}

// Connect opens a connection for each request and returns when each has succeeded,
// failed or taken longer than timeout (0: as long as the kernel tries). The replies
// are in the requests' order; see flowset.Set.Connect for the order of opening.
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

// Dial opens a connection with a request's options, on which nothing has been said
// yet. It is the caller's.
func Dial(ctx context.Context, request message.FlowRequest, timeout time.Duration) (*net.TCPConn, error) {
	conn, err := socket.Dial(ctx, request, timeout)
	if err != nil {
		return nil, socket.ConnectError(request.Local, request.Remote, timeout, err)
	}
	return conn, nil
}

// Adopt makes a flow of a connection that the caller has opened with Dial and on
// which it has said what the peer expects first. It belongs to the engine then,
// also if an error is returned. piece is how much a sender hands to the kernel at a
// time, in writes of 128 KiB at most; 0: what costs least.
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

// sendCookie shows the flow's cookie, which is not counted among its bytes.
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

// open sets a new connection's options, unless err says that it cannot be used, and makes
// it the flow's. The connection is closed if that fails.
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

// run moves the flow's data until it ends. Receivers read from the moment they are
// open; senders wait for Start. A sender that stops closes its direction, so that
// the receiver reaches the end of the stream; the connection stays open for readings
// until Close.
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
		return // Close resets the connection; a FIN before that would look like the stream's end
	}
	if err == nil {
		// The receiver reads what is buffered, and then the end.
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
