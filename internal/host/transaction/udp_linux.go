//go:build !portable

package transaction

import (
	"encoding/binary"
	"sync/atomic"

	"linerate/internal/host/handshake"
	"linerate/internal/kernel/sched"
	"linerate/internal/kernel/sock"
)

// Over UDP, requests and responses are one datagram each. Either may be lost, so the first bytes of
// a request identify it, the response repeats them, and the requester gives up on a response that
// does not arrive. Nothing is retransmitted: that is up to applications, and would hide what the
// network does.

// sendDatagram sends a datagram when there is room.
func (w *worker) sendDatagram(fd int, datagram []byte) error {
	for !w.f.engine.Signals.Quit.Load() {
		_, err := sock.TrySend(fd, datagram, false)
		switch {
		case err == nil || isTransient(err):
			return nil
		case !isTemporary(err):
			return err
		case w.f.polls:
			w.emptyPoll()
		default:
			_, _ = w.wait.Wait(fd, true, checkInterval)
		}
	}
	return nil
}

// sendRequest sends a request with a new number.
func (a *requester) sendRequest(c *conn) (int, error) {
	c.number++
	var number [sequenceBytes]byte
	binary.LittleEndian.PutUint32(number[:], c.number)
	copy(a.datagram, number[:])
	c.sentAt = a.now
	return len(a.datagram), a.sendDatagram(int(c.fd), a.datagram)
}

// matchResponse reports whether a datagram is the response that a connection waits for, and counts
// it.
func (a *requester) matchResponse(c *conn, datagram []byte) bool {
	if handshake.IsFrame(datagram) {
		return false // a repetition of the responder's ready frame
	}
	var number [sequenceBytes]byte
	binary.LittleEndian.PutUint32(number[:], c.number)
	same := min(sequenceBytes, len(a.datagram), int(a.response))
	if c.unread == 0 || len(datagram) != int(a.response) || string(datagram[:same]) != string(number[:same]) {
		add(&a.late, 1)
		return false
	}
	add(&a.received, int64(len(datagram)))
	c.unread = 0
	atomic.StoreUint32(&c.unanswered, 0)
	return true
}

// expire reports whether the response is overdue, and gives it up.
func (a *requester) expire(c *conn, at int64) bool {
	if c.began == 0 || c.unread == 0 || at-c.sentAt < int64(responseTimeout) {
		return false
	}
	atomic.StoreInt64(&c.began, 0)
	c.unread = 0
	atomic.AddUint32(&c.unanswered, 1)
	add(&a.unanswered, 1)
	return true
}

// expireAll occasionally gives up overdue responses, and lets those connections continue.
func (a *requester) expireAll() {
	a.now = sched.Now()
	if a.now-a.expiredAt < int64(checkInterval) {
		return
	}
	a.expiredAt = a.now
	for i := range a.conns {
		if a.expire(&a.conns[i], a.now) {
			a.beginNext(i, a.now)
		}
	}
}

// readResponses reads the datagrams of a connection.
func (a *requester) readResponses(i int) {
	for c := &a.conns[i]; c.fd >= 0 && !a.f.engine.Signals.Quit.Load(); {
		n, err := sock.TryRead(int(c.fd), a.buffer)
		switch {
		case err == nil:
			if a.matchResponse(c, a.buffer[:n]) {
				a.now = sched.Now()
				a.finish(c, a.now)
				a.beginNext(i, a.now)
				return // later datagrams cause a new event
			}
		case isTemporary(err):
			return
		case !isTransient(err):
			a.fail(c, err)
			return
		}
	}
}

// respondAll responds to the datagrams at one of several sockets.
func (r *responder) respondAll(fd int) {
	for !r.f.engine.Signals.Quit.Load() {
		n, err := sock.TryRead(fd, r.buffer)
		if err == nil {
			err = r.respond(fd, n)
		}
		switch {
		case err == nil || isTransient(err):
		case isTemporary(err):
			return
		default:
			r.endConn(fd, err)
			return
		}
	}
}

// respond answers the datagram in the buffer if it is a request.
func (r *responder) respond(fd, n int) error {
	if datagram := r.buffer[:n]; n != int(r.request) || handshake.IsFrame(datagram) {
		r.f.resendReady(fd, datagram)
		return nil
	}
	r.followPackets(fd)
	add(&r.received, int64(n))
	if !r.waitForRate() {
		return nil
	}
	copy(r.datagram[:min(sequenceBytes, len(r.datagram), n)], r.buffer)
	if err := r.sendDatagram(fd, r.datagram); err != nil {
		return err
	}
	add(&r.written, r.response)
	add(&r.done, 1)
	return nil
}

// waitForRate waits until the rate that the responding host allows permits another response. (The
// kernel paces TCP sockets.) It returns false if the response would be sent after the requester's
// timeout.
func (r *responder) waitForRate() bool {
	if r.rate.every == 0 {
		return true
	}
	began := sched.Now()
	at, ok := r.rate.reserve(responseTimeout)
	if ok {
		r.f.sleepUntil(at)
		r.idle += sched.Now() - began
	}
	return ok
}

// takeIdle returns the time waited since the previous call.
func (r *responder) takeIdle() (ns int64) {
	ns, r.idle = r.idle, 0
	return ns
}
