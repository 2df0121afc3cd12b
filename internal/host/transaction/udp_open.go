package transaction

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"linerate/internal/host/flowset"
	"linerate/internal/host/handshake"
	"linerate/internal/host/socket"
	"linerate/internal/model/message"
)

// Over UDP a connection is a pair of sockets that are connected to each other. A handshake creates
// them.

// maxHandshakes is the number of connections that openEach opens concurrently.
const maxHandshakes = 64

// openEach opens the flow's connections with open: first one, then the others, many concurrently.
// It returns the first error.
func (f *rrFlow) openEach(ctx context.Context, first func(), open func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if err := open(ctx, 0); err != nil {
		return err
	}
	first()
	var pending sync.WaitGroup
	places := make(chan struct{}, maxHandshakes)
	for i := 1; i < f.connections() && ctx.Err() == nil; i++ {
		places <- struct{}{}
		pending.Go(func() {
			defer func() { <-places }()
			if err := open(ctx, i); err != nil {
				cancel(err)
			}
		})
	}
	pending.Wait()
	return context.Cause(ctx)
}

// remote returns the destination of the i-th connection of this part. The connections of the flow
// use the ports in turn.
func (f *rrFlow) remote(i int) netip.AddrPort {
	if n := int64(len(f.Request.Ports)); n > 0 {
		return netip.AddrPortFrom(f.Request.Remote.Addr(), f.Request.Ports[f.part.number(i, 0)%n])
	}
	return f.Request.Remote
}

// openUDP opens the i-th socket.
func (f *rrFlow) openUDP(ctx context.Context, i int, timeout time.Duration) error {
	request := f.Request
	request.Remote = f.remote(i)
	conn, err := handshake.Dial(ctx, request, timeout)
	if err != nil {
		return err
	}
	fd, err := f.takeSocket(conn)
	if err != nil {
		return err
	}
	return f.addConn(i, int32(fd))
}

// listenUDP opens the flow's own listener, until the engine closes.
func (f *rrFlow) listenUDP(ctx context.Context) (*flowset.Listener, error) {
	l, err := handshake.Listen(ctx, socket.ListenAddress(f.Request))
	if err != nil {
		return nil, err
	}
	handler := handshake.Handler{Allowed: f.engine.access.Allows, Expects: f.Expects,
		Accept: func(_ message.Cookie, c handshake.Client) { f.acceptClient(c) }}
	return &flowset.Listener{Addr: l.Addr(), Serve: func() { l.Serve(handler) }, Close: l.Close}, nil
}

// acceptClient creates a socket for a client. A client that has missed the ready frame gets it
// again, and no second socket.
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
	var accepted int
	conn, err := c.Dial(f.Request)
	if err == nil {
		accepted, err = f.takeSocket(conn)
	}
	if err != nil {
		f.Fail("%s ← %s: %w", c.LocalAddr(), c.RemoteAddr(), socket.Reason(err, c.RemoteAddr().Addr()))
		return true
	}
	f.mu.Lock()
	if f.clients == nil {
		f.clients, f.ready = map[netip.AddrPort]int32{}, map[int32]handshake.Ready{}
	}
	f.clients[c.RemoteAddr()], f.ready[int32(accepted)] = int32(accepted), c.Ready()
	f.mu.Unlock()
	f.arrived.Add(1)
	f.assign(accepted)
	f.resendReady(accepted, nil)
	return true
}

// resendReady repeats the ready frame to a client that has missed it. If there is a datagram, only
// to the client that requests it with that datagram.
func (f *rrFlow) resendReady(fd int, datagram []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	ready := f.ready[int32(fd)]
	if f.closed || ready == nil || datagram != nil && !ready.IsRequestedBy(datagram) {
		return
	}
	f.trySend(fd, ready) // if it is lost, the client asks again
}
