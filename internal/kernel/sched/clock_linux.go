//go:build !portable

package sched

import "golang.org/x/sys/unix"

// Now is the machine's monotonic clock in nanoseconds (CLOCK_MONOTONIC), the
// same in every network namespace of a machine.
func Now() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic("clock_gettime(CLOCK_MONOTONIC): " + err.Error()) // cannot fail on Linux
	}
	return ts.Nano()
}

// SleepUntil sleeps until an instant of Now. Unlike the runtime's timers,
// clock_nanosleep(2) does not round up to a millisecond.
func SleepUntil(ns int64) {
	until := unix.NsecToTimespec(ns)
	for unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &until, nil) == unix.EINTR {
	}
}
