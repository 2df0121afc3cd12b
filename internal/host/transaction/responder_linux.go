//go:build !portable

package transaction

import (
	"sync"
	"time"

	"linerate/internal/host/socket"

	"linerate/internal/kernel/sock"
)

// responderConn is where a responder is with a connection.
type responderConn struct {
	left int64  // bytes of responses that are still to be written
	got  uint32 // bytes of the request that have been read
	// cookieLeft are the bytes of a cookie that are still to be taken.
	cookieLeft int
	// perTransaction: the connection is for one transaction.
	perTransaction bool
}

// responder is a responding thread at work.
type responder struct {
	*worker
	request  uint32
	response int64
	poll     bool
	replies  []responderConn // by descriptor
	// Over UDP, a response is sent every so many ns at most (0: at any time), and free
	// is when the next may be. idle is how long that was waited for.
	every, free, idle int64
	// mu is held by the thread, and by that of a shared listener while it responds to a
	// connection for one transaction.
	mu sync.Mutex
}

func newResponder(w *worker) *responder {
	o := w.f.Request
	r := &responder{worker: w, request: uint32(requestBytes(o)), response: int64(responseBytes(o)), poll: w.f.polls && !w.f.sharesListener()}
	if o.RateCap > 0 { // of each connection
		every := float64(r.response) * 8e9 / float64(o.RateCap) / float64(max(1, w.part.size()))
		r.every = int64(min(every, float64(time.Hour)))
	}
	return r
}

// runResponder answers what is asked until the engine closes.
func (w *worker) runResponder() {
	r := w.responder
	if r.poll && !w.f.isCRR() && !w.f.udp && !w.f.engine.WaitStart() {
		return // nothing is asked before
	}
	if w.epoll != nil {
		w.onThread(!w.f.sharesListener(), r.runEpoll)
		return
	}
	w.onThread(true, func() {
		select {
		case fd := <-w.assigned:
			if w.f.udp {
				r.runUDPSingle(fd)
				return
			}
			r.runSingle(fd)
		case <-w.f.engine.Context().Done():
		}
	})
}

// runSingle answers over the only connection.
func (r *responder) runSingle(fd int) {
	quit := &r.f.engine.Signals.Quit
	var c responderConn
	for !quit.Load() {
		n, err := r.receive(fd, r.buffer, r.poll)
		if err != nil && isTemporary(err) {
			continue
		}
		if quit.Load() {
			return
		}
		if err != nil || n == 0 {
			r.f.connLostFD(fd, err)
			return
		}
		r.followPackets(fd)
		look := r.poll && r.done.Load()%sampleEvery == 0
		at := int64(0)
		if look {
			at = socket.Now()
		}
		r.countRequest(&c, n)
		for c.left > 0 && !quit.Load() {
			piece := payload[:min(c.left, int64(len(payload)))]
			n, err = send(fd, piece, r.poll)
			if err != nil && !isTemporary(err) {
				r.f.connLostFD(fd, err)
				return
			}
			c.left -= int64(n)
			r.countResponse(&c, n)
		}
		if look {
			add(&r.useful, sampleEvery*(socket.Now()-at))
		}
	}
}

// followPackets follows the requests, now and then.
func (r *responder) followPackets(fd int) {
	if r.f.follows && (r.f.isCRR() || r.done.Load()%followEvery == 0) {
		r.follow(fd)
	}
}

// countRequest counts bytes read, which may end one request or several.
func (r *responder) countRequest(c *responderConn, bytes int) {
	add(&r.received, int64(bytes))
	whole := (c.got + uint32(bytes)) / r.request
	c.got = (c.got + uint32(bytes)) % r.request
	c.left += int64(whole) * r.response
}

// countResponse counts what has been written.
func (r *responder) countResponse(c *responderConn, bytes int) {
	add(&r.written, int64(bytes))
	before := c.left + int64(bytes)
	add(&r.done, (before+r.response-1)/r.response-(c.left+r.response-1)/r.response)
}

// runEpoll answers over many connections.
func (r *responder) runEpoll() {
	quit := &r.f.engine.Signals.Quit
	turnover, visited := r.f.isCRR(), r.f.sharesListener()
	defer r.closeAll()
	emptyPolls := 0
	for !quit.Load() {
		limit := time.Duration(-1)
		if r.poll && r.f.engine.hasStarted() {
			limit = 0
		}
		n := r.epoll.Wait(limit)
		var woken int64
		switch {
		case !r.poll:
		case n == 0:
			r.emptyPoll(&emptyPolls)
		default:
			woken = socket.Now()
		}
		if visited {
			r.mu.Lock()
		}
		for i := range n {
			tag, read, write := r.epoll.Event(i)
			if tag == wakeupTag {
				continue
			}
			fd := int(tag)
			if r.f.udp {
				r.respondAll(fd)
				continue
			}
			if turnover && tag == r.f.listener.Load() {
				r.acceptSome(fd)
				continue
			}
			c := r.state(fd)
			if write && c.left > 0 && !r.writeResponse(fd, c) {
				continue
			}
			if read {
				r.readRequest(fd, c)
			}
		}
		if visited {
			r.mu.Unlock()
		}
		if n > 0 && r.poll {
			emptyPolls = 0
			add(&r.useful, max(0, socket.Now()-woken-r.takeIdle()))
		}
	}
}

// state is where the thread is with a connection.
func (r *responder) state(fd int) *responderConn {
	if fd >= len(r.replies) {
		r.replies = append(r.replies, make([]responderConn, fd+1024-len(r.replies))...)
	}
	return &r.replies[fd]
}

// readRequest reads what is there, and responds.
func (r *responder) readRequest(fd int, c *responderConn) {
	for !r.f.engine.Signals.Quit.Load() {
		n, err := sock.TryRead(fd, r.buffer)
		switch {
		case err != nil && isTemporary(err):
			return
		case err != nil || n == 0:
			r.endConn(fd, err)
			return
		}
		cookie := min(n, c.cookieLeft)
		c.cookieLeft -= cookie
		r.countRequest(c, n-cookie)
		if !r.writeResponse(fd, c) || n < len(r.buffer) {
			return // what comes from now on is a new event
		}
	}
}

// writeResponse writes what there is room for. False: the connection is no more.
func (r *responder) writeResponse(fd int, c *responderConn) bool {
	for c.left > 0 {
		// A connection for one transaction is closed with the last byte.
		last := c.perTransaction && c.left <= int64(len(payload))
		n, err := sock.TrySend(fd, payload[:min(c.left, int64(len(payload)))], last)
		switch {
		case err == nil:
			c.left -= int64(n)
			r.countResponse(c, n)
			if c.perTransaction && c.left == 0 {
				r.closeConn(fd, c)
				return false
			}
		case isTemporary(err):
			return true // the kernel tells when there is room
		default:
			r.endConn(fd, err)
			return false
		}
	}
	return true
}

// endConn gives a connection up.
func (r *responder) endConn(fd int, err error) {
	c := r.state(fd)
	if !c.perTransaction {
		r.epoll.Remove(fd)
		r.f.connLostFD(fd, err)
		return
	}
	if c.got > 0 || c.left > 0 {
		r.f.connLostFD(fd, err)
	}
	r.closeConn(fd, c)
}

// closeConn closes a connection for one transaction.
func (r *responder) closeConn(fd int, c *responderConn) {
	*c = responderConn{}
	sock.CloseSocket(fd)
	add(&r.closed, 1)
}
