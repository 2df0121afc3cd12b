package transaction

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"time"

	"linerate/internal/host/flowset"
	"linerate/internal/host/handshake"
	"linerate/internal/host/socket"
	"linerate/internal/model/message"

	"linerate/internal/kernel/sock"
)

// Over UDP a connection is a socket at each end that is connected to the other. Both
// come about by a handshake each.

// maxHandshakes is how many sockets are in the making at a time.
const maxHandshakes = 64

// openUDP opens the asking end's sockets: the first, then the others, many at a time.
func (f *rrFlow) openUDP(ctx context.Context, timeout time.Duration, first func()) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if err := f.openUDPConn(ctx, 0, timeout); err != nil {
		return err
	}
	first()
	var meeting sync.WaitGroup
	places := make(chan struct{}, maxHandshakes)
	for i := 1; i < f.connections() && ctx.Err() == nil; i++ {
		places <- struct{}{}
		meeting.Go(func() {
			defer func() { <-places }()
			if err := f.openUDPConn(ctx, i, timeout); err != nil {
				cancel(err)
			}
		})
	}
	meeting.Wait()
	return context.Cause(ctx)
}

// openUDPConn opens the i-th socket.
func (f *rrFlow) openUDPConn(ctx context.Context, i int, timeout time.Duration) error {
	order := f.Request
	if n := int64(len(order.Ports)); n > 0 {
		order.Remote = netip.AddrPortFrom(order.Remote.Addr(), order.Ports[f.part.number(i, 0)%n])
	}
	conn, err := handshake.Dial(ctx, order, timeout)
	if err != nil {
		return err
	}
	fd, err := f.takeSocket(conn)
	if err != nil {
		return err
	}
	return f.addConn(i, int32(fd))
}

// takeSocket takes a socket over from package net, and settles it.
func (f *rrFlow) takeSocket(conn *net.UDPConn) (int, error) {
	fd, err := takeOver(conn)
	if err != nil {
		return -1, err
	}
	if err = f.setSocketOptions(fd, false); err != nil {
		sock.CloseSocket(fd)
	}
	return fd, err
}

// listenUDP opens a listener for the flow, on a port of its own, until the engine
// closes.
func (f *rrFlow) listenUDP(ctx context.Context, address string) (netip.AddrPort, error) {
	door, err := handshake.Listen(ctx, address)
	if err != nil {
		return netip.AddrPort{}, err
	}
	context.AfterFunc(f.engine.Context(), door.Close)
	f.mu.Lock()
	f.listens = door.Addr()
	f.mu.Unlock()
	guests := handshake.Handler{Expects: f.Expects, Accept: func(_ message.Cookie, c handshake.Client) { f.acceptClient(c) }}
	if !f.engine.Go(func() { door.Serve(guests) }) {
		return netip.AddrPort{}, flowset.ErrClosed
	}
	return door.Addr(), nil
}

// Admit accepts a client that has shown a cookie at a shared listener. False: no
// flow of this engine awaits it.
func (e *Engine) Admit(cookie message.Cookie, c handshake.Client) bool {
	if cookie.IsZero() {
		return false
	}
	for _, f := range e.All() {
		if f.Expects(cookie) {
			return f.(*rrFlow).acceptClient(c)
		}
	}
	return false
}

// acceptClient makes a socket for a client. One that has missed the ready frame gets it
// again, and no other socket.
func (f *rrFlow) acceptClient(c handshake.Client) bool {
	f.acceptMu.Lock()
	defer f.acceptMu.Unlock()
	f.mu.Lock()
	fd, known := f.clients[c.RemoteAddr()]
	f.mu.Unlock()
	switch {
	case known:
		f.resendReady(int(fd), nil)
		return true
	case !f.Expects(f.Request.Cookie):
		return false
	}
	conn, err := c.Dial(f.Request)
	socketOf := -1
	if err == nil {
		socketOf, err = f.takeSocket(conn)
	}
	if err != nil {
		f.Fail("%s ← %s: %w", c.LocalAddr(), c.RemoteAddr(), socket.Reason(err, c.RemoteAddr().Addr()))
		return true
	}
	f.mu.Lock()
	if f.clients == nil {
		f.clients, f.ready = map[netip.AddrPort]int32{}, map[int32]handshake.Ready{}
	}
	f.clients[c.RemoteAddr()], f.ready[int32(socketOf)] = int32(socketOf), c.Ready()
	f.mu.Unlock()
	f.arrived.Add(1)
	f.assign(socketOf)
	f.resendReady(socketOf, nil)
	return true
}

// resendReady repeats the ready frame to a client that has missed it: whose datagram, if
// there is one, asks for it.
func (f *rrFlow) resendReady(fd int, datagram []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	ready := f.ready[int32(fd)]
	if f.closed || ready == nil || datagram != nil && !ready.IsRequestedBy(datagram) {
		return
	}
	_, _ = sock.TrySend(fd, ready, false) // lost: he asks again
}
