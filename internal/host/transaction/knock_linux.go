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
	"linerate/internal/model/record"
)

// Over UDP a connection is a socket at each end that is connected to the other. Both
// come about by a handshake each.

// knocking is how many sockets are in the making at a time.
const knocking = 64

// knock opens the asking end's sockets: the first, then the others, many at a time.
func (f *end) knock(ctx context.Context, timeout time.Duration, first func()) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if err := f.meet(ctx, 0, timeout); err != nil {
		return err
	}
	first()
	var meeting sync.WaitGroup
	places := make(chan struct{}, knocking)
	for i := 1; i < f.connections() && ctx.Err() == nil; i++ {
		places <- struct{}{}
		meeting.Go(func() {
			defer func() { <-places }()
			if err := f.meet(ctx, i, timeout); err != nil {
				cancel(err)
			}
		})
	}
	meeting.Wait()
	return context.Cause(ctx)
}

// meet opens the i-th socket.
func (f *end) meet(ctx context.Context, i int, timeout time.Duration) error {
	order := f.order
	if n := int64(len(order.Ports)); n > 0 {
		order.Remote = netip.AddrPortFrom(order.Remote.Addr(), order.Ports[f.part.number(i, 0)%n])
	}
	conn, err := handshake.Open(ctx, order, timeout, f.furnish)
	if err != nil {
		return err
	}
	fd, err := f.own(conn)
	if err != nil {
		return err
	}
	return f.employ(i, int32(fd))
}

// furnish gives a new socket what the order says.
func (f *end) furnish(fd int) error {
	if err := socket.Prepare(record.FlowRequest{
		Window: f.order.Window, Sends: f.order.Sends, SendBuffer: f.order.SendBuffer, ReceiveBuffer: f.order.ReceiveBuffer,
	}, fd); err != nil {
		return err
	}
	if f.asks && f.order.Local.IsValid() {
		return socket.LeavePort(f.order, fd)
	}
	return nil
}

// own takes a socket over from package net, and settles it.
func (f *end) own(conn *net.UDPConn) (int, error) {
	fd, err := takeOver(conn)
	if err != nil {
		return -1, err
	}
	if err = f.settle(fd, false); err != nil {
		sock.CloseSocket(fd)
	}
	return fd, err
}

// receive opens a door for the flow, on a port of its own, until the engine
// closes.
func (f *end) receive(ctx context.Context, address string) (netip.AddrPort, error) {
	door, err := handshake.OpenDoor(ctx, address)
	if err != nil {
		return netip.AddrPort{}, err
	}
	context.AfterFunc(f.engine.books.Context(), door.Close)
	f.mu.Lock()
	f.listens = door.At()
	f.mu.Unlock()
	guests := handshake.Guests{Expects: f.expects, Admit: func(_ record.Cookie, c handshake.Caller) { f.admit(c) }}
	if !f.engine.books.Work(func() { door.Serve(guests) }) {
		return netip.AddrPort{}, errors.New(socket.EngineClosed)
	}
	return door.At(), nil
}

// Expects says whether a flow over UDP waits for who has this ticket.
func (e *Engine) Expects(ticket record.Cookie) bool {
	return !ticket.IsZero() && slices.ContainsFunc(e.books.All(), func(f *end) bool { return f.expects(ticket) })
}

// Admit takes a caller in who has shown a ticket at a door. False: no flow of this
// engine waits for him.
func (e *Engine) Admit(ticket record.Cookie, c handshake.Caller) bool {
	ends := e.books.All()
	i := slices.IndexFunc(ends, func(f *end) bool { return !ticket.IsZero() && f.expects(ticket) })
	return i >= 0 && ends[i].admit(c)
}

// expects says whether the flow is one that waits for who has this ticket.
func (f *end) expects(ticket record.Cookie) bool {
	if !f.udp || f.asks || f.order.Cookie != ticket {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.equipped && !f.ended && f.failure == "" && f.came.Load() < int64(f.connections())
}

// admit makes a socket for who has come. One who has not heard that it is there gets
// no other.
func (f *end) admit(c handshake.Caller) bool {
	f.admission.Lock()
	defer f.admission.Unlock()
	f.mu.Lock()
	fd, known := f.callers[c.From()]
	f.mu.Unlock()
	switch {
	case known:
		f.repeat(int(fd), nil)
		return true
	case !f.expects(f.order.Cookie):
		return false
	}
	conn, err := c.Meet(f.furnish)
	socketOf := -1
	if err == nil {
		socketOf, err = f.own(conn)
	}
	if err != nil {
		f.fail("%s ← %s: %s", c.Door(), c.From(), socket.Why(err, c.From().Addr()))
		return true
	}
	f.mu.Lock()
	if f.callers == nil {
		f.callers, f.ready = map[netip.AddrPort]int32{}, map[int32]handshake.Ready{}
	}
	f.callers[c.From()], f.ready[int32(socketOf)] = int32(socketOf), c.Ready()
	f.mu.Unlock()
	f.came.Add(1)
	f.seat(socketOf)
	f.repeat(socketOf, nil)
	return true
}

// repeat says that a socket is ready to a caller who has not heard it: whose datagram,
// if there is one, asks for it.
func (f *end) repeat(fd int, datagram []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	ready := f.ready[int32(fd)]
	if f.ended || ready == nil || datagram != nil && !ready.Answers(datagram) {
		return
	}
	_, _ = sock.TrySend(fd, ready, false) // lost: he asks again
}
