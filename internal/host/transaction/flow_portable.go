//go:build !linux || portable

package transaction

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"runtime"
	"sync"
	"syscall"
	"time"

	"linerate/internal/bus"
	"linerate/internal/host/flowset"
	"linerate/internal/host/socket"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/message"
	"linerate/internal/model/unit"
	"linerate/internal/science/stats"
)

// This engine only uses package net. Each connection has a goroutine.

// RunWorker returns an error: all connections are in one process.
func RunWorker(io.Reader, io.Writer) error { return errors.New("worker processes need Linux") }

// sockets has all connections of a flow by their descriptors.
type sockets struct{ conns map[int32]net.Conn }

func (s *sockets) init() { s.conns = map[int32]net.Conn{} }

// worker makes the transactions of all connections of a flow.
type worker struct {
	counts
	f     *rrFlow
	conns []conn // of a requester
	rate  limiter
	spin  sched.Spin

	mu      sync.Mutex
	latency *stats.Counting // of transactions that completed in the window
}

// Processes returns 1: all connections are in this process.
func Processes(message.FlowRequest) int { return 1 }

func (e *Engine) newEnd(request message.FlowRequest) end { return newFlow(e, request) }

// OfferSocket accepts no connections.
func (e *Engine) OfferSocket(message.Cookie, int, int) (taken, more bool) { return false, false }

// ProcessesCPU returns 0: there are no worker processes.
func (e *Engine) ProcessesCPU() int64 { return 0 }

func (f *rrFlow) waits() string { return "" }

func (f *rrFlow) makeWorkers() error {
	o := f.Request
	if o.Threads > 1 || f.polls || f.follows {
		return bus.Coded(message.Unsupported,
			fmt.Errorf("threads, poll and follow need Linux at both ends, and this one runs %s", runtime.GOOS))
	}
	w := &worker{f: f, latency: stats.NewCounting()}
	bytes := responseBytes(o)
	if f.isClient {
		bytes, w.conns = requestBytes(o), make([]conn, f.connections())
	}
	w.rate.set(o.RateCap*unit.BitRate(f.connections()), bytes)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return flowset.ErrClosed
	}
	f.workers, f.hasWorkers = []*worker{w}, true
	return nil
}

func (f *rrFlow) listenTCP(l *net.TCPListener) (*flowset.Listener, error) {
	return &flowset.Listener{Addr: socket.AddrPort(l.Addr()), Serve: func() { f.accept(l) }, Close: func() {
		l.Close()
	}}, nil
}

// accept accepts the flow's connections; for crr, until the engine closes.
func (f *rrFlow) accept(l *net.TCPListener) {
	defer l.Close()
	for f.isCRR() || f.arrived.Load() < int64(f.connections()) {
		conn, err := l.AcceptTCP()
		if err != nil {
			if !errors.Is(err, net.ErrClosed) {
				f.Fail("accept at %s: %w", l.Addr(), socket.Reason(err, f.Request.Local))
			}
			return
		}
		if !f.isCRR() {
			f.arrived.Add(1)
		}
		f.accepted(conn)
	}
}

// acceptOffered responds to a connection that has sent the flow's cookie.
func (f *rrFlow) acceptOffered(conn *net.TCPConn) {
	if err := socket.PrepareConn(f.Request, conn); err != nil {
		f.Fail("a connection from %s: %w", conn.RemoteAddr(), socket.Reason(err, netip.Addr{}))
		socket.Reset(conn)
		return
	}
	f.accepted(conn)
}

// accepted responds to a new TCP connection.
func (f *rrFlow) accepted(conn *net.TCPConn) {
	fd, err := f.take(conn)
	switch {
	case err != nil: // the engine closes, or too many are open: it is closed
	case f.isCRR():
		if f.active.Load() == 0 {
			f.noteConn(ends(conn))
		}
		f.engine.Go(func() {
			f.workers[0].respond(conn)
			f.release(fd)
		})
	default:
		f.assign(fd)
	}
}

