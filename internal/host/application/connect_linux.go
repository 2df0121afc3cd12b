//go:build !portable

package application

import (
	"context"
	"net"
	"os"
	"syscall"
	"time"

	"linerate/internal/bus/greeting"
	"linerate/internal/host/caused"
	"linerate/internal/host/socket"
	"linerate/internal/kernel/sched"
	"linerate/internal/kernel/sock"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
)

// address finds where connections over TCP come from and go to.
func (l *loop) address() (err error) {
	request := l.f.Request
	if l.awaits {
		return nil
	}
	if !request.Cookie.IsZero() {
		l.cookie = greeting.CookieFrame(request.Cookie)
	}
	if l.from, err = socket.Source(request); err == nil && !l.f.named() {
		l.to, err = sock.PeerAt(request.Remote)
	}
	return err
}

// adopt takes over the connection that the session has opened.
func (l *loop) adopt(c *client) {
	if conn, uses, is := c.s.shared.Detach(); is {
		if err := l.takeOver(c, conn); err != nil {
			l.f.Fail("%w", err)
			return
		}
		c.uses = uses
	}
	l.ready(c)
}

// takeOver makes an open connection of a session that of a client.
func (l *loop) takeOver(c *client, conn *codedConn) error {
	fd, err := conn.detach()
	if err != nil {
		return err
	}
	l.give(c, fd)
	if c.wire = conn.wire; c.wire != nil {
		c.wire.inLoop = true
	}
	if !l.datagrams {
		if err := sock.SetLingerZero(fd); err != nil { // see disconnect
			return err
		}
	}
	return l.watch(c)
}

// detach returns the connection's descriptor, which the caller closes, and forgets the connection.
func (c *Conn) detach() (fd int, err error) {
	c.closing.Store(true)
	c.f.mu.Lock()
	delete(c.f.conns, c)
	c.f.mu.Unlock()
	fd, err = socket.TakeOver(c.Conn.(interface {
		net.Conn
		syscall.Conn
	}))
	if err != nil {
		c.f.counts.closed.Add(1)
	}
	return fd, err
}

// give makes a new socket the connection of a client that has none.
func (l *loop) give(c *client, fd int) {
	l.mu.Lock()
	c.fd = fd
	l.mu.Unlock()
	c.parser, c.began, c.heard, c.resent = l.codec.Parser(), l.now, l.now, 0
	l.established.Add(1)
}

// watch adds a client's connection to the epoll.
func (l *loop) watch(c *client) error {
	if l.datagrams { // each datagram that leaves would be an event
		return l.epoll.AddRead(c.fd, c.index)
	}
	return l.epoll.Add(c.fd, c.index)
}

// open opens a connection for a client's unanswered requests, or lets a goroutine do what may have to wait before that.
func (l *loop) open(c *client) {
	if l.to != nil {
		l.connect(c, l.to)
		return
	}
	c.opening = true
	s, index, timeout := c.s, c.index, l.f.timeout()
	l.f.engine.Go(func() {
		ctx, cancel := context.WithTimeout(l.f.engine.Context(), timeout)
		defer cancel()
		o := opened{client: index}
		if l.awaits {
			o.conn, o.err = s.open(ctx, &o.x)
		} else {
			var request message.FlowRequest
			if request, o.err = s.d.lookUp(ctx, &o.x); o.err == nil {
				o.to, o.err = sock.PeerAt(request.Remote)
			}
		}
		if o.err != nil && ctx.Err() != nil {
			o.err = ctx.Err()
		}
		l.mu.Lock()
		l.opened = append(l.opened, o)
		l.mu.Unlock()
		l.wakeup.Signal()
	})
}

// install uses what goroutines have found or opened.
func (l *loop) install() {
	l.mu.Lock()
	all := l.opened
	l.opened = nil
	l.mu.Unlock()
	for _, o := range all {
		c := &l.clients[o.client]
		c.opening = false
		if call := c.pending.Oldest(); call != nil {
			for p, ns := range o.x.phases {
				call.x.phases[p] += ns
			}
			call.x.synSent = o.x.synSent
		}
		switch {
		case o.err != nil:
			l.fail(c, o.err)
			continue
		case o.conn == nil:
			l.connect(c, o.to)
			continue
		}
		if err := l.takeOver(c, o.conn); err != nil {
			l.fail(c, err)
			continue
		}
		l.flush(c)
		l.ready(c)
	}
}

