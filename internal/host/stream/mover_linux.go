//go:build !portable

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

	"linerate/internal/host/flowset"
	"linerate/internal/host/socket"
	"linerate/internal/kernel/sched"
	"linerate/internal/kernel/sock"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
)

// discardBytes bounds one read. Nothing is copied, so it may be large; it is
// bounded so that the count of a fast flow never lags by more than this.
const discardBytes = 4 << 20

var platform backend = direct

// directMover is direct's mover: for a sender, the candidates to choose from and how far
// the choosing is; for a receiver, where to read to and how long to sleep.
type directMover struct {
	thread bool // of its own
	wait   sched.Poller

	candidates []candidate
	current    int     // which of them is in use
	choice     *choice // nil: there is nothing, or no longer anything, to choose
	switchAt   int64   // when to query choice
	block      *sock.Block

	buffer    []byte         // nil: nothing is copied
	coalescer *readCoalescer // nil: the network wakes the receiver

	notes []string
	noted bool // a candidate's note is among the notes
	// ineffective are the notes of candidates that were tried and dropped.
	ineffective []string
	shown       atomic.Pointer[method]
}

// direct makes a mover that makes the system calls itself: no lock and no allocation per
// call. Flows without a mode wait in the runtime's poller when the socket has no room or
// no data; the others have a thread of their own for that, while there are some.
func direct(request message.FlowRequest, piece int) mover {
	r := &directMover{switchAt: math.MaxInt64, thread: request.Mode != "" && socket.ReserveThread()}
	if request.Sends {
		r.setUpSender(request.Mode, piece)
		return r
	}
	how := method{mode: flow.ModeTruncate, call: discardBytes}
	if request.Mode == flow.ModeCopy {
		r.buffer = make([]byte, chunkBytes)
		how = method{mode: flow.ModeCopy, call: chunkBytes}
	}
	if _, window := request.Buffers(); r.thread && window == 0 {
		// A small window would be full before it wakes.
		r.coalescer = new(readCoalescer)
	}
	r.shown.Store(&how)
	return r
}

// setUpSender makes a sender's candidates.
func (r *directMover) setUpSender(mode string, piece int) {
	if mode == flow.ModeAuto && !r.thread {
		r.notes = append(r.notes, "more flows than threads: plain writes, nothing tried")
		mode = ""
	}
	if mode != "" && mode != flow.ModeCopy {
		var err error
		if r.block, err = takeBlock(); err != nil {
			r.notes = append(r.notes, err.Error())
			mode = flow.ModeCopy
		}
	}
	var notes []string
	r.candidates, notes = newCandidates(mode, r.block, pieceBytes(piece))
	r.notes = append(r.notes, notes...)
	switch {
	case len(r.candidates) == 1:
		r.use(0)
	case mode == flow.ModeAuto || mode == flow.ModeWrite:
		r.choice = newChoice(len(r.candidates))
		r.use(0)
	default:
		r.use(1) // the one that was requested; the first is there to replace it
	}
}

// use changes to another candidate and shows it.
func (r *directMover) use(i int) {
	r.current = i
	r.show()
}

func (r *directMover) show() {
	p := r.candidates[r.current]
	r.shown.Store(&method{mode: p.mode, call: p.call, note: strings.Join(r.notes, "; ")})
}

func (r *directMover) method() method { return *r.shown.Load() }

func (r *directMover) close() {
	for _, p := range r.candidates {
		r.note(p)
		p.close()
	}
	if len(r.candidates) > 0 {
		r.show()
	}
	r.candidates = nil
	if r.block != nil {
		returnBlock()
		r.block = nil
	}
	if r.thread {
		socket.ReleaseThread()
	}
}

// next asks whose turn it is.
func (r *directMover) next(at int64, t *tally) {
	if r.choice == nil {
		r.switchAt = math.MaxInt64
		return
	}
	r.dropIneffective()
	spent := t.busy.Load()
	if r.thread {
		spent, _ = sched.ThreadCPU(0) // without what other threads of a busy machine took
	}
	i, chosen := r.choice.next(at, t.bytes.Load(), spent)
	r.switchAt = r.choice.turn
	if chosen {
		r.notes = append(r.notes, r.result())
		r.choice = nil
	}
	r.use(i)
}

// dropIneffective strikes the candidate in use from the list if the kernel did not do what it
// is for: then it costs what plain writes do, only elsewhere. Its note is of the choosing, as
// the flow goes on without it.
func (r *directMover) dropIneffective() {
	if note := r.candidates[r.current].note(); note != "" && !r.choice.refused[r.current] {
		r.choice.refused[r.current], r.noted = true, true
		r.ineffective = append(r.ineffective, note)
	}
}

