//go:build !portable

package transaction

import (
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"linerate/internal/kernel/sched"
	"linerate/internal/kernel/sock"
	"linerate/internal/model/message"
)

// conn is a connection of the requesting end. There may be hundreds of thousands.
type conn struct {
	began  int64  // when its transaction began or was due; 0: none is in flight
	round  int64  // round of the schedule that has its next transaction
	fd     int32  // -1: not open
	index  uint32 // among the connections of the thread
	unsent uint32 // bytes of the request that must still be written
	unread uint32 // bytes of the response that must still be read

	// For udp-rr:
	sentAt     int64  // when its latest request was sent
	number     uint32 // number of the latest request
	unanswered uint32 // consecutive requests without a response
}

// requester is the state of a requesting thread.
type requester struct {
	*worker
	window      message.WindowRequest
	request     uint32
	response    uint32
	paced       bool
	isCRR       bool   // whether each transaction has its own connection
	follows     bool   // whether it must still find the CPU on which its packets arrive
	sequential  bool   // whether it has one crr connection at a time and waits for it directly
	poll        bool   // whether it polls instead of waiting
	previous    int    // if sequential: the previous connection, still open, or -1
	spare       int    // if sequential: the socket for the next connection, or -1
	head        []byte // first data of a new connection: the cookie, then the request
	now         int64  // over UDP: the time of the last event
	expiredAt   int64  // over UDP: the time of the last scan for expired requests
	failedConns int    // number of failed connections that wait for a retry
	retryAt     int64  // time of the retry
	schedule    schedule
	// next is the connection whose turn is next in the schedule, in round.
	next  int
	round int64
}

// runRequester waits for the start and sends requests until the engine closes.
func (w *worker) runRequester() {
	o := w.f.Request
	a := requester{worker: w, isCRR: w.f.isCRR(), poll: w.f.polls, previous: -1, spare: -1}
	a.request, a.response = uint32(requestBytes(o)), uint32(responseBytes(o))
	a.head = slices.Concat(w.f.cookie, payload[:min(requestBytes(o), len(payload))])
	a.sequential = a.isCRR && len(w.conns) == 1
	a.follows = w.f.follows
	w.onThread(true, func() {
		if !w.f.engine.WaitStart() {
			return
		}
		a.window = w.f.engine.Window()
		if a.paced = o.Pace > 0; a.paced {
			a.schedule = scheduleOf(a.window.StartNs, o.Pace)
		}
		switch {
		case w.epoll == nil:
			c := &w.conns[0]
			a.runSingle(c)
			// Transactions that become due on a lost connection have failed.
			for limit := time.Duration(0); limit >= 0 && a.paced && c.fd < 0 &&
				!w.f.engine.Signals.Quit.Load(); limit = a.beginDue() {
				a.wait.Sleep(min(limit, checkInterval))
			}
		case a.sequential:
			a.runSequential()
		default:
			a.runEpoll()
		}
		if a.isCRR {
			a.closeAll()
		}
	})
}

// runSingle sends requests over the only connection. Without a pace, it counts a transaction after
// it has sent the next request: the responder gets that sooner, and this end is idle afterwards.
func (a *requester) runSingle(c *conn) {
	poll, quit := a.poll, &a.f.engine.Signals.Quit
	at := sched.Now()
	former := int64(0) // when the transaction that is not counted yet began
	defer func() {
		if former != 0 { // and no other one is in flight
			atomic.StoreInt64(&c.began, 0)
			a.count(former, at)
		}
	}()
	for !quit.Load() {
		began := at
		if a.paced {
			began = a.schedule.due(a.part.number(0, c.round))
			c.round++
		}
		if began >= a.f.engine.Signals.Stop.Load() {
			return
		}
		for at < began && !quit.Load() {
			if poll {
				a.emptyPoll()
			} else {
				sched.SleepUntil(min(began, at+int64(checkInterval)))
			}
			at = sched.Now()
		}
		atomic.StoreInt64(&c.began, began)
		c.unsent, c.unread, a.now = a.request, a.response, at
		for c.unsent > 0 && !quit.Load() {
			n, err := a.send(c, poll)
			if err != nil && !isTemporary(err) {
				a.fail(c, err)
				return
			}
			a.countWritten(c, n)
		}
		if former != 0 {
			a.count(former, began)
			former = 0
		}
		if poll && a.done.Load()%sampleEvery == 0 {
			add(&a.useful, sampleEvery*(sched.Now()-at))
		}
		for c.unread > 0 {
			room := a.buffer
			if !a.f.udp {
				room = room[:min(int(c.unread), len(room))]
			}
			n, err := a.receive(int(c.fd), room, poll)
			switch {
			case quit.Load():
				return
			case a.f.udp && err == nil:
				if !a.matchResponse(c, room[:n]) {
					a.expire(c, sched.Now())
				}
			case a.f.udp && (isTemporary(err) || isTransient(err)):
				a.expire(c, sched.Now())
			case err == nil && n == 0:
				a.fail(c, nil)
				return
			case err == nil:
				c.unread -= uint32(n)
				add(&a.received, int64(n))
			case isTemporary(err):
			default:
				a.fail(c, err)
				return
			}
		}
		if a.follows {
			a.followOnce(c)
		}
		at = sched.Now()
		switch {
		case c.began == 0: // it was given up
		case a.paced:
			a.finish(c, at)
		default:
			former = began
		}
	}
}

