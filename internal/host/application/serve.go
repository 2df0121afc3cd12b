package application

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"

	"linerate/internal/host/handshake"
	"linerate/internal/host/socket"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/unit"
)

// server returns the flow's Server without a listener.
func (f *appFlow) server() (*Server, error) {
	made, err := f.engine.certificate()
	if err != nil {
		return nil, err
	}
	return &Server{Spec: f.Request.Spec, TLS: made.server(f.Request.TLS), Answered: func() {
		f.counts.done.Add(1)
		f.counts.stamp(sched.Now())
	}, Moved: func(client net.Addr, received, sent int) {
		f.counts.received.Add(int64(received))
		f.counts.written.Add(int64(sent))
		if !f.IsOpen() && client != nil {
			f.Open(f.ListenAddr(), socket.AddrPort(client), nil)
		}
	}}, nil
}

// serve answers until ctx ends, at the latest when the engine closes.
func (f *appFlow) serve(ctx context.Context, s *Server) {
	err := f.protocol.Serve(ctx, s)
	if err != nil && !f.engine.Signals.Quit.Load() && !errors.Is(err, net.ErrClosed) {
		f.Fail("%s server: %w", f.Request.Protocol, err)
	}
}

// arrived registers an accepted connection; nil if the flow is closed.
func (f *appFlow) arrived(conn net.Conn) *served {
	c := &served{Conn: conn, f: f}
	c.ctx, c.end = context.WithCancel(f.engine.Context())
	c.heard.Store(sched.Now())
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		c.end()
		return nil
	}
	f.served[c] = struct{}{}
	f.mu.Unlock()
	f.counts.opened.Add(1)
	f.Open(socket.AddrPort(conn.LocalAddr()), socket.AddrPort(conn.RemoteAddr()), nil)
	return c
}

// served is a server's connection, which counts the bytes it carries.
type served struct {
	net.Conn
	f     *appFlow
	ctx   context.Context // until it is closed
	end   context.CancelFunc
	heard atomic.Int64 // when data last arrived, or when it was opened
	once  sync.Once
}

func (c *served) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.heard.Store(sched.Now())
		c.f.counts.received.Add(int64(n))
	}
	return n, err
}

func (c *served) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.f.counts.written.Add(int64(max(0, n)))
	return n, err
}

// CloseWrite ends what the server sends (shutdown(2)).
func (c *served) CloseWrite() error {
	if end, is := c.Conn.(interface{ CloseWrite() error }); is {
		return end.CloseWrite()
	}
	return errors.ErrUnsupported
}

func (c *served) Close() error {
	c.once.Do(func() {
		c.end()
		c.f.counts.closed.Add(1)
		c.f.mu.Lock()
		delete(c.f.served, c)
		c.f.mu.Unlock()
	})
	return c.Conn.Close()
}

// ownListener is the flow's own listener.
type ownListener struct {
	*net.TCPListener
	f *appFlow
}

func (l *ownListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.AcceptTCP()
		if err != nil {
			return nil, err
		}
		if c := l.f.arrived(conn); c != nil {
			return c, nil
		}
		conn.Close()
	}
}

// sharedListener yields the flow's connections that a shared listener has accepted.
type sharedListener struct {
	f      *appFlow
	once   sync.Once
	closed chan struct{}
}

func (l *sharedListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.f.accepted:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *sharedListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *sharedListener) Addr() net.Addr { return &net.TCPAddr{} }

// offered passes the server a connection that has shown the flow's cookie.
func (f *appFlow) offered(conn *net.TCPConn) {
	if err := socket.PrepareConn(f.Request, conn); err != nil {
		f.Fail("%w", err)
		conn.Close()
		return
	}
	c := f.arrived(conn)
	if c == nil {
		conn.Close()
		return
	}
	select {
	case f.accepted <- c:
	case <-f.engine.Context().Done():
		c.Close()
	}
}

// open returns how many connections a server has.
func (f *appFlow) open() int { return int(f.counts.opened.Load() - f.counts.closed.Load()) }

// mostOpen returns the maximum number of connections. A client that opens one per transaction may open the next
// before the server sees the previous one end.
func (f *appFlow) mostOpen() int { return MostOpen(f.Request.Spec) }

// MostOpen returns the maximum number of connections of a flow that may be open at the accepting end.
func MostOpen(spec flow.Spec) int { return 2*max(1, spec.Connections) + 16 }

// The most memory that a server's connection takes in this process, in bytes: buffers and goroutines, those of
// TLS and of each stream.
const (
	connMemory   = 48 << 10
	tlsMemory    = 96 << 10
	streamMemory = 64 << 10
	// answerMemory is the memory of a DNS answer that waits, with its goroutine.
	answerMemory = 4 << 10
)

// ReceiveWindow returns the maximum number of bytes of requests that a client may have sent and the server not
// yet read, on a connection of HTTP/2 or HTTP/3.
func ReceiveWindow(spec flow.Spec) int {
	const least, most = 64 << 10, 1 << 20
	return int(min(max(spec.Request, least), most))
}

