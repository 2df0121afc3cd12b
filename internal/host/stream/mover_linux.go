package stream

import (
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"linerate/internal/host/socket"

	"linerate/internal/kernel/sched"
	"linerate/internal/kernel/sock"
	"linerate/internal/model/record"
)

// discardBytes bounds one read. Nothing is copied, so it may be large; it is
// bounded so that the count of a fast flow never lags by more than this.
const discardBytes = 4 << 20

// glance is the longest that a thread waits in the kernel before it looks
// whether the engine closes.
const glance = 50 * time.Millisecond

// direct makes the system calls itself: no lock and no allocation per call.
// Flows without a mode wait in the runtime's poller when the socket has no room
// or no data; the others have a thread of their own for that, while there are
// some.
type direct struct{}

var platform mover = direct{}

// directRig is direct's rig: for a sender, the pumps to choose from and how far
// the choosing is; for a receiver, where to read to and how long to sleep.
type directRig struct {
	thread bool // of its own
	wait   sched.Poller

	pumps  []candidate
	in     int     // which of them is in use
	pump   pump    // that one
	choice *choice // nil: there is nothing, or no longer anything, to choose
	turn   int64   // when to ask choice
	block  *sock.Block

	buffer []byte // nil: nothing is copied
	naps   *naps  // nil: the network wakes the receiver

	notes []string
	told  bool // what a pump had to say is among the notes
	shown atomic.Pointer[way]
}

func (direct) rig(order record.FlowRequest) rig {
	r := &directRig{turn: math.MaxInt64, thread: order.Mode != "" && socket.TakeThread()}
	if order.Sends {
		r.outfit(order.Mode)
		return r
	}
	how := way{mode: record.ModeTruncate, call: discardBytes}
	if order.Mode == record.ModeCopy {
		r.buffer = make([]byte, chunkBytes)
		how = way{mode: record.ModeCopy, call: chunkBytes}
	}
	if _, window := order.Buffers(); r.thread && window == 0 {
		// A small window would be full before the nap is over.
		r.naps = new(naps)
	}
	r.shown.Store(&how)
	return r
}

// outfit makes a sender's pumps.
func (r *directRig) outfit(mode string) {
	if mode == record.ModeAuto && !r.thread {
		r.notes = append(r.notes, "more flows than threads: plain writes, nothing tried")
		mode = ""
	}
	if mode != "" && mode != record.ModeCopy {
		var err error
		if r.block, err = takeBlock(); err != nil {
			r.notes = append(r.notes, err.Error())
			mode = record.ModeCopy
		}
	}
	var notes []string
	r.pumps, notes = candidates(mode, r.block)
	r.notes = append(r.notes, notes...)
	switch {
	case len(r.pumps) == 1:
		r.use(0)
	case mode == record.ModeAuto || mode == record.ModeWrite:
		r.choice = newChoice(len(r.pumps))
		r.use(0)
	default:
		r.use(1) // the one that was asked for; the first is there to replace it
	}
}

// use changes to another pump and shows it.
func (r *directRig) use(i int) {
	r.in, r.pump = i, r.pumps[i].pump
	r.show()
}

func (r *directRig) show() {
	p := r.pumps[r.in]
	r.shown.Store(&way{mode: p.mode, call: p.call, note: strings.Join(r.notes, "; ")})
}

func (r *directRig) way() way { return *r.shown.Load() }

func (r *directRig) close() {
	for _, p := range r.pumps {
		r.tell(p)
		p.close()
	}
	if len(r.pumps) > 0 {
		r.show()
	}
	r.pumps, r.pump = nil, nil
	if r.block != nil {
		returnBlock()
		r.block = nil
	}
	if r.thread {
		socket.ReturnThread()
	}
}

// next asks whose turn it is.
func (r *directRig) next(at int64, t *tally) {
	if r.choice == nil {
		r.turn = math.MaxInt64
		return
	}
	r.futile()
	spent := t.busy.Load()
	if r.thread {
		spent = sched.CurrentThreadCPU() // without what other threads of a busy machine took
	}
	i, over := r.choice.next(at, t.bytes.Load(), spent)
	r.turn = r.choice.turn
	if over {
		r.notes = append(r.notes, r.found())
		r.choice = nil
	}
	r.use(i)
}

// futile strikes the pump in use from the list if the kernel did not do what it
// is for: then it costs what plain writes do, only elsewhere.
func (r *directRig) futile() {
	if p := r.pumps[r.in]; p.note() != "" {
		r.choice.refused[r.in] = true
		r.tell(p)
	}
}

