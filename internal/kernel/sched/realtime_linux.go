//go:build !portable

package sched

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// WithRealtime runs f on its own thread with the lowest real-time priority (SCHED_FIFO, sched(7)), so that it
// is punctual on a busy machine. Without CAP_SYS_NICE it runs f with the default policy.
func WithRealtime(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		// Never unlocked: the thread ends with the goroutine.
		runtime.LockOSThread()
		_ = unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 1}, 0)
		f()
	}()
	<-done
}
