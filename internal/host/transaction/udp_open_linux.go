package transaction

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"linerate/internal/host/handshake"
	"linerate/internal/host/socket"
	"linerate/internal/kernel/sock"
	"linerate/internal/model/message"
)

// Over UDP a connection is a socket at each end that is connected to the other. Both
// come about by a handshake each.

// maxHandshakes is how many sockets are in the making at a time.
const maxHandshakes = 64

// openUDP opens the asking end's sockets: the first, then the others, many at a time.
func (f *flow) openUDP(ctx context.Context, timeout time.Duration, first func()) error {
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
func (f *flow) openUDPConn(ctx context.Context, i int, timeout time.Duration) error {
	order := f.order
	if n := int64(len(order.Ports)); n > 0 {
		order.Remote = netip.AddrPortFrom(order.Remote.Addr(), order.Ports[f.part.number(i, 0)%n])
	}
	conn, err := handshake.Dial(ctx, order, timeout, f.setOptions)
	if err != nil {
		return err
	}
	fd, err := f.takeSocket(conn)
	if err != nil {
		return err
	}
	return f.addConn(i, int32(fd))
}

// setOptions gives a new socket what the order says.
func (f *flow) setOptions(fd int) error {
	if err := socket.Prepare(message.FlowRequest{
		Window: f.order.Window, Sends: f.order.Sends, SendBuffer: f.order.SendBuffer, ReceiveBuffer: f.order.ReceiveBuffer,
	}, fd); err != nil {
		return err
	}
	if f.isClient && f.order.Local.IsValid() {
		return socket.LeavePort(f.order, fd)
	}
	return nil
}

// takeSocket takes a socket over from package net, and settles it.
func (f *flow) takeSocket(conn *net.UDPConn) (int, error) {
	fd, err := takeOver(conn)
	if err != nil {
		return -1, err
	}
	if err = f.setSocketOptions(fd, false); err != nil {
		sock.CloseSocket(fd)
	}
	return fd, err
}

// listenUDP opens a door for the flow, on a port of its own, until the engine
// closes.
func (f *flow) listenUDP(ctx context.Context, address string) (netip.AddrPort, error) {
	door, err := handshake.Listen(ctx, address)
	if err != nil {
		return netip.AddrPort{}, err
	}
	context.AfterFunc(f.engine.books.Context(), door.Close)
	f.mu.Lock()
	f.listens = door.Addr()
	f.mu.Unlock()
	guests := handshake.Handler{Expects: f.expects, Accept: func(_ message.Cookie, c handshake.Client) { f.acceptClient(c) }}
	if !f.engine.books.Work(func() { door.Serve(guests) }) {
		return netip.AddrPort{}, errors.New(socket.EngineClosed)
	}
	return door.Addr(), nil
}

// Expects says whether a flow over UDP waits for who has this cookie.
func (e *Engine) Expects(cookie message.Cookie) bool {
	return !cookie.IsZero() && slices.ContainsFunc(e.books.All(), func(f *flow) bool { return f.expects(cookie) })
}

// Admit takes a caller in who has shown a cookie at a door. False: no flow of this
// engine waits for him.
func (e *Engine) Admit(cookie message.Cookie, c handshake.Client) bool {
	ends := e.books.All()
	i := slices.IndexFunc(ends, func(f *flow) bool { return !cookie.IsZero() && f.expects(cookie) })
	return i >= 0 && ends[i].acceptClient(c)
}

// expects says whether the flow is one that waits for who has this cookie.
func (f *flow) expects(cookie message.Cookie) bool {
	if !f.udp || f.isClient || f.order.Cookie != cookie {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hasWorkers && !f.closed && f.failure == "" && f.arrived.Load() < int64(f.connections())
}

// acceptClient makes a socket for who has come. One who has not heard that it is there gets
// no other.
func (f *flow) acceptClient(c handshake.Client) bool {
	f.acceptMu.Lock()
	defer f.acceptMu.Unlock()
	f.mu.Lock()
	fd, known := f.clients[c.RemoteAddr()]
	f.mu.Unlock()
	switch {
	case known:
		f.resendReady(int(fd), nil)
		return true
	case !f.expects(f.order.Cookie):
		return false
	}
	conn, err := c.Dial(f.setOptions)
	socketOf := -1
	if err == nil {
		socketOf, err = f.takeSocket(conn)
	}
	if err != nil {
		f.fail("%s ← %s: %s", c.LocalAddr(), c.RemoteAddr(), socket.Reason(err, c.RemoteAddr().Addr()))
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

// resendReady says that a socket is ready to a caller who has not heard it: whose datagram,
// if there is one, asks for it.
func (f *flow) resendReady(fd int, datagram []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	ready := f.ready[int32(fd)]
	if f.closed || ready == nil || datagram != nil && !ready.IsRequestedBy(datagram) {
		return
	}
	_, _ = sock.TrySend(fd, ready, false) // lost: he asks again
}
