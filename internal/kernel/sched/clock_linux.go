//go:build !portable

package sched

import (
	"math"
	"time"

	"golang.org/x/sys/unix"
)

// start is an instant of the runtime's clock, and startNs the same instant of CLOCK_MONOTONIC. The
// runtime reads that clock without a system call, and does not export its value.
var start, startNs = together()

// together reads both clocks at one instant, but for half of the time between two system calls.
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

// Now is the machine's monotonic clock in nanoseconds (CLOCK_MONOTONIC), the
// same in every network namespace of a machine.
func Now() int64 { return startNs + int64(time.Since(start)) }

// Deadline is an instant of Now for the runtime's timers.
func Deadline(ns int64) time.Time { return start.Add(time.Duration(ns - startNs)) }

// SleepUntil sleeps until an instant of Now. Unlike the runtime's timers,
// clock_nanosleep(2) does not round up to a millisecond.
func SleepUntil(ns int64) {
	until := unix.NsecToTimespec(ns)
	for unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &until, nil) == unix.EINTR {
	}
}

// TimerTick is the time between two ticks of a kernel whose timers have no high resolution
// (CONFIG_HIGH_RES_TIMERS); 0: they have.
func TimerTick() time.Duration {
	var resolution unix.Timespec
	if err := unix.ClockGetres(unix.CLOCK_MONOTONIC, &resolution); err != nil ||
		resolution.Nano() <= int64(time.Microsecond) {
		return 0
	}
	return time.Duration(resolution.Nano())
}

// HZ is how many ticks a second the kernel is built with (CONFIG_HZ), by the resolution of its
// coarse clock; 0: not known.
func HZ() int64 {
	var tick unix.Timespec
	if err := unix.ClockGetres(unix.CLOCK_MONOTONIC_COARSE, &tick); err != nil || tick.Nano() <= 0 {
		return 0
	}
	return int64(math.Round(1e9 / float64(tick.Nano())))
}
