package sched

import "golang.org/x/sys/unix"

// ThreadID names the calling thread to ThreadCPU.
func ThreadID() int { return unix.Gettid() }

// ThreadCPU is the processor time that a thread of this process has used, in
// nanoseconds. False: there is no such thread any more.
func ThreadCPU(id int) (int64, bool) {
	// The clock of a thread, as clock_getcpuclockid(3) makes it: CPUCLOCK_SCHED
	// of one thread.
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^id<<3|6), &ts); err != nil {
		return 0, false
	}
	return ts.Nano(), true
}
