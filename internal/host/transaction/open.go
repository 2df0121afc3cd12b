package transaction

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"syscall"
	"time"

	"linerate/internal/bus"
	"linerate/internal/host/flowset"
	"linerate/internal/host/socket"
	"linerate/internal/kernel/sock"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
)

// listen starts the workers, and opens a socket unless connections arrive from a shared listener.
func (f *rrFlow) listen(ctx context.Context) (*flowset.Listener, error) {
	if err := f.makeWorkers(); err != nil || !f.Request.Cookie.IsZero() && !f.engine.isWorker {
		return nil, err
	}
	if f.udp {
		return f.listenUDP(ctx)
	}
	l, err := socket.Listen(ctx, f.Request)
	if err != nil {
		return nil, err
	}
	return f.listenTCP(l)
}

// connect opens the flow's connections and lets its workers send requests. It calls first when the
// first connection is open or has failed.
func (f *rrFlow) connect(ctx context.Context, timeout time.Duration, first func()) {
	err := f.makeWorkers()
	switch n := f.connections(); {
	case err != nil:
	case f.Request.LocalPort != 0 && n > 1:
		err = fmt.Errorf("%d connections from one port, %d: expected one", n, f.Request.LocalPort)
	case f.udp:
		err = f.openEach(ctx, first, func(ctx context.Context, i int) error { return f.openUDP(ctx, i, timeout) })
	default:
		err = f.openTCP(ctx, timeout, first)
	}
	if err != nil {
		// No thread has noticed whether some connections were reset meanwhile and their ports taken
		// by others.
		if !f.udp {
			f.active.Store(f.established())
		}
		local, _ := f.Addrs()
		f.Fail("%w", f.openError(timeout, local.Addr(), err))
		return
	}
	for _, w := range f.workers {
		if !f.engine.Go(w.runRequester) {
			f.Fail("%w", flowset.ErrClosed)
		}
	}
}

var (
	// errNoSYNACK: the peer may be off, or a firewall may drop packets to it.
	errNoSYNACK   = bus.Coded(message.Deadline, errors.New("connection timed out: no answer to SYN"))
	errNoResponse = errors.New("connected, but no answer to the first request")
	errClosed     = errors.New("the peer closed the connection instead of answering")
	errSurplus    = errors.New("more came than the response") // from a program that is not a linerate responder
)

// noteConn counts an accepted connection and records the addresses of the first one.
func (f *rrFlow) noteConn(local, remote netip.AddrPort) {
	f.arrived.Add(1)
	if f.active.Add(1) == 1 {
		f.Open(local, remote, nil)
	}
}

// established returns the number of opened connections that are still open. A connection whose
// state the kernel does not report counts as open.
func (f *rrFlow) established() (n int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, fd := range f.fds {
		if info, err := sock.TCPInfo(int(fd)); err != nil || info.State == netstate.TCPEstablished {
			n++
		}
	}
	return n
}

// openError returns why the flow's connections could not be opened. Local is the source address of
// some of them.
func (f *rrFlow) openError(timeout time.Duration, local netip.Addr, err error) error {
	o := f.Request
	if exhausted := socket.Exhausted(o, local, int(f.active.Load()), err); exhausted != nil {
		return exhausted
	}
	switch {
	case f.udp && errors.Is(err, syscall.EAGAIN): // from bind(2) without a port, udp(7)
		err = bus.Coded(message.Exhausted, fmt.Errorf("%s: no port is left (EAGAIN): a socket over UDP needs one of "+
			"net.ipv4.ip_local_port_range for itself, wherever it sends to", socket.Connecting(o.Local, o.Remote)))
	case f.udp:
		err = fmt.Errorf("%s: %w", socket.Connecting(o.Local, o.Remote), socket.Reason(err, o.Remote.Addr()))
	case errors.Is(err, errNoSYNACK):
		err = fmt.Errorf("%s: %w within %v", socket.Connecting(o.Local, o.Remote), err, timeout)
	default:
		err = socket.ConnectError(o.Local, o.Remote, timeout, err)
	}
	if n := f.connections(); n > 1 {
		err = fmt.Errorf("%w (%d of %d connections were open by then)", err, f.active.Load(), n)
	}
	return err
}

// isTransient reports whether sending a datagram failed for a reason that does not affect the next
// one. The datagram counts as lost.
func isTransient(err error) bool {
	errno, _ := errors.AsType[syscall.Errno](err)
	switch errno {
	case syscall.ENOBUFS, syscall.ENOMEM, syscall.EHOSTUNREACH, syscall.EHOSTDOWN, syscall.ENETUNREACH,
		syscall.ENETDOWN:
		return true
	}
	return false
}
