//go:build !portable

package transaction

import (
	"context"
	"net/netip"
	"os"
	"syscall"
	"time"

	"linerate/internal/host/flowset"
	"linerate/internal/host/socket"

	"linerate/internal/kernel/sock"
)

// maxConnecting is the number of connections that are opened concurrently: enough to keep a long
// path busy, and fewer than a listener's queue holds.
const maxConnecting = 256

// opener opens the connections of a flow.
type opener struct {
	f       *rrFlow
	peers   []*sock.Peer // one for each port
	from    *sock.Peer   // nil: the kernel selects the source
	waiting *sock.Epoll
	began   map[int32]int // the index of the connection for each descriptor
}

// openTCP opens the flow's connections. For crr it makes one transaction.
func (f *rrFlow) openTCP(ctx context.Context, timeout time.Duration, first func()) (err error) {
	if f.opener, err = newOpener(f); err != nil {
		return err
	}
	defer f.opener.waiting.Close()
	if f.isCRR() {
		return f.probe(ctx, timeout)
	}
	return f.opener.openAll(ctx, timeout, first)
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
	var err error
	if o.from, err = socket.Source(f.Request); err != nil {
		return nil, err
	}
	o.waiting, err = sock.NewEpoll()
	return o, err
}

// openAll opens the first connection and then the others, many concurrently.
func (o *opener) openAll(ctx context.Context, timeout time.Duration, first func()) error {
	n := o.f.connections()
	defer func() {
		for fd := range o.began {
			sock.CloseSocket(int(fd))
		}
	}()
	latest := time.Now()
	var failed error // no further ones are started; those in progress may still open
	for next, open := 0, 0; open < n; {
		for failed == nil && next < n && len(o.began) < maxConnecting && (open > 0 || next == 0) {
			if failed = o.start(next); failed == nil {
				next++
			}
		}
		if failed != nil && len(o.began) == 0 {
			return failed
		}
		for i := range o.waiting.Wait(checkInterval) {
			fd, _, _ := o.waiting.Event(i)
			if err := o.finish(fd); err != nil {
				return err
			}
			open, latest = open+1, time.Now()
			first()
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

// start starts to open a connection.
func (o *opener) start(i int) error {
	peer := o.peer(i)
	fd, err := o.socket(peer)
	if err != nil {
		return err
	}
	if err = peer.Connect(fd); err == nil || err == syscall.EINPROGRESS {
		err = o.waiting.Add(fd, int32(fd))
	} else {
		err = os.NewSyscallError("connect", err)
	}
	if err != nil {
		sock.CloseSocket(fd)
		return err
	}
	o.began[int32(fd)] = i
	return nil
}

// peer returns the destination of the i-th connection of this part. The connections of the flow use
// the ports in turn.
func (o *opener) peer(i int) *sock.Peer {
	return o.peers[o.f.part.number(i, 0)%int64(len(o.peers))]
}

// socket returns a socket for a connection to a peer.
func (o *opener) socket(to *sock.Peer) (int, error) {
	fd, err := socket.Stream(o.f.Request, o.from, to)
	if err != nil {
		return -1, err
	}
	if err := o.f.setSocketOptions(fd); err != nil {
		sock.CloseSocket(fd)
		return -1, err
	}
	return fd, nil
}

// finish assigns a connection that has opened to its thread.
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

// addConn assigns the i-th connection, which is open, to its thread.
func (f *rrFlow) addConn(i int, fd int32) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, kept := f.register(int(fd)); !kept {
		return flowset.ErrClosed
	}
	w := f.workers[i%len(f.workers)]
	place := i / len(f.workers)
	w.conns[place].fd = fd
	f.arrived.Add(1)
	f.active.Add(1)
	return f.watch(w, int(fd), int32(place))
}
