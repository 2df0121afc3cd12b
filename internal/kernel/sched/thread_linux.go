package sched

import "golang.org/x/sys/unix"

// ThreadID returns the calling thread's ID (gettid(2)).
func ThreadID() int { return unix.Gettid() }

// ThreadCPU returns the processor time in nanoseconds of a thread of this process; id 0 is the calling thread.
// It returns false if the thread has ended.
func ThreadCPU(id int) (int64, bool) {
	// The clock of a thread as clock_getcpuclockid(3) makes it: CPUCLOCK_SCHED, per
	// thread.
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^id<<3|6), &ts); err != nil {
		return 0, false
	}
	return ts.Nano(), true
}