// note adds to the notes what a candidate reports, the first time that it does.
func (r *directMover) note(p transmitter) {
	if note := p.note(); note != "" && !r.noted {
		r.notes = append(r.notes, note)
		r.noted = true
	}
}

// result is what the choosing has shown.
func (r *directMover) result() string {
	var tried []string
	for i, p := range r.candidates {
		if !r.choice.refused[i] {
			tried = append(tried, fmt.Sprintf("%s %.1f", p, r.choice.pace(i)))
		}
	}
	return flow.ModesTried + strings.Join(append(tried, r.ineffective...), ", ")
}

// fallBack gives up the candidate in use if err says that the kernel refuses it.
func (r *directMover) fallBack(at int64, err error, t *tally) bool {
	if r.current == 0 || !isUnsupported(err) {
		return false
	}
	r.notes = append(r.notes, fmt.Sprintf("%s: %v", r.candidates[r.current], err))
	if r.choice == nil {
		r.use(0)
		return true
	}
	r.choice.refused[r.current] = true
	r.next(at, t)
	return true
}

// push sends until there is no more room (false), or until nothing more is to
// be sent.
func (r *directMover) push(fd int, t *tally, s *flowset.Signals) (done bool, failed error) {
	for at := sched.Now(); ; {
		n, err := r.candidates[r.current].push(fd)
		began := at
		at = sched.Now()
		t.count(n, began, at)
		room := err != syscall.EAGAIN
		switch {
		case room && err != nil && err != syscall.EINTR && !r.fallBack(at, err, t):
			return true, os.NewSyscallError("send", err)
		case at >= s.Stop.Load() || s.Quit.Load():
			return true, nil
		case !room:
			return false, nil
		}
		if at >= r.switchAt {
			r.next(at, t)
		}
	}
}

// pull reads until there is no more data (false), or until the end.
func (r *directMover) pull(fd int, t *tally, s *flowset.Signals) (done bool, failed error) {
	most := discardBytes
	if r.buffer != nil {
		most = len(r.buffer)
	}
	for at := sched.Now(); ; {
		var n int
		var err error
		if r.buffer != nil {
			n, err = sock.Receive(fd, r.buffer)
		} else {
			n, err = sock.Discard(fd, most)
		}
		began := at
		at = sched.Now()
		t.count(n, began, at)
		switch {
		case s.Quit.Load():
			return true, nil
		case err == syscall.EAGAIN:
			return false, nil
		case err != nil && err != syscall.EINTR:
			return true, os.NewSyscallError("recv", err)
		case err == nil && n == 0: // the end of the stream
			return true, nil
		case r.thread && n < most:
			// That was all. The runtime's poller has to see EAGAIN, as it is
			// notified of changes only; a thread's wait sees what is there.
			return false, nil
		}
	}
}

func (r *directMover) send(c *net.TCPConn, t *tally, s *flowset.Signals) error {
	if r.choice != nil {
		r.choice.begin(sched.Now())
		r.switchAt = r.choice.turn
	}
	return r.move(c, true, t, s, r.push)
}

func (r *directMover) receive(c *net.TCPConn, t *tally, s *flowset.Signals) error {
	return r.move(c, false, t, s, r.pull)
}

// move steps until it is done, and waits in between: with a thread of its own in
// the kernel, otherwise in the runtime's poller.
func (r *directMover) move(c *net.TCPConn, writes bool, t *tally, s *flowset.Signals,
	step func(int, *tally, *flowset.Signals) (bool, error)) error {
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
				r.pause(int(fd), writes, t, s)
				if writes && sched.Now() >= s.Stop.Load() || s.Quit.Load() {
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

// pause waits for room or data, for the stop, or for a moment.
func (r *directMover) pause(fd int, writes bool, t *tally, s *flowset.Signals) {
	at := sched.Now()
	if r.coalescer != nil {
		if ns := r.coalescer.next(t.bytes.Load(), at); ns > 0 {
			r.wait.Sleep(time.Duration(ns))
			return
		}
	}
	limit := flowset.CheckInterval
	if writes {
		limit = min(limit, time.Duration(s.Stop.Load()-at))
	}
	if broken, _ := r.wait.Wait(fd, writes, limit); broken {
		// Completions of zero-copy sends, or an error that the next call returns.
		for _, p := range r.candidates {
			p.drain(fd)
		}
	}
}