// followOnce follows the first response, and then stays on that CPU: if both ends continued to
// follow, each would chase the other if they share a machine.
func (a *requester) followOnce(c *conn) {
	a.follow(int(c.fd))
	a.follows = false
}

func (a *requester) send(c *conn, try bool) (int, error) {
	if a.f.udp {
		return a.sendRequest(c)
	}
	piece := payload[:min(int(c.unsent), len(payload))]
	if c.unsent > a.request {
		piece = a.head[len(a.f.cookie)-int(c.unsent-a.request):]
	}
	return send(int(c.fd), piece, try)
}

// short is the size up to which a non-blocking send is so fast that the runtime's scheduler need
// not be informed.
const short = 16 << 10

// send writes as much as there is room for. If try is false, it waits for room.
func send(fd int, piece []byte, try bool) (n int, err error) {
	if try || len(piece) <= short {
		n, err = sock.TrySend(fd, piece, false)
		if try || err != syscall.EAGAIN {
			return n, err
		}
	}
	return sock.Send(fd, piece)
}

// countWritten counts written bytes. The cookie is not payload.
func (a *requester) countWritten(c *conn, bytes int) {
	cookie := max(0, int(c.unsent)-int(a.request))
	c.unsent -= uint32(bytes)
	add(&a.written, int64(max(0, bytes-cookie)))
}

// finish ends a completed transaction.
func (a *requester) finish(c *conn, at int64) {
	began := c.began
	atomic.StoreInt64(&c.began, 0)
	a.count(began, at)
}

// count counts a completed transaction.
func (a *requester) count(began, at int64) {
	add(&a.done, 1)
	if a.first.Load() == 0 {
		a.first.Store(at)
	}
	a.last.Store(at)
	if at >= a.window.BeginNs && at <= a.f.engine.Signals.End.Load() {
		a.latency.Record(at - began)
	}
}

// fail gives up a connection and its transaction.
func (a *requester) fail(c *conn, err error) {
	if a.f.engine.Signals.Quit.Load() {
		return
	}
	a.f.connLostFD(int(c.fd), err) // before the failure is counted, so that readers of the count find the reason
	if atomic.LoadInt64(&c.began) != 0 {
		atomic.StoreInt64(&c.began, 0)
		add(&a.failed, 1)
	}
	if a.isCRR {
		a.closeConn(c)
		a.failedConns++
		return
	}
	if a.epoll != nil {
		a.epoll.Remove(int(c.fd))
	}
	atomic.StoreInt32(&c.fd, -1)
	if a.paced {
		a.failDue(c, sched.Now())
	}
}

// failDue counts transactions that became due on a lost connection as failed.
func (a *requester) failDue(c *conn, at int64) {
	for ; ; c.round++ {
		if instant := a.schedule.due(a.part.number(int(c.index), c.round)); instant > at ||
			instant >= a.f.engine.Signals.Stop.Load() {
			return
		}
		add(&a.failed, 1)
	}
}