// tell adds to the notes what a pump has to say, the first time that it does.
func (r *directRig) tell(p pump) {
	if note := p.note(); note != "" && !r.told {
		r.notes = append(r.notes, note)
		r.told = true
	}
}

// found tells what the choosing has shown.
func (r *directRig) found() string {
	var tried []string
	for i, p := range r.pumps {
		if !r.choice.refused[i] {
			tried = append(tried, fmt.Sprintf("%s %.1f", p, r.choice.pace(i)))
		}
	}
	return "tried, in GB per second of CPU: " + strings.Join(tried, ", ")
}

// replaced gives up the pump in use if err says that the kernel refuses it.
func (r *directRig) replaced(at int64, err error, t *tally) bool {
	if r.in == 0 || !refused(err) {
		return false
	}
	r.notes = append(r.notes, fmt.Sprintf("%s: %v", r.pumps[r.in], err))
	if r.choice == nil {
		r.use(0)
		return true
	}
	r.choice.refused[r.in] = true
	r.next(at, t)
	return true
}

// push sends until there is no more room (false), or until nothing more is to
// be sent.
func (r *directRig) push(fd int, t *tally, s *signals) (done bool, failed error) {
	for at := socket.Now(); ; {
		n, err := r.pump.push(fd)
		began := at
		at = socket.Now()
		t.count(n, began, at)
		room := err != syscall.EAGAIN
		switch {
		case room && err != nil && err != syscall.EINTR && !r.replaced(at, err, t):
			return true, os.NewSyscallError("send", err)
		case at >= s.stop.Load() || s.quit.Load():
			return true, nil
		case !room:
			return false, nil
		}
		if at >= r.turn {
			r.next(at, t)
		}
	}
}

// pull reads until there is no more data (false), or until the end.
func (r *directRig) pull(fd int, t *tally, s *signals) (done bool, failed error) {
	most := discardBytes
	if r.buffer != nil {
		most = len(r.buffer)
	}
	for at := socket.Now(); ; {
		var n int
		var err error
		if r.buffer != nil {
			n, err = sock.Receive(fd, r.buffer)
		} else {
			n, err = sock.Discard(fd, most)
		}
		began := at
		at = socket.Now()
		t.count(n, began, at)
		switch {
		case s.quit.Load():
			return true, nil
		case err == syscall.EAGAIN:
			return false, nil
		case err != nil && err != syscall.EINTR:
			return true, os.NewSyscallError("recv", err)
		case err == nil && n == 0: // the end of the stream
			return true, nil
		case r.thread && n < most:
			// That was all. The runtime's poller has to see EAGAIN, as it is
			// told of changes only; a thread's wait sees what is there.
			return false, nil
		}
	}
}

func (r *directRig) send(c *net.TCPConn, t *tally, s *signals) error {
	if r.choice != nil {
		r.choice.begin(socket.Now())
		r.turn = r.choice.turn
	}
	return r.move(c, true, t, s, r.push)
}

func (r *directRig) receive(c *net.TCPConn, t *tally, s *signals) error {
	return r.move(c, false, t, s, r.pull)
}

// move steps until it is done, and waits in between: with a thread of its own in
// the kernel, otherwise in the runtime's poller.
func (r *directRig) move(c *net.TCPConn, writes bool, t *tally, s *signals, step func(int, *tally, *signals) (bool, error)) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	once := func(fd uintptr) (done bool) {
		done, failed = step(int(fd), t, s)
		return done
	}
	switch {
	case r.thread:
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		sched.SetTimerSlack(true)
		defer sched.SetTimerSlack(false)
		err = raw.Control(func(fd uintptr) {
			sock.DetachPoller(int(fd))
			for !once(fd) {
				r.rest(int(fd), writes, t, s)
				if writes && socket.Now() >= s.stop.Load() || s.quit.Load() {
					return
				}
			}
		})
	case writes:
		err = raw.Write(once)
	default:
		err = raw.Read(once)
	}
	if failed != nil {
		return failed
	}
	if writes && errors.Is(err, os.ErrDeadlineExceeded) {
		return nil
	}
	return err
}

// rest waits for room or data, for the stop, or for a moment.
func (r *directRig) rest(fd int, writes bool, t *tally, s *signals) {
	at := socket.Now()
	if r.naps != nil {
		if ns := r.naps.next(t.bytes.Load(), at); ns > 0 {
			r.wait.Sleep(time.Duration(ns))
			return
		}
	}
	limit := glance
	if writes {
		limit = min(limit, time.Duration(s.stop.Load()-at))
	}
	if broken, _ := r.wait.Wait(fd, writes, limit); broken {
		// Completions of zero-copy sends, or an error that the next call tells.
		for _, p := range r.pumps {
			p.drain(fd)
		}
	}
}
