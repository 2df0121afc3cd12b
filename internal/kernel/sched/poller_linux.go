package sched

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Poller waits for a socket on the calling thread, without the runtime's poller, so that the kernel wakes this
// thread directly. Waiting allocates nothing.
type Poller struct {
	// Raw says not to report the wait to the runtime's scheduler, so that the caller keeps one of its
	// processors (GOMAXPROCS). This saves the scheduler's work twice per wait. A signal, with which the runtime
	// preempts threads, ends the wait.
	Raw bool

	poll  unix.PollFd
	limit unix.Timespec
}

// Wait waits until a socket can be read (or written), at most for limit (ppoll(2)). failed means that its error
// queue has an entry, or that it is broken.
func (w *Poller) Wait(fd int, write bool, limit time.Duration) (failed bool, err error) {
	w.poll = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
	if write {
		w.poll.Events = unix.POLLOUT
	}
	w.limit = unix.NsecToTimespec(int64(max(limit, 0)))
	var errno unix.Errno
	if w.Raw {
		_, _, errno = unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&w.poll)), 1,
			uintptr(unsafe.Pointer(&w.limit)), 0, 0, 0)
	} else {
		_, _, errno = unix.Syscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&w.poll)), 1,
			uintptr(unsafe.Pointer(&w.limit)), 0, 0, 0)
	}
	if errno != 0 && errno != unix.EINTR {
		return false, errno
	}
	return errno == 0 && w.poll.Revents&unix.POLLERR != 0, nil
}

// Ready reports whether the last Wait ended because the socket can be read or written or has failed, rather
// than by its limit or a signal.
func (w *Poller) Ready() bool { return w.poll.Revents != 0 }

// Sleep sleeps for d, or less if a signal arrives. See SetTimerSlack.
func (w *Poller) Sleep(d time.Duration) {
	w.limit = unix.NsecToTimespec(int64(d))
	_, _, _ = unix.Syscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, 0, uintptr(unsafe.Pointer(&w.limit)), 0, 0,
		0)
}

// SleepUntil sleeps until a time of Now, or less if a signal arrives.
func (w *Poller) SleepUntil(ns int64) {
	w.limit = unix.NsecToTimespec(ns)
	_, _, _ = unix.Syscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME,
		uintptr(unsafe.Pointer(&w.limit)), 0, 0, 0)
}

// SetTimerSlack makes the calling thread's timers expire up to a microsecond late (sharp) or, by default, up to
// 50 µs (PR_SET_TIMERSLACK, prctl(2)).
func SetTimerSlack(sharp bool) {
	slack := uintptr(0) // the thread's default
	if sharp {
		slack = 1000
	}
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, slack, 0, 0, 0)
}

// SetBatch sets the calling thread's scheduling policy to SCHED_BATCH (sched(7)): when
// it is woken it does not preempt the running thread. It returns a function that sets the
// policy back; neither does anything if the policy is not the default one.
func SetBatch() (undo func()) {
	attr, err := unix.SchedGetAttr(0, 0)
	if err != nil || attr.Policy != unix.SCHED_NORMAL {
		return func() {}
	}
	set := func(policy uint32) {
		attr.Policy = policy
		_ = unix.SchedSetAttr(0, attr, 0)
	}
	set(unix.SCHED_BATCH)
	return func() { set(unix.SCHED_NORMAL) }
}

// Yield lets another thread that waits for this processor run first (sched_yield(2)).
func Yield() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
