//go:build !portable

package application

import (
	"io"
	"slices"
	"syscall"

	"linerate/internal/host/socket"
	"linerate/internal/kernel/sched"
	"linerate/internal/kernel/sock"
)

// flush writes requests.
func (l *loop) flush(c *client) {
	switch {
	case c.fd < 0 || c.connecting:
	case l.datagrams:
		l.flushDatagrams(c)
	default:
		l.flushStream(c)
	}
}

func (l *loop) flushStream(c *client) {
	own := false // whether out is the loop's buffer
	for out := c.out; ; {
		switch {
		case len(out) > 0:
			n, err := l.send(c, out, c.body > 0)
			if l.blocked(c, err) {
				if own {
					out = slices.Clone(out)
				}
				if c.fd >= 0 {
					c.out = out
				}
				return
			}
			out = out[n:]
			if len(out) == 0 {
				c.out = nil
			}
		case c.body > 0:
			n, err := l.send(c, socket.Payload[:min(c.body, int64(len(socket.Payload)))], false)
			if l.blocked(c, err) {
				return
			}
			c.body -= int64(n)
		case len(c.unsent) == 0:
			if c.wire != nil {
				l.blocked(c, l.sendRest(c, false))
			}
			return
		default:
			most := len(c.unsent)
			if c.body = l.codec.Payload(); c.body > 0 {
				most = 1
			}
			out, own = l.encode(c, most), true
		}
	}
}

// encode takes the next requests and returns their bytes, which the next call overwrites.
func (l *loop) encode(c *client, most int) []byte {
	at := sched.Now()
	l.out = l.out[:0]
	for _, call := range c.unsent[:most] {
		call.sent = at
		l.out = l.codec.Append(l.out, call.Request)
	}
	c.unsent = slices.Delete(c.unsent, 0, most)
	return l.out
}

// send sends bytes of requests, by TLS if the connection has it, and returns how many it has taken. more says that
// others follow at once.
func (l *loop) send(c *client, b []byte, more bool) (n int, err error) {
	if c.wire == nil {
		n, err = sock.TrySend(c.fd, b, more)
		l.f.counts.written.Add(int64(n))
		return n, err
	}
	if err = l.sendRest(c, more); err != nil {
		return 0, err
	}
	return c.wire.tls.Write(b[:min(len(b), receiveBytes)])
}

// sendRest sends what TLS has made of requests.
func (l *loop) sendRest(c *client, more bool) error {
	for w := c.wire; len(w.out) > 0; {
		n, err := sock.TrySend(c.fd, w.out, more)
		if err != nil {
			return err
		}
		l.f.counts.written.Add(int64(n))
		w.out = w.out[:copy(w.out, w.out[n:])]
	}
	return nil
}

// blocked reports whether writing ends with an error: there is no room, or the connection has failed.
func (l *loop) blocked(c *client, err error) bool {
	if err != nil && err != syscall.EAGAIN && err != syscall.EINTR {
		l.fail(c, err)
	}
	return err != nil
}

// flushDatagrams sends each request as a datagram of its own.
func (l *loop) flushDatagrams(c *client) {
	for again := false; len(c.unsent) > 0; {
		most := min(len(c.unsent), mostDatagrams)
		at := sched.Now()
		l.out = l.out[:0]
		ends := [mostDatagrams]int{}
		for i, call := range c.unsent[:most] {
			call.sent = at
			l.out = l.codec.Append(l.out, call.Request)
			ends[i] = len(l.out)
		}
		n, err := l.sendDatagrams(c, ends[:most])
		switch {
		case err == nil:
			l.f.counts.written.Add(int64(ends[n-1]))
		case err == syscall.EAGAIN || err == syscall.EINTR:
			if !c.stuck {
				c.stuck = true
				l.stuck = append(l.stuck, c.index)
			}
			return
		case err == syscall.ENOBUFS:
			n = most // as lost
		case transient(err) && !again: // of an earlier datagram
			again = true
			continue
		default:
			l.fail(c, err)
			return
		}
		c.unsent = slices.Delete(c.unsent, 0, n)
	}
}

// sendDatagrams sends datagrams that end at these positions of the loop's buffer, and returns how many it has sent.
// Several of one length are segments of one send (UDP_SEGMENT), which takes least of the CPU.
func (l *loop) sendDatagrams(c *client, ends []int) (n int, err error) {
	size, longest, from := ends[0], 0, 0
	alike := len(ends) > 1 && !l.unsegmented
	for i, end := range ends {
		l.sender.Load(i, l.out[from:end])
		longest, alike = max(longest, end-from), alike && end-from == size
		from = end
	}
	if alike && l.segment(c, size) {
		switch _, err := sock.TrySend(c.fd, l.out, false); err {
		case syscall.EIO, syscall.EINVAL, syscall.EMSGSIZE: // a device or the kernel cannot
			l.unsegmented = true
		default:
			return len(ends), err
		}
	}
	if c.segment != 0 && c.segment < longest {
		l.segment(c, 0)
	}
	return l.sender.Send(c.fd, len(ends))
}