// Memory returns the most memory that a connection of a request's flow takes in this process at the accepting
// end, in bytes.
func Memory(request message.FlowRequest) int64 {
	bytes := int64(connMemory)
	if Encrypted(request.Spec) {
		bytes += tlsMemory
	}
	switch request.Protocol {
	case flow.HTTP2:
		bytes += int64(ReceiveWindow(request.Spec)) + int64(max(1, request.Pipeline))*streamMemory
	case flow.HTTP3:
		bytes += int64(ReceiveWindow(request.Spec)) + int64(max(1, request.Pipeline))*streamMemory
	case flow.DNS, flow.DNSTCP, flow.DoT:
		if request.Think != 0 {
			bytes += int64(max(1, request.Pipeline)) * answerMemory
		}
	}
	return bytes
}

// Claim reports whether a TCP connection with this cookie belongs to the flow.
func (f *appFlow) Claim(cookie message.Cookie) bool {
	return !f.isClient && !f.overUDP() && f.Request.Cookie == cookie && f.Failure() == nil && !f.IsClosed() &&
		f.open() < f.mostOpen()
}

// Expects reports whether the flow uses UDP and accepts a client with this cookie.
func (f *appFlow) Expects(cookie message.Cookie) bool {
	return !f.isClient && f.overUDP() && f.Request.Cookie == cookie && f.Failure() == nil && !f.IsClosed()
}

// admit creates a socket for a UDP client and serves it. The end of a client's socket may go unnoticed, so at
// the maximum number it closes the one that has been silent longest.
func (f *appFlow) admit(c handshake.Client) bool {
	f.mu.Lock()
	var silent *served
	for known := range f.served {
		if socket.AddrPort(known.RemoteAddr()) == c.RemoteAddr() {
			f.mu.Unlock()
			_, err := known.Conn.Write(c.Ready()) // the client missed the ready frame
			return err == nil
		}
		if silent == nil || known.heard.Load() < silent.heard.Load() {
			silent = known
		}
	}
	full := len(f.served) >= f.mostOpen()
	f.mu.Unlock()
	if full {
		silent.Close()
	}
	conn, err := c.Dial(f.Request)
	if err != nil {
		return false
	}
	server, err := f.server()
	kept := f.arrived(conn)
	if err != nil || kept == nil {
		conn.Close()
		return false
	}
	server.Moved = func(net.Addr, int, int) {} // the connection itself counts
	server.Connected, server.Packets = true, &connectedPackets{Conn: kept, raw: conn, ready: c.Ready(),
		pace: pacerOf(f.Request.RateCap)}
	if _, err := conn.Write(c.Ready()); err != nil || !f.engine.Go(func() {
		defer kept.Close()
		f.serve(kept.ctx, server)
	}) {
		kept.Close()
		return false
	}
	return true
}

// connectedPackets is a socket connected to its one client.
type connectedPackets struct {
	net.Conn
	raw   net.Conn
	ready handshake.Ready
	pace  pacer
}

// ReadFrom returns the next datagram that is not a handshake frame. It repeats the ready frame to a client that
// missed it.
func (p *connectedPackets) ReadFrom(b []byte) (int, net.Addr, error) {
	for {
		n, err := p.Conn.Read(b)
		if err != nil || !handshake.IsFrame(b[:n]) {
			return n, p.RemoteAddr(), err
		}
		if p.ready.IsRequestedBy(b[:n]) {
			if _, err := p.raw.Write(p.ready); err != nil {
				return 0, nil, err
			}
		}
	}
}

func (p *connectedPackets) SetReadBuffer(bytes int) error {
	if udp, ok := p.raw.(*net.UDPConn); ok {
		return udp.SetReadBuffer(bytes)
	}
	return nil
}

func (p *connectedPackets) SetWriteBuffer(bytes int) error {
	if udp, ok := p.raw.(*net.UDPConn); ok {
		return udp.SetWriteBuffer(bytes)
	}
	return nil
}

// WriteTo writes to the one client, ignoring the address. It drops a datagram that exceeds the flow's rate
// limit, as a queue would.
func (p *connectedPackets) WriteTo(b []byte, _ net.Addr) (int, error) {
	if !p.pace.allows(len(b)) {
		return len(b), nil
	}
	return p.Conn.Write(b)
}

// pacer limits the rate of datagrams, with bursts of what the rate allows in burstNs; the kernel paces TCP
// sockets. The zero value has no limit.
type pacer struct {
	nsPerByte float64

	mu   sync.Mutex
	free float64 // when the datagrams sent so far will have used up the rate
}

const burstNs = 10e6

func pacerOf(rate unit.BitRate) pacer {
	if rate <= 0 {
		return pacer{}
	}
	return pacer{nsPerByte: 8e9 / float64(rate)}
}

func (p *pacer) allows(bytes int) bool {
	if p.nsPerByte == 0 {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := float64(sched.Now())
	if p.free = max(p.free, now); p.free-now > burstNs {
		return false
	}
	p.free += float64(bytes) * p.nsPerByte
	return true
}
