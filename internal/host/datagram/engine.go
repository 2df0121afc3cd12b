package datagram

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"

	"linerate/internal/bus"
	"linerate/internal/host/flowset"
	"linerate/internal/host/handshake"
	"linerate/internal/host/socket"
	"linerate/internal/kernel/sched"
	"linerate/internal/kernel/sock"
	"linerate/internal/model/message"
)

// Engine holds this host's ends of a trial's UDP flows. It serves one trial. Its methods are safe for
// concurrent use.
type Engine struct {
	*flowset.Set[*udpFlow]
	backend backend
}

// New returns an engine without flows.
func New() *Engine { return with(platform) }

func with(b backend) *Engine {
	e := &Engine{backend: b}
	e.Set = flowset.New(e.newFlow)
	return e
}

// udpFlow is one end of a flow.
type udpFlow struct {
	flowset.State
	signals *flowset.Signals
	tally   tally
	end     *endpoint // set before the flow is open; so is mover
	mover   mover
}

// endpoint is the socket of a flow, connected to the other end.
type endpoint struct {
	conn          *net.UDPConn
	local, remote netip.AddrPort
	bytes         int // payload of a datagram that it sends
	flows         int // number of the trial's flows
	packets       int // IP packets per datagram
	buffer        int // receive buffer in bytes, as the kernel accounts for it
	sndbuf        int // 0: no window was requested
	notes         []string
	header        Header  // nil: linerate's own header
	tuples        int     // number of address and port combinations that datagrams cycle through
	frames        *framed // sends instead of the socket; nil: the socket sends
	// ready is the acceptor's last frame, repeated if it was lost; nil at the opener.
	ready handshake.Ready
}

func (e *Engine) newFlow(request message.FlowRequest) *udpFlow {
	return &udpFlow{State: flowset.State{Request: request}, signals: &e.Signals}
}

// Listen opens a port, which the kernel chooses, for each request, at request.Local (invalid: all addresses of
// the host). Each port accepts one flow. A request with a cookie gets no port: its client arrives at a shared
// listener. The replies are in the order of the requests.
func (e *Engine) Listen(ctx context.Context, requests []message.FlowRequest) []message.Listening {
	return e.Set.Listen(requests, func(f *udpFlow) (*flowset.Listener, error) {
		if !f.Request.Cookie.IsZero() {
			return nil, nil
		}
		l, err := handshake.Listen(ctx, socket.ListenAddress(f.Request))
		if err != nil {
			return nil, err
		}
		handler := handshake.Handler{Expects: f.Expects, Accept: func(cookie message.Cookie, c handshake.Client) {
			if f.Claim(cookie) {
				e.accept(f, c)
				l.Close()
			}
		}}
		return &flowset.Listener{Addr: l.Addr(), Serve: func() { l.Serve(handler) }, Close: l.Close}, nil
	})
}

// Admit accepts a client that has shown a cookie at a shared listener, and returns when its flow is open or has
// failed. It returns false if no flow of this engine awaits the client.
func (e *Engine) Admit(cookie message.Cookie, c handshake.Client) bool {
	f, ok := e.Claim(cookie)
	if ok {
		e.accept(f, c)
	}
	return ok
}

// Start lets a receiver of several address and port combinations receive everything sent to its port: its
// opener needs no further answer.
func (f *udpFlow) Start(w message.WindowRequest) {
	if f.IsOpen() && !f.Request.Sends && f.Request.Tuples > 1 {
		if err := socket.WithConn(f.end.conn, sock.Disconnect); err != nil {
			f.Fail("receiving from several addresses and ports: %w", err)
		}
	}
	f.State.Start(w)
}

// accept opens the flow with its client.
func (e *Engine) accept(f *udpFlow, c handshake.Client) {
	conn, err := c.Dial(f.Request)
	if err != nil {
		f.Fail("%s ← %s: %w", c.LocalAddr(), c.RemoteAddr(), socket.Reason(err, c.RemoteAddr().Addr()))
		return
	}
	ready := c.Ready()
	if e.open(f, conn, ready, nil) {
		_, _ = conn.Write(ready) // if it is lost, the opener asks again
		if !e.Go(func() { e.run(f) }) {
			f.mover.close()
			conn.Close()
		}
	}
}

// Connect opens a flow for each request and returns when each is open or has failed, after timeout at the
// latest. The replies are in the order of the requests; flowset.Set.Connect describes the order of opening.
func (e *Engine) Connect(ctx context.Context, requests []message.FlowRequest, timeout time.Duration) []message.Opened {
	return e.Set.Connect(ctx, requests, func(ctx context.Context, f *udpFlow, _ func()) func() {
		if !e.dial(ctx, f, timeout) {
			return nil
		}
		return func() { e.run(f) }
	})
}