// segment sets the size of the segments of what is sent; 0: all of it is one datagram.
func (l *loop) segment(c *client, size int) bool {
	if c.segment == size {
		return true
	}
	if sock.SetUDPSegment(c.fd, size) != nil {
		l.unsegmented = true
		return false
	}
	c.segment = size
	return true
}

// receive reads from a stream, until the server has said that it ends the connection.
func (l *loop) receive(c *client) {
	for range mostReads {
		if c.over {
			return // what follows belongs to no request
		}
		var n int
		var err error
		body := c.parser.Body()
		if c.wire != nil {
			body = 0 // TLS has to see all of it
		}
		if body > int64(len(l.buffer)) {
			n, err = sock.Discard(c.fd, int(min(body, 1<<30)))
		} else {
			n, err = sock.TryRead(c.fd, l.buffer)
		}
		if err == syscall.EAGAIN || err == syscall.EINTR {
			return
		}
		l.now = sched.Now()
		if err != nil || n == 0 {
			l.ended(c, err)
			return
		}
		l.received(c, n)
		if body > int64(len(l.buffer)) {
			l.happened(c, c.parser.Discarded(int64(n), &c.pending))
			continue
		}
		if !l.arrived(c, l.buffer[:n]) || n < len(l.buffer) {
			return // later data is another event
		}
	}
	// Events are edge-triggered: what is left is reported only to a connection that is added again.
	l.epoll.Remove(c.fd)
	if err := l.epoll.Add(c.fd, c.index); err != nil {
		l.fail(c, err)
	}
}

// received counts what was received.
func (l *loop) received(c *client, n int) {
	c.heard = l.now
	l.f.counts.received.Add(int64(n))
}

// arrived parses what a stream has received. It returns false if the connection has ended by that.
func (l *loop) arrived(c *client, b []byte) bool {
	if c.wire == nil {
		return l.parse(c, b)
	}
	c.wire.in = b
	for !c.over {
		n, err := c.wire.tls.Read(l.plain)
		if n > 0 && !l.parse(c, l.plain[:n]) {
			return false
		}
		switch {
		case err == nil:
		case err == errNothingArrived:
			if len(c.wire.out) > 0 { // a change of keys is answered (RFC 8446, section 4.6.3)
				l.flush(c)
			}
			return c.fd >= 0
		case err == io.EOF:
			l.ended(c, nil)
			return false
		default:
			l.ended(c, err)
			return false
		}
	}
	return true
}

// parse parses what was received. It returns false if the connection has failed by that.
func (l *loop) parse(c *client, b []byte) bool {
	for len(b) > 0 {
		n, e, err := c.parser.Next(b, &c.pending)
		if err == nil && e.Send != nil && len(c.out)+len(c.unsent) > 0 {
			err = errUnasked
		}
		if err != nil {
			l.fail(c, err)
			return false
		}
		b = b[n:]
		if e.Send != nil {
			c.out = e.Send
		}
		if l.happened(c, e); c.over {
			break
		}
	}
	return true
}

func (l *loop) receiveDatagrams(c *client) {
	for range mostReads {
		n, err := l.receiver.Receive(c.fd, longestDatagram, 0)
		switch {
		case err == nil:
		case err == syscall.EAGAIN || err == syscall.EINTR:
			return
		case transient(err):
			continue
		default:
			l.fail(c, err)
			return
		}
		l.now = sched.Now()
		for i := range n {
			m := l.receiver.Message(i)
			l.received(c, m.Bytes)
			if m.Truncated || len(m.Data) == 0 {
				l.happened(c, Event{Late: true})
			} else if !l.parse(c, m.Data) {
				return
			}
		}
		if n < mostDatagrams {
			return
		}
		if l.ready(c); c.fd < 0 {
			return
		}
	}
	l.epoll.Remove(c.fd)
	if err := l.epoll.AddRead(c.fd, c.index); err != nil {
		l.fail(c, err)
	}
}

// happened notes what the parser has found.
func (l *loop) happened(c *client, e Event) {
	if e.Late && !l.f.engine.Signals.Quit.Load() {
		l.f.counts.late.Add(1)
	}
	if e.Last {
		c.retired, c.over = true, true
	}
	if e.Call == nil {
		return
	}
	e.note(l.now)
	if !e.Done {
		return
	}
	if x := e.Call.x; l.recorder.mayBeSlow(l.now - x.due) {
		l.resent(c, x)
	}
	l.forget(c, e.Call)
	l.f.conclude(e.Call.x, nil, l.recorder)
}

// ended ends a connection that the server has closed, or that has failed.
func (l *loop) ended(c *client, err error) {
	if err == nil {
		if e, ends := c.parser.End(&c.pending); ends {
			l.happened(c, e)
		}
	}
	switch {
	case len(c.pending.queue) > 0:
		if err == nil {
			err = io.EOF
		}
		if c.over {
			return // settle makes them again
		}
		l.fail(c, err)
	default:
		l.disconnect(c)
	}
}
