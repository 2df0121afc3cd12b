package application

import (
	"context"
	"net"
	"net/netip"
	"runtime"
	"time"

	"linerate/internal/host/flowset"
	"linerate/internal/host/handshake"
	"linerate/internal/host/socket"
	"linerate/internal/kernel/proc"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
)

// Engine holds one end of each of a trial's flows of application protocols. It serves
// one trial. Its methods are safe for concurrent use.
type Engine struct {
	*flowset.Set[*appFlow]
	certificate func() (certificate, error) // made when it is needed first
}

// New returns an engine without flows, for the protocols that are registered.
func New() *Engine {
	e := &Engine{certificate: onceCertificate()}
	e.Set = flowset.New(e.newFlow)
	return e
}

// Listen prepares to answer each request. It opens a socket on a port that the kernel
// chooses, at request.Local (invalid: all addresses of the host). A request with a
// cookie gets no socket: its connections come through Offer or Admit. The replies are
// in the order of the requests.
func (e *Engine) Listen(ctx context.Context, requests []message.FlowRequest) []message.Listening {
	return e.Set.Listen(requests, func(f *appFlow) (*flowset.Listener, error) {
		l, err := f.listen(ctx)
		if l != nil && f.Request.Process != "" { // the program that is the client has not been started
			f.Open(l.Addr, netip.AddrPort{}, nil)
		}
		return l, err
	})
}

// Connect opens the connections of each request's flow and makes one transaction on
// each. It returns when all are answered or one has failed. timeout limits each
// transaction; 0: the flow's own limit. The replies are in the order of the requests;
// flowset.Set.Connect describes the order of opening.
func (e *Engine) Connect(ctx context.Context, requests []message.FlowRequest, timeout time.Duration) []message.Opened {
	return e.Set.Connect(ctx, requests, func(ctx context.Context, f *appFlow, first func()) func() {
		f.connect(ctx, timeout, first)
		return f.run
	})
}

// Offer hands over a connection that has shown a flow's cookie at a shared listener. It
// returns false if no flow of this engine awaits it; the caller then still owns the
// connection.
func (e *Engine) Offer(cookie message.Cookie, conn *net.TCPConn) bool {
	f, ok := e.Claim(cookie)
	return ok && e.Go(func() { f.offered(conn) })
}

// Admit accepts a client that has shown a cookie at a shared UDP listener. It returns
// false if no flow of this engine awaits it.
func (e *Engine) Admit(cookie message.Cookie, c handshake.Client) bool {
	if cookie.IsZero() {
		return false
	}
	for _, f := range e.All() {
		if f.Expects(cookie) {
			return f.admit(c)
		}
	}
	return false
}

// Busy returns the CPU time of each loop's thread. Without loops it is that of this process divided by the number of
// CPUs, since a flow's work is spread over all of them.
func (f *appFlow) Busy() (ns []int64) {
	f.mu.Lock()
	loops := f.loops
	f.mu.Unlock()
	for _, l := range loops {
		ns = append(ns, l.busy())
	}
	if len(ns) > 0 {
		return ns
	}
	return []int64{int64(proc.TotalCPUTime()) / int64(runtime.NumCPU())}
}

// netEnds are the two ends of a connection, or what is known of them without.
func netEnds(c *Conn, request message.FlowRequest) (local, remote netip.AddrPort) {
	if c == nil {
		return netip.AddrPortFrom(request.Local, 0), request.Remote
	}
	return c.addrs()
}

// listen opens a listener of the flow's own; nil: a shared one serves it.
func (f *appFlow) listen(ctx context.Context) (*flowset.Listener, error) {
	server, err := f.server()
	if err != nil {
		return nil, err
	}
	udp := flow.Of(f.Request.Protocol).Transport == flow.UDP
	switch {
	case !f.Request.Cookie.IsZero() && udp:
		return nil, nil // a socket for each client: see admit
	case !f.Request.Cookie.IsZero():
		shared := &sharedListener{f: f, closed: make(chan struct{})}
		server.Listener = shared
		f.engine.Go(func() { f.serve(f.engine.Context(), server) })
		context.AfterFunc(f.engine.Context(), func() { shared.Close() })
		return nil, nil
	case udp:
		config := net.ListenConfig{Control: socket.Control(f.Request)}
		packets, err := config.ListenPacket(ctx, "udp", socket.ListenAddress(f.Request))
		if err != nil {
			return nil, err
		}
		server.Packets = f.marked(packets)
		return &flowset.Listener{Addr: socket.AddrPort(packets.LocalAddr()), Serve: func() {
			f.serve(f.engine.Context(), server)
		}, Close: func() { packets.Close() }}, nil
	}
	l, err := socket.Listen(ctx, f.Request)
	if err != nil {
		return nil, err
	}
	server.Listener = &ownListener{l, f}
	return &flowset.Listener{Addr: socket.AddrPort(l.Addr()), Serve: func() {
		f.serve(f.engine.Context(), server)
	}, Close: func() { l.Close() }}, nil
}