func (e *Engine) dial(ctx context.Context, f *udpFlow, timeout time.Duration) bool {
	request := f.Request
	// Two sockets that share a port could get the same two ends: the kernel allows that.
	for _, other := range e.All() {
		if o := other.Request; other == f || request.LocalPort == 0 {
			break
		} else if o.Local == request.Local && o.LocalPort == request.LocalPort && o.Remote == request.Remote {
			f.Fail("connect %s → %s: another flow has the same two ends", netip.AddrPortFrom(o.Local, o.LocalPort),
				o.Remote)
			return false
		}
	}
	conn, err := handshake.Dial(ctx, request, timeout)
	if err != nil {
		f.Fail("%s: %w", socket.Connecting(request.Local, request.Remote), socket.Reason(err, request.Remote.Addr()))
		return false
	}
	return e.open(f, conn, nil, nil)
}

// open sets the options of a connected socket and assigns it to flow f. On failure it closes the socket.
func (e *Engine) open(f *udpFlow, conn *net.UDPConn, ready handshake.Ready, header Header) bool {
	end, err := setOptions(f.Request, conn, e.Flows())
	if err != nil {
		f.Fail("%s → %s: %w", conn.LocalAddr(), conn.RemoteAddr(), socket.Reason(err, f.Request.Remote.Addr()))
		conn.Close()
		return false
	}
	end.ready, end.header = ready, header
	f.end, f.mover = end, e.backend(f.Request, end)
	if !f.Open(end.local, end.remote, func() { conn.Close() }) {
		f.mover.close()
		conn.Close()
		return false
	}
	return true
}

// Dial returns a connected socket with the request's options that has sent nothing yet. The caller owns it.
func Dial(ctx context.Context, request message.FlowRequest) (*net.UDPConn, error) {
	dialer := handshake.Dialer(request)
	c, err := dialer.DialContext(ctx, "udp", request.Remote.String())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", socket.Connecting(request.Local, request.Remote),
			socket.Reason(err, request.Remote.Addr()))
	}
	return c.(*net.UDPConn), nil
}

// Adopt adds a flow that uses conn, a socket from Dial on which the caller has agreed with a peer other than
// linerate. The engine owns conn afterwards, even if it returns an error.
func (e *Engine) Adopt(request message.FlowRequest, conn *net.UDPConn, header Header) error {
	f := e.newFlow(request)
	err := e.Set.Adopt(f, func() bool { return e.open(f, conn, nil, header) }, func() { e.run(f) })
	if errors.Is(err, flowset.ErrClosed) {
		conn.Close()
	}
	return err
}

// run moves the flow's datagrams until the flow ends. A receiver works as soon as the flow is open; a sender
// waits for Start.
func (e *Engine) run(f *udpFlow) {
	defer f.mover.close()
	verb, err := "receive", error(nil)
	if f.Request.Sends {
		verb = "send"
		if err = e.awaitStart(f.end); err == nil {
			err = f.end.conn.SetWriteDeadline(sched.Deadline(e.Signals.Stop.Load()))
		}
		if err == nil {
			err = f.mover.send(&f.tally, &e.Signals)
		}
	} else {
		err = f.mover.receive(&f.tally, &e.Signals)
	}
	if err != nil && !e.Signals.Quit.Load() {
		why := socket.Reason(err, f.end.remote.Addr())
		if errors.Is(err, syscall.ECONNREFUSED) {
			why = bus.Coded(message.Unreachable,
				errors.New("ICMP port unreachable (ECONNREFUSED): the peer has closed its socket"))
		}
		f.Break(err, "%s %s: %w", verb, f.Name(), why)
	}
}

// awaitStart waits for the start. Meanwhile it repeats the ready frame for an opener that missed it, and fails
// if the peer's host reports its port unreachable.
func (e *Engine) awaitStart(end *endpoint) error {
	done := make(chan struct{})
	waiting := e.Go(func() {
		select {
		case <-e.Started():
		case <-e.Context().Done():
		case <-done:
		}
		_ = end.conn.SetReadDeadline(time.Unix(1, 0))
	})
	defer close(done)
	buffer := make([]byte, handshake.FrameBytes+1)
	for waiting {
		n, err := end.conn.Read(buffer)
		select {
		case <-e.Started():
			return nil
		case <-e.Context().Done():
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

// resendReady repeats the ready frame if b shows that the opener has not received it.
func (end *endpoint) resendReady(b []byte) {
	if end.ready.IsRequestedBy(b) {
		_, _ = end.conn.Write(end.ready)
	}
}