// connect begins a connection over TCP. On a short path it is open at once.
func (l *loop) connect(c *client, to *sock.Peer) {
	l.now = sched.Now()
	fd, err := socket.Stream(l.f.Request, l.from, to)
	if err != nil {
		l.fail(c, err)
		return
	}
	l.give(c, fd)
	c.connecting = true
	l.f.counts.opened.Add(1)
	caused.Add(caused.Reset) // see disconnect
	err = sock.SetLingerZero(fd)
	if err == nil && !l.singly() {
		err = sock.SetNoDelay(fd, l.f.Request.NoDelay == nil || *l.f.Request.NoDelay)
	}
	if err == nil {
		switch err = to.Connect(fd); err {
		case nil:
			l.connected(c)
			if c.fd >= 0 {
				err = l.watch(c)
			}
		case syscall.EINPROGRESS:
			err = l.watch(c)
		default:
			err = os.NewSyscallError("connect", err)
		}
	}
	if err != nil {
		l.fail(c, err)
	}
}

// singly reports whether each connection has one request, in one segment, so that no data waits for other data.
func (l *loop) singly() bool {
	return l.f.Request.PerConnection == 1 && l.codec.Payload() == 0 && l.cookie == nil
}

// connected notes that the connection of a client is open, and sends what waits for that.
func (l *loop) connected(c *client) {
	c.connecting = false
	now := sched.Now()
	if call := c.pending.Oldest(); call != nil {
		call.x.Took(record.PhaseConnect, now-c.began)
		if now-c.began >= int64(leastSYNTimeout) {
			c.resent = l.retransmitted(c)
			call.x.synSent = c.resent
		}
	}
	if l.cookie != nil {
		if _, err := sock.TrySend(c.fd, l.cookie, len(c.unsent) > 0); err != nil {
			l.fail(c, err)
			return
		}
	}
	l.flush(c)
}

// leastSYNTimeout is less than any time after which the kernel sends a SYN again.
const leastSYNTimeout = 20 * time.Millisecond

// retransmitted returns how many segments, SYNs included, a client's connection has sent again; 0 over UDP.
func (l *loop) retransmitted(c *client) int64 {
	if l.datagrams || c.fd < 0 {
		return 0
	}
	info, _ := sock.TCPInfo(c.fd) // zero if the kernel does not report it
	return int64(info.TotalRetrans)
}

// resent records in x how many segments the connection has sent again since the latest reading.
func (l *loop) resent(c *client, x *Exchange) {
	now := l.retransmitted(c)
	x.resent += max(0, now-c.resent)
	c.resent = now
}

// settle closes a connection that has ended its use. Requests that the server has not begun (RFC 9112, section 9.3.2)
// are made again on the next one.
func (l *loop) settle(c *client) {
	if c.fd < 0 || !c.retired || len(c.pending.queue) > 0 && !c.over {
		return
	}
	l.disconnect(c)
	for _, call := range c.pending.queue {
		call.sent, call.first = 0, 0
		c.unsent = append(c.unsent, call)
	}
	if c.uses = len(c.unsent); c.uses > 0 {
		c.retired = c.uses == l.f.Request.PerConnection
		l.open(c)
	}
}

// disconnect closes a client's connection, if it has one: over TCP with RST, so that nothing is left in TIME_WAIT.
func (l *loop) disconnect(c *client) {
	if c.fd < 0 {
		return
	}
	l.mu.Lock()
	sock.CloseSocket(c.fd) // which removes it from the epoll
	c.fd = -1
	l.mu.Unlock()
	l.f.counts.closed.Add(1)
	l.established.Add(-1)
	c.segment, c.connecting, c.retired, c.over, c.uses = 0, false, false, false, 0
	c.unsent, c.out, c.body, c.wire = c.unsent[:0], nil, 0, nil
}

// info returns the kernel's data of the only connection of the flow; false if there are or were others.
func (l *loop) info(out *message.FlowEnd) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.clients) != 1 || l.datagrams || l.clients[0].fd < 0 {
		return false
	}
	fd := l.clients[0].fd
	info, err := sock.TCPInfo(fd)
	if err == nil {
		out.Info = &info
	}
	out.CongestionControl, _ = sock.CongestionControl(fd)
	return true
}
