//go:build !portable

package sched

import (
	"math"
	"time"

	"golang.org/x/sys/unix"
)

// start and startNs are the same instant on the runtime's clock and on CLOCK_MONOTONIC. The runtime reads that
// clock without a system call, but does not export its value.
var start, startNs = together()

// together reads both clocks at one instant, up to half the time between two system calls.
func together() (at time.Time, ns int64) {
	for shortest, i := int64(math.MaxInt64), 0; i < 10; i++ {
		before, now, after := monotonic(), time.Now(), monotonic()
		if after-before < shortest {
			shortest, at, ns = after-before, now, before+(after-before)/2
		}
	}
	return at, ns
}

func monotonic() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic("clock_gettime(CLOCK_MONOTONIC): " + err.Error()) // cannot fail on Linux
	}
	return ts.Nano()
}

// Now returns the machine's monotonic clock in nanoseconds (CLOCK_MONOTONIC), which is the same in every
// network namespace.
func Now() int64 { return startNs + int64(time.Since(start)) }

// Deadline converts a time of Now for the runtime's timers.
func Deadline(ns int64) time.Time { return start.Add(time.Duration(ns - startNs)) }

// SleepUntil sleeps until a time of Now. Unlike the runtime's timers, clock_nanosleep(2) does not round up to a
// millisecond.
func SleepUntil(ns int64) {
	until := unix.NsecToTimespec(ns)
	for unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &until, nil) == unix.EINTR {
	}
}

// TimerTick returns the time between two ticks of a kernel without high-resolution timers
// (CONFIG_HIGH_RES_TIMERS); 0 if it has them.
func TimerTick() time.Duration {
	var resolution unix.Timespec
	if err := unix.ClockGetres(unix.CLOCK_MONOTONIC, &resolution); err != nil ||
		resolution.Nano() <= int64(time.Microsecond) {
		return 0
	}
	return time.Duration(resolution.Nano())
}

// HZ returns the kernel's ticks per second (CONFIG_HZ), from the resolution of its coarse clock; 0 if unknown.
func HZ() int64 {
	var tick unix.Timespec
	if err := unix.ClockGetres(unix.CLOCK_MONOTONIC_COARSE, &tick); err != nil || tick.Nano() <= 0 {
		return 0
	}
	return int64(math.Round(1e9 / float64(tick.Nano())))
}
