package transaction

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"syscall"
	"time"

	"linerate/internal/bus"
	"linerate/internal/bus/greeting"
	"linerate/internal/host/flowset"
	"linerate/internal/host/socket"

	"linerate/internal/kernel/sock"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
)

// maxConnecting is how many connections are in the making at a time: enough that a long
// way costs little, and fewer than a listener's queue holds.
const maxConnecting = 256

// opener opens a flow's connections.
type opener struct {
	f       *rrFlow
	peers   []*sock.Peer // one for each port
	from    *sock.Peer   // nil: the kernel chooses
	waiting *sock.Epoll
	began   map[int32]int // the connection that a descriptor is to be
}

// connect opens a flow's connections and starts its threads. first is called when
// the first one is open.
func (f *rrFlow) connect(ctx context.Context, timeout time.Duration, out *message.Opened, first func()) {
	f.openConns(ctx, timeout, first)
	out.Local, _ = f.Addrs()
	out.Error = f.Status()
}

// openConns opens a flow's connections and lets its threads ask. first is called when
// the first one is open or has failed.
func (f *rrFlow) openConns(ctx context.Context, timeout time.Duration, first func()) {
	err := f.makeWorkers()
	var o *opener
	if err == nil {
		o, err = newOpener(f)
	}
	switch {
	case err != nil:
	case f.isCRR():
		o.waiting.Close()
		if err = f.probe(ctx, o, timeout); err == nil {
			f.opener = o
		}
	case f.udp:
		o.waiting.Close()
		err = f.openUDP(ctx, timeout, first)
	default:
		err = o.openAll(ctx, timeout, first)
		o.waiting.Close()
	}
	if err != nil {
		// No thread is there to notice that some have been reset meanwhile, and their
		// ports taken by others.
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

func newOpener(f *rrFlow) (*opener, error) {
	o := &opener{f: f, began: map[int32]int{}}
	ports := f.Request.Ports
	if len(ports) == 0 {
		ports = []uint16{f.Request.Remote.Port()}
	}
	for _, port := range ports {
		peer, err := sock.PeerAt(netip.AddrPortFrom(f.Request.Remote.Addr(), port))
		if err != nil {
			return nil, err
		}
		o.peers = append(o.peers, peer)
	}
	if local := f.Request.Local; local.IsValid() || f.Request.LocalPort != 0 {
		if f.Request.LocalPort != 0 && f.connections() > 1 {
			return nil, fmt.Errorf("%s from one port, %d: expected one", plural(f.connections(), "connection"), f.Request.LocalPort)
		}
		if !local.IsValid() {
			local = netip.IPv4Unspecified()
			if f.Request.Remote.Addr().Is6() {
				local = netip.IPv6Unspecified()
			}
		}
		from, err := sock.PeerAt(netip.AddrPortFrom(local, f.Request.LocalPort))
		if err != nil {
			return nil, err
		}
		o.from = from
	}
	if !f.Request.Cookie.IsZero() {
		f.cookie = greeting.CookieFrame(f.Request.Cookie)
	}
	waiting, err := sock.NewEpoll()
	o.waiting = waiting
	return o, err
}

// errNoSYNACK: a peer may be off, or a firewall drops what goes there.
var errNoSYNACK = bus.Coded(message.Deadline, errors.New("connection timed out: no answer to SYN"))

// openAll opens the first connection, and then the others, many at a time.
func (o *opener) openAll(ctx context.Context, timeout time.Duration, first func()) error {
	n := o.f.connections()
	defer func() {
		for fd := range o.began {
			sock.CloseSocket(int(fd))
		}
	}()
	latest := time.Now()
	open := 0
	opened := func() {
		open, latest = open+1, time.Now()
		first()
	}
	var failed error // why no more can be begun; those that have been come about all the same
	for next := 0; open < n; {
		for failed == nil && next < n && len(o.began) < maxConnecting && (open > 0 || next == 0) {
			at, err := o.start(next)
			if err != nil {
				failed = err
				break
			}
			next++
			if at {
				opened()
			}
		}
		switch {
		case len(o.began) > 0:
		case failed != nil:
			return failed
		default:
			continue
		}
		events := o.waiting.Wait(checkInterval)
		for i := range events {
			fd, _, _ := o.waiting.Event(i)
			if err := o.finish(fd); err != nil {
				return err
			}
			opened()
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case timeout > 0 && time.Since(latest) > timeout:
			return errNoSYNACK
		}
	}
	return nil
}

// start begins to open a connection. True: it is open already.
func (o *opener) start(i int) (bool, error) {
	peer := o.peer(i)
	fd, err := peer.Socket(false)
	if err != nil {
		return false, os.NewSyscallError("socket", err)
	}
	fail := func(err error) (bool, error) {
		sock.CloseSocket(fd)
		return false, err
	}
	if err := o.prepare(fd); err != nil {
		return fail(err)
	}
	switch err := peer.Connect(fd); err {
	case nil:
		o.began[int32(fd)] = i
		return true, o.finish(int32(fd))
	case syscall.EINPROGRESS:
	default:
		return fail(os.NewSyscallError("connect", err))
	}
	if err := o.waiting.Add(fd, int32(fd)); err != nil {
		return fail(err)
	}
	o.began[int32(fd)] = i
	return false, nil
}

// peer is where the i-th connection of this part goes: the flow's connections take
// the ports in turn.
func (o *opener) peer(i int) *sock.Peer {
	return o.peers[o.f.part.number(i, 0)%int64(len(o.peers))]
}

func (o *opener) prepare(fd int) error {
	if err := socket.Prepare(o.f.Request, fd); err != nil {
		return err
	}
	if err := o.f.setSocketOptions(fd, false); err != nil {
		return err
	}
	if o.from != nil {
		if err := o.from.Bind(fd); err != nil {
			return os.NewSyscallError("bind", err)
		}
	}
	return nil
}

// finish gives a connection that is open to its thread.
func (o *opener) finish(fd int32) error {
	i := o.began[fd]
	err := sock.SocketError(int(fd))
	if err == nil && o.f.cookie != nil {
		_, err = sock.TrySend(int(fd), o.f.cookie, false)
	}
	if err != nil {
		return os.NewSyscallError("connect", err)
	}
	o.waiting.Remove(int(fd))
	delete(o.began, fd)
	return o.f.addConn(i, fd)
}

// addConn gives the i-th connection, which is open, to its thread.
func (f *rrFlow) addConn(i int, fd int32) (err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, kept := f.register(int(fd)); !kept {
		return flowset.ErrClosed
	}
	w := f.workers[i%len(f.workers)]
	place := i / len(f.workers)
	w.conns[place].fd = fd
	if w.epoll == nil {
		err = sock.SetBlocking(int(fd), true)
	} else {
		err = f.watch(w, int(fd), int32(place))
	}
	f.arrived.Add(1)
	f.active.Add(1)
	return err
}

// established is how many of the connections that have been opened still are.
func (f *rrFlow) established() (n int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, fd := range f.fds {
		if info, err := sock.TCPInfo(int(fd)); err == nil && info.State == record.TCPEstablished {
			n++
		}
	}
	return n
}

// openError says why a flow's connections could not be opened, some of which are from
// local.
func (f *rrFlow) openError(timeout time.Duration, local netip.Addr, err error) error {
	o := f.Request
	if ports := socket.PortsExhausted(o, local, int(f.active.Load()), err); ports != nil {
		return ports
	}
	switch {
	case f.udp && errors.Is(err, syscall.EAGAIN): // of bind(2) without a port, udp(7)
		err = bus.Coded(message.Exhausted, fmt.Errorf("connect %s → %s: no port is left (EAGAIN): a socket over UDP needs one of "+
			"net.ipv4.ip_local_port_range for itself, wherever it sends to", socket.AddrName(o.Local), o.Remote))
	case f.udp:
		err = fmt.Errorf("connect %s → %s: %w", socket.AddrName(o.Local), o.Remote, socket.Reason(err, o.Remote.Addr()))
	case errors.Is(err, errNoSYNACK):
		err = fmt.Errorf("connect %s → %s: %w within %v", socket.AddrName(o.Local), o.Remote, err, timeout)
	default:
		err = socket.ConnectError(o.Local, o.Remote, timeout, err)
	}
	if n := f.connections(); n > 1 {
		err = fmt.Errorf("%w (%d of %d connections were open by then)", err, f.active.Load(), n)
	}
	return err
}
