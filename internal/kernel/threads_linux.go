package kernel

import (
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// ThreadCPU is the processor time that each thread of this process has used, in
// nanoseconds, by thread ID. A thread that ended meanwhile is left out.
//
// It asks each thread's CPU clock (clock_getcpuclockid(3)) rather than
// /proc/self/task/TID/stat, which counts in hundredths of a second.
func ThreadCPU() (map[int]int64, error) {
	// A /proc of an outer process namespace numbers threads differently.
	if self, err := os.Readlink("/proc/self"); err != nil || self != strconv.Itoa(os.Getpid()) {
		return nil, &Error{Op: "list", Object: "threads in /proc/self/task", Err: errors.ErrUnsupported,
			Detail: "this /proc belongs to another process namespace"}
	}
	entries, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return nil, err
	}
	times := make(map[int]int64, len(entries))
	for _, entry := range entries {
		tid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		// MAKE_THREAD_CPUCLOCK (linux/posix-timers.h): per thread, CPUCLOCK_SCHED.
		var ts unix.Timespec
		if unix.ClockGettime(int32(^tid<<3|4|2), &ts) == nil {
			times[tid] = ts.Nano()
		}
	}
	return times, nil
}
