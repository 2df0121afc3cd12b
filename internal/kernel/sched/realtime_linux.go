package sched

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// WithRealtime runs f on a thread of its own that the scheduler prefers to ordinary
// ones (sched(7), SCHED_FIFO at its lowest priority), so that an instant is kept
// on a busy machine too. Without the privilege (CAP_SYS_NICE) it runs f as
// anybody would.
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
