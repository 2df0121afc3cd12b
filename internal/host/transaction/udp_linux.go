//go:build !portable

package transaction

import (
	"encoding/binary"
	"sync/atomic"

	"linerate/internal/host/handshake"
	"linerate/internal/kernel/sched"
	"linerate/internal/kernel/sock"
)

// Requests and responses over UDP: a datagram each. Either may be lost, so that a
// request's first bytes tell which it is, the response repeats them, and one that
// does not come is given up. Nothing is sent again: what an application above would
// do about it is its own matter, and would hide what the network does.

// sendDatagram sends a datagram when there is room for it.
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

// sendRequest sends a connection's request. Its number is new.
func (a *requester) sendRequest(c *conn) (int, error) {
	c.number++
	var number [sequenceBytes]byte
	binary.LittleEndian.PutUint32(number[:], c.number)
	copy(a.datagram, number[:])
	c.sentAt = a.now
	return len(a.datagram), a.sendDatagram(int(c.fd), a.datagram)
}

// matchResponse says that a datagram is the response that a connection waits
// for, and takes it.
func (a *requester) matchResponse(c *conn, datagram []byte) bool {
	if handshake.IsFrame(datagram) {
		return false // the responder's socket is ready, said once more
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

// expire says that a connection's response has not come, and gives it up.
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

// expireAll gives up what is overdue, now and then, and has those connections go on.
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

// readResponses reads a connection's datagrams.
func (a *requester) readResponses(i int) {
	for c := &a.conns[i]; c.fd >= 0 && !a.f.engine.Signals.Quit.Load(); {
		n, err := sock.TryRead(int(c.fd), a.buffer)
		switch {
		case err == nil:
			if a.matchResponse(c, a.buffer[:n]) {
				a.now = sched.Now()
				a.finish(c, a.now)
				a.beginNext(i, a.now)
				return // what comes from now on is a new event
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

// respond answers what is in the buffer, if it is a request.
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

// waitForRate waits until another response is within the rate that the responding host
// allows; TCP's socket is paced by the kernel. It returns false if the response would
// be sent after the requester's timeout.
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

// takeIdle is how long it has waited so since the latest call.
func (r *responder) takeIdle() (ns int64) {
	ns, r.idle = r.idle, 0
	return ns
}
