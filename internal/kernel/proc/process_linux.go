package proc

import (
	"time"

	"golang.org/x/sys/unix"
)

// TotalCPUTime is the processor time that this process has used
// (CLOCK_PROCESS_CPUTIME_ID). Unlike CPUTime it includes the current tick of all threads.
func TotalCPUTime() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}
