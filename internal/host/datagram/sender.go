package datagram

import (
	"errors"
	"math"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"linerate/internal/host/socket"
)

// verdict is what a step of moving datagrams comes to.
type verdict int

const (
	over    verdict = iota // nothing more is to be moved
	blocked                // there is no room, or nothing there
	early                  // the next is not due before an instant
)

// A step moves what can be moved now.
type step func(fd int, t *tally, s *signals) (v verdict, until int64, err error)

// A driver makes a flow's steps, and waits in between.
type driver interface {
	drive(writes bool, t *tally, s *signals, do step) error
	// close gives back what the driver has taken.
	close()
}

// breath is how long a sender waits that the system has no memory for.
const breath = 50 * time.Microsecond

// sender is the rig of a flow's sending end.
type sender struct {
	driver driver
	out    outlet
	data   []byte // as many datagrams as an outlet may have room for
	bytes  int    // of each
	header Header // nil: our own
	next   uint64 // sequence number
	pace   *pace  // nil: as fast as possible
	burst  int64  // sent since the last wait
	notes  []string
	shown  atomic.Pointer[way]
}

func (r *sender) show() {
	r.shown.Store(&way{mode: r.out.mode(), call: r.out.room() * r.bytes, note: r.notes})
}

func (r *sender) way() way { return *r.shown.Load() }

func (r *sender) close() { r.driver.close() }

func (*sender) receive(*tally, *signals) error { return errors.ErrUnsupported }

func (r *sender) send(t *tally, s *signals) error {
	if r.pace != nil {
		r.pace.start = s.start.Load()
	}
	return r.driver.drive(true, t, s, r.step)
}

func (r *sender) step(fd int, t *tally, s *signals) (verdict, int64, error) {
	began := socket.Now()
	at := began
	stop := s.stop.Load()
	for {
		if at >= stop || s.quit.Load() {
			r.rest(at-began, t)
			return over, 0, nil
		}
		n := r.out.room()
		if r.pace != nil {
			due, left, next := r.pace.due(at)
			t.left.Add(left)
			if due == 0 {
				r.rest(at-began, t)
				return early, min(next, stop), nil
			}
			n = int(min(due, int64(n)))
		}
		for i := range n {
			if b, sequence := r.data[i*r.bytes:], r.next+uint64(i); r.header == nil {
				putHeader(b, sequence, at)
			} else {
				r.header.Put(b, sequence, at)
			}
		}
		sent, err := r.out.send(fd, n)
		at = socket.Now()
		if sent > 0 {
			r.next += uint64(sent)
			r.burst += int64(sent)
			if r.pace != nil {
				r.pace.sent += int64(sent)
			}
			t.sent.Add(int64(sent))
			t.moved(at)
		}
		switch {
		case err == nil, err == syscall.EINTR:
		case err == syscall.EAGAIN:
			r.rest(at-began, t)
			return blocked, 0, nil
		case socket.NotSent(err), err == syscall.ENOMEM:
			r.rest(at-began, t)
			return early, at + int64(breath), nil
		case !r.replaced(fd, err):
			r.rest(at-began, t)
			return over, 0, err
		}
	}
}

// rest notes that the sender waits now.
func (r *sender) rest(busy int64, t *tally) {
	t.busy.Add(busy)
	if r.pace != nil && r.burst > 0 {
		t.bursts.Add(1)
		t.largest.Store(max(t.largest.Load(), r.burst))
	}
	r.burst = 0
}

// replaced gives up the outlet in use if err says that the system refuses it.
func (r *sender) replaced(fd int, err error) bool {
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

// patient drives steps that wait by themselves, with the runtime's timers for the
// rest.
type patient struct{ deadline func(time.Time) error }

func (patient) close() {}

func (d patient) drive(writes bool, t *tally, s *signals, do step) error {
	if stop := s.stop.Load(); writes && d.deadline != nil && stop != 0 && stop < math.MaxInt64 {
		if err := d.deadline(socket.Deadline(stop)); err != nil {
			return err
		}
	}
	for {
		v, until, err := do(-1, t, s)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil
		case err != nil || v == over:
			return err
		case v == early:
			time.Sleep(min(glance, time.Duration(until-socket.Now())))
		case v == blocked:
			time.Sleep(breath)
		}
	}
}

// glance is the longest that a flow waits before it looks whether the engine
// closes.
const glance = 50 * time.Millisecond
