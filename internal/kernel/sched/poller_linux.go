package sched

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Poller lets a thread of its own wait for a socket, without the runtime's
// poller: the kernel wakes the very thread that then goes on. It holds the memory
// that takes, so that waiting needs none.
type Poller struct {
	// Raw: whoever waits keeps his processor of the runtime's, of which there has
	// to be one for him alone (GOMAXPROCS). It spares the scheduler's work twice a
	// wait; a signal, as the runtime sends to who is to stop, ends the wait.
	Raw bool

	poll  unix.PollFd
	limit unix.Timespec
}

// Wait waits until a socket can be read (or written), but no longer than limit.
// failed: something is in its error queue, or it is broken.
func (w *Poller) Wait(fd int, write bool, limit time.Duration) (failed bool, err error) {
	w.poll = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
	if write {
		w.poll.Events = unix.POLLOUT
	}
	w.limit = unix.NsecToTimespec(int64(max(limit, 0)))
	var errno unix.Errno
	if w.Raw {
		_, _, errno = unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&w.poll)), 1, uintptr(unsafe.Pointer(&w.limit)), 0, 0, 0)
	} else {
		_, _, errno = unix.Syscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&w.poll)), 1, uintptr(unsafe.Pointer(&w.limit)), 0, 0, 0)
	}
	if errno != 0 && errno != unix.EINTR {
		return false, errno
	}
	return errno == 0 && w.poll.Revents&unix.POLLERR != 0, nil
}

// Sleep sleeps, or less long if a signal comes. See SetTimerSlack.
func (w *Poller) Sleep(d time.Duration) {
	w.limit = unix.NsecToTimespec(int64(d))
	_, _, _ = unix.Syscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, 0, uintptr(unsafe.Pointer(&w.limit)), 0, 0, 0)
}

// SleepUntil is Nap until an instant of Now.
func (w *Poller) SleepUntil(ns int64) {
	w.limit = unix.NsecToTimespec(ns)
	_, _, _ = unix.Syscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, uintptr(unsafe.Pointer(&w.limit)), 0, 0, 0)
}

// SetTimerSlack lets the calling thread's timers end within a microsecond rather
// than within fifty (PR_SET_TIMERSLACK, prctl(2)); false: as usual.
func SetTimerSlack(sharp bool) {
	slack := uintptr(0) // the thread's default
	if sharp {
		slack = 1000
	}
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, slack, 0, 0, 0)
}

// SetBatch has the calling thread wait for a processor that another one has, rather
// than take it at once when it is woken (SCHED_BATCH, sched(7)): the other can
// finish what it is at. What it returns undoes that.
func SetBatch() (undo func()) {
	attr, err := unix.SchedGetAttr(0, 0)
	if err != nil || attr.Policy != unix.SCHED_NORMAL {
		return func() {} // somebody has chosen something else
	}
	set := func(policy uint32) {
		attr.Policy = policy
		_ = unix.SchedSetAttr(0, attr, 0)
	}
	set(unix.SCHED_BATCH)
	return func() { set(unix.SCHED_NORMAL) }
}

// CurrentThreadCPU is the processor time that the calling thread has used, in nanoseconds.
func CurrentThreadCPU() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		return 0
	}
	return ts.Nano()
}
