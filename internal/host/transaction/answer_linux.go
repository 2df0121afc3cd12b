package transaction

import (
	"sync"
	"time"

	"linerate/internal/host/socket"

	"linerate/internal/kernel/sock"
)

// reply is where a responder is with a connection.
type reply struct {
	left int64  // bytes of responses that are still to be written
	got  uint32 // bytes of the request that have come
	// shown are the bytes of a ticket that are still to be taken.
	shown int
	// visits: the connection is for one transaction.
	visits bool
}

// answering is a responding thread at work.
type answering struct {
	*worker
	request  uint32
	response int64
	poll     bool
	replies  []reply // by descriptor
	// Over UDP, a response is sent every so many ns at most (0: at any time), and free
	// is when the next may be. idle is how long that was waited for.
	every, free, idle int64
	// turns are taken by the thread and by a door that brings connections for one
	// transaction each; nobody else brings any where there is a door.
	turns sync.Mutex
}

func newAnswering(w *worker) *answering {
	o := w.f.order
	r := &answering{worker: w, request: uint32(requestBytes(o)), response: int64(responseBytes(o)), poll: o.Poll && !w.f.visited()}
	if o.RateCap > 0 { // of each connection
		every := float64(r.response) * 8e9 / float64(o.RateCap) / float64(max(1, w.part.size()))
		r.every = int64(min(every, float64(time.Hour)))
	}
	return r
}

// respond answers what is asked until the engine closes.
func (w *worker) respond() {
	r := w.answers
	if r.poll && !w.f.turnover() && !w.f.udp && !w.f.engine.opens() {
		return // nothing is asked before
	}
	if w.epoll != nil {
		w.onThread(!w.f.visited(), r.among)
		return
	}
	w.onThread(true, func() {
		select {
		case fd := <-w.seat:
			if w.f.udp {
				r.attend(fd)
				return
			}
			r.alone(fd)
		case <-w.f.engine.books.Context().Done():
		}
	})
}

// alone answers over the only connection.
func (r *answering) alone(fd int) {
	quit := &r.f.engine.quit
	var c reply
	for !quit.Load() {
		n, err := r.take(fd, r.buffer, r.poll)
		if err != nil && passing(err) {
			continue
		}
		if quit.Load() {
			return
		}
		if err != nil || n == 0 {
			r.f.lose(fd, err)
			return
		}
		r.keepUp(fd)
		look := r.poll && r.done.Load()%sampled == 0
		at := int64(0)
		if look {
			at = socket.Now()
		}
		r.asked(&c, n)
		for c.left > 0 && !quit.Load() {
			piece := payload[:min(c.left, int64(len(payload)))]
			n, err = send(fd, piece, r.poll)
			if err != nil && !passing(err) {
				r.f.lose(fd, err)
				return
			}
			c.left -= int64(n)
			r.answered(&c, n)
		}
		if look {
			bump(&r.useful, sampled*(socket.Now()-at))
		}
	}
}

// keepUp follows the requests, now and then.
func (r *answering) keepUp(fd int) {
	if r.f.order.Follow && (r.f.turnover() || r.done.Load()%followed == 0) {
		r.follow(fd)
	}
}

// asked counts what has come, which may be the end of one request or of several.
func (r *answering) asked(c *reply, bytes int) {
	bump(&r.received, int64(bytes))
	whole := (c.got + uint32(bytes)) / r.request
	c.got = (c.got + uint32(bytes)) % r.request
	c.left += int64(whole) * r.response
}

// answered counts what has been written.
func (r *answering) answered(c *reply, bytes int) {
	bump(&r.written, int64(bytes))
	before := c.left + int64(bytes)
	bump(&r.done, (before+r.response-1)/r.response-(c.left+r.response-1)/r.response)
}

// among answers over many connections.
func (r *answering) among() {
	quit := &r.f.engine.quit
	turnover, visited := r.f.turnover(), r.f.visited()
	defer r.dismiss()
	vain := 0
	for !quit.Load() {
		limit := time.Duration(-1)
		if r.poll && r.f.engine.under() {
			limit = 0
		}
		n := r.epoll.Wait(limit)
		var woken int64
		switch {
		case !r.poll:
		case n == 0:
			r.rest(&vain)
		default:
			woken = socket.Now()
		}
		if visited {
			r.turns.Lock()
		}
		for i := range n {
			tag, read, write := r.epoll.Event(i)
			if tag == bellTag {
				continue
			}
			fd := int(tag)
			if r.f.udp {
				r.replyAll(fd)
				continue
			}
			if turnover && tag == r.f.listener.Load() {
				r.turn(fd)
				continue
			}
			c := r.state(fd)
			if write && c.left > 0 && !r.push(fd, c) {
				continue
			}
			if read {
				r.pull(fd, c)
			}
		}
		if visited {
			r.turns.Unlock()
		}
		if n > 0 && r.poll {
			vain = 0
			bump(&r.useful, max(0, socket.Now()-woken-r.idled()))
		}
	}
}

// state is where the thread is with a connection.
func (r *answering) state(fd int) *reply {
	if fd >= len(r.replies) {
		r.replies = append(r.replies, make([]reply, fd+1024-len(r.replies))...)
	}
	return &r.replies[fd]
}

// pull takes what has come, and answers.
func (r *answering) pull(fd int, c *reply) {
	for !r.f.engine.quit.Load() {
		n, err := sock.TryRead(fd, r.buffer)
		switch {
		case err != nil && passing(err):
			return
		case err != nil || n == 0:
			r.end(fd, err)
			return
		}
		ticket := min(n, c.shown)
		c.shown -= ticket
		r.asked(c, n-ticket)
		if !r.push(fd, c) || n < len(r.buffer) {
			return // what comes from now on is a new event
		}
	}
}

// push writes what there is room for. False: the connection is no more.
func (r *answering) push(fd int, c *reply) bool {
	for c.left > 0 {
		// A visitor's connection is closed with the last byte.
		last := c.visits && c.left <= int64(len(payload))
		n, err := sock.TrySend(fd, payload[:min(c.left, int64(len(payload)))], last)
		switch {
		case err == nil:
			c.left -= int64(n)
			r.answered(c, n)
			if c.visits && c.left == 0 {
				r.over(fd, c)
				return false
			}
		case passing(err):
			return true // the kernel tells when there is room
		default:
			r.end(fd, err)
			return false
		}
	}
	return true
}

// end gives a connection up.
func (r *answering) end(fd int, err error) {
	c := r.state(fd)
	if !c.visits {
		r.epoll.Remove(fd)
		r.f.lose(fd, err)
		return
	}
	if c.got > 0 || c.left > 0 {
		r.f.lose(fd, err)
	}
	r.over(fd, c)
}

// over closes a visitor's connection.
func (r *answering) over(fd int, c *reply) {
	*c = reply{}
	sock.CloseSocket(fd)
	bump(&r.closed, 1)
}
