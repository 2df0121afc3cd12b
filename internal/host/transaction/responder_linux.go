//go:build !portable

package transaction

import (
	"sync"
	"time"

	"linerate/internal/kernel/sched"
	"linerate/internal/kernel/sock"
	"linerate/internal/model/unit"
)

// responderConn is the state of a connection of a responder.
type responderConn struct {
	left int64  // bytes of responses that must still be written
	got  uint32 // bytes of the request that have been read
	// cookieLeft is the number of bytes of a cookie that must still be read.
	cookieLeft int
	// perTransaction reports whether the connection is for one transaction.
	perTransaction bool
	watched        bool // if perTransaction: whether it is in the thread's epoll
}

// turns is the number of reads or writes on a connection before others get their turn. Its peer may
// send, or read, as fast as this thread.
const turns = 16

// page has the connections of consecutive descriptors.
type page [32]responderConn

// responder is the state of a responding thread.
type responder struct {
	*worker
	request  uint32
	response int64
	poll     bool
	replies  []*page // by descriptor
	rate     limiter // of responses over UDP
	idle     int64   // ns waited for the rate limiter
	// mu is held by the thread, and by the thread of a shared listener while that responds to a
	// connection for one transaction.
	mu sync.Mutex
}

func newResponder(w *worker) *responder {
	o := w.f.Request
	r := &responder{worker: w, request: uint32(requestBytes(o)), response: int64(responseBytes(o)), poll: w.f.polls &&
		!w.f.sharesListener()}
	r.rate.set(o.RateCap*unit.BitRate(max(1, w.part.size())), responseBytes(o)) // for each connection
	return r
}

// runResponder answers requests until the engine closes.
func (w *worker) runResponder() {
	r := w.responder
	if r.poll && !w.f.isCRR() && !w.f.udp && !w.f.engine.WaitStart() {
		return // there are no requests before the start
	}
	if w.epoll != nil {
		w.onThread(!w.f.sharesListener(), r.runEpoll)
		return
	}
	w.onThread(true, func() {
		select {
		case fd := <-w.assigned:
			r.runSingle(fd)
		case <-w.f.engine.Context().Done():
		}
	})
}

// runSingle answers over the only connection, or at the only UDP socket.
func (r *responder) runSingle(fd int) {
	quit := &r.f.engine.Signals.Quit
	for c := (responderConn{}); !quit.Load(); {
		n, err := r.receive(fd, r.buffer, r.poll && r.f.engine.isUnderWay())
		switch {
		case quit.Load():
			return
		case err == nil && n == 0 && !r.f.udp:
			r.f.connLostFD(fd, nil)
			return
		case err == nil:
			look, at := r.poll && r.done.Load()%sampleEvery == 0, int64(0)
			if look {
				at = sched.Now()
			}
			if r.f.udp {
				err = r.respond(fd, n)
			} else {
				err = r.respondTCP(fd, &c, n)
			}
			if look {
				add(&r.useful, sampleEvery*max(0, sched.Now()-at-r.takeIdle()))
			}
		}
		if err != nil && !isTemporary(err) && !(r.f.udp && isTransient(err)) {
			r.f.connLostFD(fd, err)
			return
		}
	}
}

// respondTCP writes the responses to the requests that the received bytes complete. It waits for
// room.
func (r *responder) respondTCP(fd int, c *responderConn, bytes int) error {
	r.followPackets(fd)
	r.countRequest(c, bytes)
	for c.left > 0 && !r.f.engine.Signals.Quit.Load() {
		n, err := send(fd, payload[:min(c.left, int64(len(payload)))], r.poll)
		if err != nil && !isTemporary(err) {
			return err
		}
		c.left -= int64(n)
		r.countResponse(c, n)
	}
	return nil
}

// followPackets occasionally moves the thread to the CPU on which requests arrive.
func (r *responder) followPackets(fd int) {
	if r.f.follows && (r.f.isCRR() || r.done.Load()%followEvery == 0) {
		r.follow(fd)
	}
}

// countRequest counts received bytes, which may complete one or several requests.
func (r *responder) countRequest(c *responderConn, bytes int) {
	add(&r.received, int64(bytes))
	whole := (c.got + uint32(bytes)) / r.request
	c.got = (c.got + uint32(bytes)) % r.request
	if c.perTransaction {
		whole = min(whole, 1)
		if c.left > 0 {
			whole = 0
		}
	}
	c.left += int64(whole) * r.response
}

// countResponse counts written bytes.
func (r *responder) countResponse(c *responderConn, bytes int) {
	add(&r.written, int64(bytes))
	before := c.left + int64(bytes)
	add(&r.done, (before+r.response-1)/r.response-(c.left+r.response-1)/r.response)
}

// runEpoll answers over many connections.
func (r *responder) runEpoll() {
	quit := &r.f.engine.Signals.Quit
	turnover, shared := r.f.isCRR(), r.f.sharesListener()
	defer r.closeAll()
	for !quit.Load() {
		limit := time.Duration(-1)
		if r.poll && r.f.engine.isUnderWay() {
			limit = 0
		}
		n := r.epoll.Wait(limit)
		var woken int64
		switch {
		case !r.poll:
		case n == 0:
			r.emptyPoll()
		default:
			woken = sched.Now()
		}
		for i := range n {
			switch tag, read, write := r.epoll.Event(i); {
			case tag == wakeupTag:
			case r.f.udp:
				r.respondAll(int(tag))
			case turnover && tag == r.f.listener.Load():
				r.acceptSome(int(tag))
			case shared:
				// One connection only: the thread of the listener, for which others wait, also
				// takes mu.
				r.mu.Lock()
				r.advance(int(tag), read, write)
				r.mu.Unlock()
			default:
				r.advance(int(tag), read, write)
			}
		}
		if n > 0 && r.poll {
			r.emptyPolls = 0
			add(&r.useful, max(0, sched.Now()-woken-r.takeIdle()))
		}
	}
}

// advance reads and writes what is possible on a connection.
func (r *responder) advance(fd int, read, write bool) {
	c := r.state(fd)
	if write && c.left > 0 && !r.writeResponse(fd, c) {
		return
	}
	if read {
		r.readRequest(fd, c)
	}
}

// state returns the state of a connection.
func (r *responder) state(fd int) *responderConn {
	i := fd / len(page{})
	if i >= len(r.replies) {
		r.replies = append(r.replies, make([]*page, i+32-len(r.replies))...)
	}
	if r.replies[i] == nil {
		r.replies[i] = new(page)
	}
	return &r.replies[i][fd%len(page{})]
}

// again gives a connection another turn. Its events are edge-triggered, so it is removed and added.
func (r *responder) again(fd int, c *responderConn) {
	if c.perTransaction && !c.watched {
		return // adding it later does that
	}
	r.epoll.Remove(fd)
	if err := r.epoll.Add(fd, int32(fd)); err != nil {
		r.endConn(fd, err)
	}
}

// readRequest reads what is available, and responds.
func (r *responder) readRequest(fd int, c *responderConn) {
	for turn := 0; !r.f.engine.Signals.Quit.Load(); turn++ {
		if turn == turns {
			r.again(fd, c)
			return
		}
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
			return // later data causes a new event
		}
	}
}

// writeResponse writes as much as there is room for. It returns false if the connection has ended.
func (r *responder) writeResponse(fd int, c *responderConn) bool {
	for turn := 0; c.left > 0; turn++ {
		if turn == turns {
			r.again(fd, c)
			return true
		}
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
			return true // epoll reports when there is room
		default:
			r.endConn(fd, err)
			return false
		}
	}
	return true
}

// endConn gives up a connection.
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