// take adds a connection to the flow until Close or release. The descriptor identifies it. On error
// the connection is closed.
func (f *rrFlow) take(conn interface {
	net.Conn
	syscall.Conn
}) (fd int, err error) {
	err = socket.WithConn(conn, func(number int) error { fd = number; return nil })
	if tcp, ok := conn.(*net.TCPConn); ok && err == nil {
		err = tcp.SetNoDelay(f.Request.NoDelay == nil || *f.Request.NoDelay)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case err != nil:
	case f.closed:
		err = flowset.ErrClosed
	case len(f.conns) >= f.connections()+maxPending:
		err = errors.New("too many connections at a time")
	}
	if err != nil {
		reset(conn)
		return -1, err
	}
	f.conns[int32(fd)] = conn
	if f.isCRR() {
		f.workers[0].opened.Add(1)
	}
	return fd, nil
}

func (f *rrFlow) takeSocket(conn *net.UDPConn) (int, error) { return f.take(conn) }

// maxPending is the number of connections that may be open in addition to those of the flow.
const maxPending = 1024

// release closes the connection of a transaction that has ended.
func (f *rrFlow) release(fd int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if conn := f.conns[int32(fd)]; conn != nil {
		delete(f.conns, int32(fd))
		conn.Close()
		f.workers[0].closed.Add(1)
	}
}

// reset closes a connection, with RST over TCP.
func reset(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = socket.ResetOnClose(tcp)
	}
	conn.Close()
}

// register makes a connection that was taken a permanent one. Nil: the engine has closed it.
func (f *rrFlow) register(fd int) net.Conn {
	f.mu.Lock()
	defer f.mu.Unlock()
	conn := f.conns[int32(fd)]
	if conn == nil {
		return nil
	}
	if len(f.fds) == 0 {
		local, remote := ends(conn)
		f.Open(local, remote, nil)
	}
	f.fds = append(f.fds, int32(fd))
	f.active.Add(1)
	return conn
}

// assign starts to answer the requests of an accepted connection.
func (f *rrFlow) assign(fd int) {
	conn := f.register(fd)
	switch {
	case conn == nil:
	case f.udp:
		f.engine.Go(func() { f.workers[0].respondUDP(conn, fd) })
	default:
		f.engine.Go(func() { f.workers[0].respond(conn) })
	}
}

// addConn makes an open connection the i-th connection of the requester.
func (f *rrFlow) addConn(i int, fd int32) error {
	conn := f.register(int(fd))
	if conn == nil {
		return flowset.ErrClosed
	}
	f.workers[0].conns[i].Conn, f.workers[0].conns[i].fd = conn, fd
	f.arrived.Add(1)
	return nil
}

// trySend sends a datagram. The caller must hold mu.
func (f *rrFlow) trySend(fd int, datagram []byte) {
	if conn := f.conns[int32(fd)]; conn != nil {
		_, _ = conn.Write(datagram)
	}
}

// dial opens the i-th TCP connection.
func (f *rrFlow) dial(ctx context.Context, i int, timeout time.Duration) (conn *net.TCPConn, fd int, err error) {
	request := f.Request
	request.Remote = f.remote(i)
	if conn, err = socket.Dial(ctx, request, timeout); err != nil {
		return nil, -1, err
	}
	fd, err = f.take(conn)
	return conn, fd, err
}

// openTCP opens the flow's connections. For crr it makes one transaction.
func (f *rrFlow) openTCP(ctx context.Context, timeout time.Duration, first func()) error {
	if f.isCRR() {
		return f.probe(ctx, timeout)
	}
	return f.openEach(ctx, first, func(ctx context.Context, i int) error {
		conn, fd, err := f.dial(ctx, i, timeout)
		if err == nil { // the first bytes of a connection always have room
			_, err = conn.Write(f.cookie)
		}
		if err != nil {
			return err // open connections are closed with the engine
		}
		return f.addConn(i, int32(fd))
	})
}

func (*rrFlow) note() string { return "" }

// Busy returns the elapsed time: no goroutine used more CPU time than that.
func (f *rrFlow) Busy() []int64 { return []int64{sched.Now()} }

// Close closes every connection, which ends their goroutines.
func (f *rrFlow) Close() {
	f.State.Close()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for _, conn := range f.conns {
		reset(conn)
	}
	clear(f.conns)
}
