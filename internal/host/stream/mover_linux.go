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

// discardBytes limits one read. Nothing is copied, so it may be large; the count of a fast flow lags by at most
// this much.
const discardBytes = 4 << 20

var platform backend = direct

// directMover is the mover that direct returns. A sender has candidates and the state of the choice between
// them; a receiver has a buffer and a coalescer.
type directMover struct {
	thread bool // has a thread of its own
	wait   sched.Poller

	candidates []candidate
	current    int     // index of the candidate in use
	choice     *choice // nil: no choice, or the choice is made
	switchAt   int64   // when to call choice.next
	block      *sock.Block

	buffer    []byte         // nil: data is discarded without copying
	coalescer *readCoalescer // nil: the network wakes the receiver

	notes []string
	noted bool // the candidate's note has been added
	// ineffective holds the notes of candidates that were tried and dropped.
	ineffective []string
	shown       atomic.Pointer[method]
}

// direct returns a mover that makes system calls itself, without a lock or an allocation per call. Flows
// without a mode wait in the runtime's poller when the socket has no room or no data; the others wait in a
// thread of their own while there are some.
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
		// A small window would be full before the receiver wakes.
		r.coalescer = new(readCoalescer)
	}
	r.shown.Store(&how)
	return r
}

// setUpSender creates a sender's candidates.
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
		r.use(1) // the requested one; the first is the fallback
	}
}

// use changes to candidate i and publishes that.
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

// next asks choice for the candidate to use next.
func (r *directMover) next(at int64, t *tally) {
	if r.choice == nil {
		r.switchAt = math.MaxInt64
		return
	}
	r.dropIneffective()
	spent := t.busy.Load()
	if r.thread {
		spent, _ = sched.ThreadCPU(0) // excludes time used by other threads of a busy machine
	}
	i, chosen := r.choice.next(at, t.bytes.Load(), spent)
	r.switchAt = r.choice.turn
	if chosen {
		r.notes = append(r.notes, r.result())
		r.choice = nil
	}
	r.use(i)
}

// dropIneffective drops the candidate in use if the kernel did not do what the candidate relies on: then it
// costs what plain writes do. Its note is kept for the result of the choice.
func (r *directMover) dropIneffective() {
	if note := r.candidates[r.current].note(); note != "" && !r.choice.refused[r.current] {
		r.choice.refused[r.current], r.noted = true, true
		r.ineffective = append(r.ineffective, note)
	}
}

// note adds a candidate's note, once.
func (r *directMover) note(p transmitter) {
	if note := p.note(); note != "" && !r.noted {
		r.notes = append(r.notes, note)
		r.noted = true
	}
}

// result describes the outcome of the choice.
func (r *directMover) result() string {
	var tried []string
	for i, p := range r.candidates {
		if !r.choice.refused[i] {
			tried = append(tried, fmt.Sprintf("%s %.1f", p, r.choice.pace(i)))
		}
	}
	return flow.ModesTried + strings.Join(append(tried, r.ineffective...), ", ")
}

// fallBack drops the candidate in use if err means that the kernel refuses it, and reports whether it did.
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

// push sends until there is no more room (done is false) or nothing more to send.
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

// pull reads until there is no more data (done is false) or the stream ends.
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
			// That was all. The runtime's poller needs EAGAIN first, as it is notified of changes only; a
			// thread's wait sees what is there.
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

// move repeats push or pull until done and waits between calls: in the kernel if the flow has a thread of its
// own, otherwise in the runtime's poller.
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

// pause waits for room or data, for the stop, or for a short time.
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
