package datagram

import (
	"errors"
	"sync/atomic"
	"syscall"
	"time"

	"linerate/internal/host/flowset"
	"linerate/internal/host/socket"
)

// receiver is the rig of a flow's receiving end.
type receiver struct {
	driver  driver
	in      packetReader
	end     *endpoint
	tracker tracker
	delays  *delays
	notes   []string
	shown   atomic.Pointer[method]
}

func (r *receiver) show() {
	r.shown.Store(&method{mode: r.in.mode(), call: r.in.room(), note: r.notes, delays: r.delays})
}

func (r *receiver) method() method { return *r.shown.Load() }

func (r *receiver) close() { r.driver.close() }

func (*receiver) send(*tally, *flowset.Signals) error { return errors.ErrUnsupported }

func (r *receiver) receive(t *tally, s *flowset.Signals) error {
	return r.driver.drive(false, t, s, r.step)
}

func (r *receiver) step(fd int, t *tally, s *flowset.Signals) (verdict, int64, error) {
	at := socket.Now()
	for {
		n, err := r.in.receive(fd)
		if n > 0 {
			ofDay, now := time.Now().UnixNano(), socket.Now()
			inside := now >= s.Begin.Load() && now < s.End.Load()
			for i := range n {
				delay, timed := r.tracker.addMessage(r.in.message(i, now, ofDay), r.end.resendReady)
				if timed && inside {
					r.delays.add(delay)
				}
			}
			t.show(&r.tracker.counts)
			t.moved(now)
		}
		began := at
		at = socket.Now()
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
