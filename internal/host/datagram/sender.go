package datagram

import (
	"errors"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"linerate/internal/host/flowset"
	"linerate/internal/host/pace"
	"linerate/internal/host/socket"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/message"
)

// verdict is the outcome of a step.
type verdict int

const (
	stepDone    verdict = iota // nothing more to move
	stepBlocked                // no room to send, or nothing to receive
	stepNotDue                 // the next datagram is due later
)

// step moves what can be moved now.
type step func(fd int, t *tally, s *flowset.Signals) (v verdict, until int64, err error)

// driver repeats a flow's steps and waits between them.
type driver interface {
	drive(writes bool, t *tally, s *flowset.Signals, do step) error
	// close releases the driver's resources.
	close()
}

// retryDelay is how long a sender waits when the system has no memory for a datagram.
const retryDelay = 50 * time.Microsecond

// sender is the mover at the sending end of a flow.
type sender struct {
	driver driver
	out    packetWriter
	data   []byte     // space for as many datagrams as a packetWriter takes
	bytes  int        // size of each
	header Header     // nil: linerate's own
	next   uint64     // sequence number of the next datagram
	pace   *pace.Pace // nil: as fast as possible
	burst  int64      // datagrams sent since the last wait
	full   int64      // since when the socket's buffer has been full; 0: it is not
	frames *framed    // nil: datagrams lie one after another in data
	late   *delays    // how late datagrams were sent behind their schedule
	notes  []string
	shown  atomic.Pointer[method]
}

func newSender(request message.FlowRequest, end *endpoint, d driver, out packetWriter, data []byte,
	notes []string) *sender {
	socket.FillRandom(data)
	r := &sender{driver: d, out: out, data: data, bytes: end.bytes, header: end.header, notes: notes,
		frames: end.frames}
	if r.frames != nil {
		r.out, r.notes = r.frames, r.frames.notes()
	}
	if rate := request.Pacing(end.remote.Addr().Is6()); rate > 0 {
		r.pace, r.late = pace.New(float64(rate)/8/float64(end.bytes)), newDelays()
	}
	r.show()
	return r
}

func (r *sender) show() {
	r.shown.Store(&method{mode: r.out.mode(), call: r.out.room() * r.bytes, note: r.notes, delays: r.late})
}

func (r *sender) method() method { return *r.shown.Load() }

func (r *sender) close() {
	r.driver.close()
	if r.frames != nil {
		r.frames.to.Close()
	}
}

func (*sender) receive(*tally, *flowset.Signals) error { return errors.ErrUnsupported }

func (r *sender) send(t *tally, s *flowset.Signals) error {
	if r.pace != nil {
		r.pace.Start(s.Start.Load())
	}
	return r.driver.drive(true, t, s, r.step)
}

func (r *sender) step(fd int, t *tally, s *flowset.Signals) (verdict, int64, error) {
	at := sched.Now()
	if r.full != 0 {
		t.full.Add(at - r.full)
		r.full = 0
	}
	stop := s.Stop.Load()
	for {
		if at >= stop || s.Quit.Load() {
			r.pause(t)
			return stepDone, 0, nil
		}
		n := r.out.room()
		if r.pace != nil {
			due, skipped, next := r.pace.Due(at)
			t.skipped.Add(skipped)
			if due == 0 {
				r.pause(t)
				return stepNotDue, min(next, stop), nil
			}
			n = int(min(due, int64(n)))
			if at >= s.Begin.Load() && at < s.End.Load() {
				r.late.add(at - r.pace.Instant())
			}
		}
		r.prepare(n, at)
		sent, err := r.out.send(fd, n)
		began := at
		at = sched.Now()
		t.busy.Add(at - began) // here too, for a sender that never waits
		if sent > 0 {
			r.next += uint64(sent)
			r.burst += int64(sent)
			if r.pace != nil {
				r.pace.Sent(int64(sent))
			}
			t.sent.Add(int64(sent))
			t.moved(at)
		}
		switch {
		case err == nil, err == syscall.EINTR:
		case err == syscall.EAGAIN:
			r.full = at
			r.pause(t)
			return stepBlocked, 0, nil
		case socket.NotSent(err), err == syscall.ENOMEM:
			r.pause(t)
			return stepNotDue, at + int64(retryDelay), nil
		case !r.fallBack(fd, err):
			r.pause(t)
			return stepDone, 0, err
		}
	}
}

// prepare builds the next n datagrams.
func (r *sender) prepare(n int, at int64) {
	if r.frames != nil {
		r.frames.prepare(n, r.next, at)
		return
	}
	batch := r.out.batch()
	for i := range n {
		if b, sequence := r.data[i*r.bytes:], r.next+uint64(i); r.header == nil {
			putHeader(b, min(n-i, batch-i%batch), sequence, at)
		} else {
			r.header.Put(b, sequence, at)
		}
	}
}

// pause notes that the sender begins to wait.
func (r *sender) pause(t *tally) {
	if r.pace != nil && r.burst > 0 {
		t.bursts.Add(1)
		t.largest.Store(max(t.largest.Load(), r.burst))
	}
	r.burst = 0
}

// fallBack replaces the packetWriter if err means that the system refuses it, and reports whether it did.
func (r *sender) fallBack(fd int, err error) bool {
	out, note := r.out.replace(fd, err)
	if out == nil {
		return false
	}
	r.out = out
	if note != "" {
		r.notes = append(r.notes[:len(r.notes):len(r.notes)], note)
	}
	r.show()
	return true
}

// portableDriver runs steps that block by themselves; timers of the runtime do the rest.
type portableDriver struct{}

func (portableDriver) close() {}

func (portableDriver) drive(_ bool, t *tally, s *flowset.Signals, do step) error {
	for {
		v, until, err := do(-1, t, s)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil
		case err != nil || v == stepDone:
			return err
		case v == stepNotDue:
			s.Sleep(until)
		case v == stepBlocked:
			time.Sleep(retryDelay)
		}
	}
}
