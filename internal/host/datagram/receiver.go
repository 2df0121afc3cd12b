package datagram

import (
	"errors"
	"syscall"
	"time"

	"linerate/internal/host/flowset"
	"linerate/internal/host/handshake"
	"linerate/internal/kernel/sched"
)

// receiver is the mover at the receiving end of a flow.
type receiver struct {
	driver  driver
	in      packetReader
	end     *endpoint
	tracker tracker
	delays  *delays
	notes   []string

	calls  uint64
	intact int // consecutive messages that were each the rest of one batch
}

func newReceiver(end *endpoint, d driver, in packetReader, notes []string) *receiver {
	return &receiver{driver: d, in: in, end: end, tracker: newTracker(end.header, end.tuples), delays: newDelays(),
		notes: notes}
}

// Unless a device cuts and merges them again, the messages that a receiver gets are the sender's batches. Then
// it need not read each datagram's header: the first says how many follow, and the kernel says how many there
// are. After trusted intact messages in a row the receiver leaves the payload in the kernel, since copying it
// would take most of its time; every checkEvery-th call reads all of it again. A message that is not intact
// ends that.
const (
	trusted    = 64
	checkEvery = 16
	briefBytes = handshake.FrameBytes + 1 // long enough to recognize a handshake frame
)

// brief reports whether the next call may leave the payload uncopied.
func (r *receiver) brief() bool {
	r.calls++
	return r.intact >= trusted && r.calls%checkEvery != 0
}

func (r *receiver) method() method {
	return method{mode: r.in.mode(), call: r.in.bytes(), note: r.notes, delays: r.delays}
}

func (r *receiver) close() { r.driver.close() }

func (*receiver) send(*tally, *flowset.Signals) error { return errors.ErrUnsupported }

func (r *receiver) receive(t *tally, s *flowset.Signals) error {
	return r.driver.drive(false, t, s, r.step)
}

func (r *receiver) step(fd int, t *tally, s *flowset.Signals) (verdict, int64, error) {
	at := sched.Now()
	for {
		n, err := r.in.receive(fd, r.brief(), time.Now().UnixNano()-at)
		if n > 0 {
			ofDay, now := time.Now().UnixNano(), sched.Now()
			inside := now >= s.Begin.Load() && now < s.End.Load()
			for i := range n {
				delay, timed := r.tracker.addMessage(r.in.message(i, now, ofDay), r.end.resendReady)
				if r.intact++; !r.tracker.intact {
					r.intact = 0
				}
				switch {
				case timed && inside:
					r.delays.add(delay)
				case timed:
					r.delays.see(delay)
				}
			}
			t.show(&r.tracker.counts)
			t.moved(now)
		}
		began := at
		at = sched.Now()
		t.busy.Add(at - began)
		switch {
		case s.Quit.Load():
			return stepDone, 0, nil
		case err == syscall.EAGAIN, err == nil && r.in.all(n):
			return stepBlocked, 0, nil
		case err != nil && err != syscall.EINTR:
			return stepDone, 0, err
		}
	}
}