// runEpoll sends requests over many connections, each with one transaction at a time.
func (a *requester) runEpoll() {
	poll, quit := a.poll, &a.f.engine.Signals.Quit
	if a.now = sched.Now(); !a.paced {
		at := a.now
		for i := range a.conns {
			a.begin(&a.conns[i], at)
		}
	}
	for !quit.Load() {
		limit := time.Duration(-1)
		if a.f.udp {
			a.expireAll()
		}
		if a.paced {
			limit = a.beginDue()
		}
		if a.failedConns > 0 {
			a.retry()
		}
		if a.failedConns > 0 || a.f.udp {
			limit = sooner(limit, checkInterval)
		}
		if poll {
			limit = 0
		}
		n := a.epoll.Wait(limit)
		var woken int64
		switch {
		case !poll:
		case n == 0:
			a.emptyPoll()
		default:
			woken = sched.Now()
		}
		for i := range n {
			tag, read, write := a.epoll.Event(i)
			if tag == wakeupTag {
				continue
			}
			c := &a.conns[tag]
			if write && c.unsent > 0 {
				a.writeRequest(c)
			}
			switch {
			case !read:
			case a.f.udp:
				a.readResponses(int(tag))
			default:
				a.readResponse(int(tag))
			}
		}
		if n > 0 && poll {
			a.emptyPolls = 0
			add(&a.useful, sched.Now()-woken)
		}
	}
}

// beginDue begins the transactions that are due. It returns the time until the next one is due;
// negative: never.
func (a *requester) beginDue() time.Duration {
	at := sched.Now()
	for {
		instant := a.schedule.due(a.part.number(a.next, a.round))
		switch {
		case instant >= a.f.engine.Signals.Stop.Load():
			return -1
		case instant > at:
			return time.Duration(instant - at)
		}
		c := &a.conns[a.next]
		switch {
		case c.fd < 0 && !a.isCRR:
			a.failDue(c, at)
		case c.began == 0: // behind the schedule, after crr has failed on it
			a.beginNext(a.next, at)
		}
		// Otherwise it is still busy, and begins this transaction when it is free.
		if a.next++; a.next == len(a.conns) {
			a.next = 0
			a.round++
		}
	}
}

// begin begins a transaction whose time counts from began, which may be in the past.
func (a *requester) begin(c *conn, began int64) {
	if began >= a.f.engine.Signals.Stop.Load() {
		return
	}
	atomic.StoreInt64(&c.began, began)
	c.unsent, c.unread = a.request, a.response
	if a.isCRR {
		c.unsent += uint32(len(a.f.cookie))
		if !a.connect(c) {
			return
		}
	}
	a.writeRequest(c)
}

// writeRequest writes as much of a request as there is room for.
func (a *requester) writeRequest(c *conn) {
	for c.unsent > 0 && c.fd >= 0 {
		n, err := a.send(c, true)
		switch {
		case err == nil:
			a.countWritten(c, n)
		case isTemporary(err):
			return // epoll reports when there is room
		default:
			a.fail(c, err)
			return
		}
	}
}

// readResponse reads the available part of a response. After the last byte the transaction is
// complete, and the next one may begin.
func (a *requester) readResponse(i int) {
	for c := &a.conns[i]; c.fd >= 0; {
		// Reading one byte more than expected, even if that is none, detects the end of the stream.
		n, err := sock.TryRead(int(c.fd), a.buffer[:min(int(c.unread)+1, len(a.buffer))])
		switch {
		case err != nil && isTemporary(err):
			return
		case err != nil || n == 0:
			a.fail(c, err)
			return
		case n > int(c.unread):
			a.fail(c, errSurplus)
			return
		}
		c.unread -= uint32(n)
		add(&a.received, int64(n))
		if c.unread > 0 {
			continue
		}
		at := sched.Now()
		a.finish(c, at)
		if a.follows {
			a.followOnce(c)
		}
		if a.isCRR {
			a.closeConn(c)
		}
		a.beginNext(i, at)
		return
	}
}

// beginNext begins the next transaction of a connection if it is due.
func (a *requester) beginNext(i int, at int64) {
	c := &a.conns[i]
	if !a.paced {
		a.begin(c, at)
		return
	}
	// A transaction that has become due meanwhile has waited for this connection.
	if instant := a.schedule.due(a.part.number(i, c.round)); instant <= at {
		c.round++
		a.begin(c, instant)
	}
}

// isTemporary reports whether a call must be repeated, now or when there is more data or room.
func isTemporary(err error) bool { return err == syscall.EAGAIN || err == syscall.EINTR }
