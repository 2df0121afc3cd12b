package transaction

import (
	"encoding/binary"
	"sync/atomic"
	"syscall"
	"time"

	"linerate/internal/host/handshake"
	"linerate/internal/host/socket"

	"linerate/internal/kernel/sched"
	"linerate/internal/kernel/sock"
)

// Requests and responses over UDP: a datagram each. Either may be lost, so that a
// request's first bytes tell which it is, the response repeats them, and one that
// does not come is given up. Nothing is sent again: what an application above would
// do about it is its own matter, and would hide what the network does.

const (
	// numbered is how many bytes of a datagram tell which transaction it is part of, the
	// least significant first, if it has so many.
	numbered = 4
	// waits is how long a response may take: as long as TCP waits at first before it
	// sends again (RFC 6298, section 2.1).
	waits = time.Second
	// mute is how many requests in a row have no response where nobody seems to be
	// there any more.
	mute = 3
)

// astray says of a failure that a datagram has not found its way, of which more is
// not known: as if it had been lost on it. The next may.
func astray(err error) bool {
	switch err {
	case syscall.ENOBUFS, syscall.ENOMEM, syscall.EHOSTUNREACH, syscall.EHOSTDOWN, syscall.ENETUNREACH, syscall.ENETDOWN:
		return true
	}
	return false
}

// dispatch sends a datagram when there is room for it.
func (w *worker) dispatch(fd int, letter []byte) error {
	for vain := 0; !w.f.engine.quit.Load(); {
		_, err := sock.TrySend(fd, letter, false)
		switch {
		case err == nil || astray(err):
			return nil
		case !passing(err):
			return err
		case w.f.order.Poll:
			w.rest(&vain)
		default:
			_, _ = w.wait.Wait(fd, true, glance)
		}
	}
	return nil
}

// post sends a connection's request. Its number is new.
func (a *asking) post(c *conn) (int, error) {
	c.number++
	var number [numbered]byte
	binary.LittleEndian.PutUint32(number[:], c.number)
	copy(a.letter, number[:])
	c.posted = a.now
	return len(a.letter), a.dispatch(int(c.fd), a.letter)
}

// fits says that a datagram which has come is the response that a connection waits
// for, and takes it.
func (a *asking) fits(c *conn, datagram []byte) bool {
	if handshake.Framed(datagram) {
		return false // the responder's socket is ready, said once more
	}
	var number [numbered]byte
	binary.LittleEndian.PutUint32(number[:], c.number)
	same := min(numbered, len(a.letter), int(a.response))
	if c.want == 0 || len(datagram) != int(a.response) || string(datagram[:same]) != string(number[:same]) {
		bump(&a.late, 1)
		return false
	}
	bump(&a.received, int64(len(datagram)))
	c.want = 0
	atomic.StoreUint32(&c.missed, 0)
	return true
}

// overdue says that a connection's response has not come, and gives it up.
func (a *asking) overdue(c *conn, at int64) bool {
	if c.began == 0 || c.want == 0 || at-c.posted < int64(waits) {
		return false
	}
	atomic.StoreInt64(&c.began, 0)
	c.want = 0
	atomic.AddUint32(&c.missed, 1)
	bump(&a.unanswered, 1)
	return true
}

// sweep gives up what is overdue, now and then, and has those connections go on.
func (a *asking) sweep() {
	a.now = socket.Now()
	if a.now-a.swept < int64(glance) {
		return
	}
	a.swept = a.now
	for i := range a.conns {
		if a.overdue(&a.conns[i], a.now) {
			a.proceed(i, a.now)
		}
	}
}

// collect takes what has come for a connection.
func (a *asking) collect(i int) {
	for c := &a.conns[i]; c.fd >= 0 && !a.f.engine.quit.Load(); {
		n, err := sock.TryRead(int(c.fd), a.buffer)
		switch {
		case err == nil:
			if a.fits(c, a.buffer[:n]) {
				a.now = socket.Now()
				a.finish(c, a.now)
				a.proceed(i, a.now)
				return // what comes from now on is a new event
			}
		case passing(err):
			return
		case !astray(err):
			a.broken(c, err)
			return
		}
	}
}

// attend answers what comes to the only socket.
func (r *answering) attend(fd int) {
	polls := false
	for quit := &r.f.engine.quit; !quit.Load(); {
		polls = polls || r.poll && r.f.engine.under()
		n, err := r.take(fd, r.buffer, polls)
		switch {
		case quit.Load():
			return
		case err == nil:
			look, at := r.poll && r.done.Load()%sampled == 0, int64(0)
			if look {
				at = socket.Now()
			}
			if err = r.reply(fd, n); look {
				bump(&r.useful, sampled*max(0, socket.Now()-at-r.idled()))
			}
		}
		if err != nil && !passing(err) && !astray(err) {
			r.f.lose(fd, err)
			return
		}
	}
}

// replyAll answers what has come to one of several sockets.
func (r *answering) replyAll(fd int) {
	for !r.f.engine.quit.Load() {
		n, err := sock.TryRead(fd, r.buffer)
		if err == nil {
			err = r.reply(fd, n)
		}
		switch {
		case err == nil || astray(err):
		case passing(err):
			return
		default:
			r.end(fd, err)
			return
		}
	}
}

// reply answers what is in the buffer, if it is a request.
func (r *answering) reply(fd, n int) error {
	if datagram := r.buffer[:n]; n != int(r.request) || handshake.Framed(datagram) {
		r.f.repeat(fd, datagram)
		return nil
	}
	r.keepUp(fd)
	bump(&r.received, int64(n))
	if !r.restrained() {
		return nil
	}
	copy(r.letter[:min(numbered, len(r.letter), n)], r.buffer)
	if err := r.dispatch(fd, r.letter); err != nil {
		return err
	}
	bump(&r.written, r.response)
	bump(&r.done, 1)
	return nil
}

// restrained waits until another response is within the rate that the responding host
// allows; TCP's socket keeps to that by itself. False: it would not be before nobody
// waits for it any more.
func (r *answering) restrained() bool {
	if r.every == 0 {
		return true
	}
	began := socket.Now()
	if r.free-began > int64(waits) {
		return false
	}
	now := began
	for now < r.free && !r.f.engine.quit.Load() {
		sched.SleepUntil(min(r.free, now+int64(glance)))
		now = socket.Now()
	}
	r.idle += now - began
	r.free = max(r.free, now) + r.every
	return true
}

// idled is how long it has waited so since this was last asked.
func (r *answering) idled() (ns int64) {
	ns, r.idle = r.idle, 0
	return ns
}
