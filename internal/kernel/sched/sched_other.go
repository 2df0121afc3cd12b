//go:build !linux || portable

package sched

import (
	"errors"
	"os"
	"time"
)

var started = time.Now()

// Now is a monotonic clock in nanoseconds since the process started.
func Now() int64 { return int64(time.Since(started)) }

// Deadline is an instant of Now for the runtime's timers.
func Deadline(ns int64) time.Time { return started.Add(time.Duration(ns)) }

// SleepUntil sleeps until an instant of Now.
func SleepUntil(ns int64) { time.Sleep(time.Until(Deadline(ns))) }

// TimerTick is not known here: 0.
func TimerTick() time.Duration { return 0 }

// HZ is not known here: 0.
func HZ() int64 { return 0 }

// AllowedCPUs is not known here: nil.
func AllowedCPUs() []int { return nil }

// Nice is not known here: 0.
func Nice() int { return 0 }

// WithRealtime runs f; real-time priority is used on Linux only.
func WithRealtime(f func()) { f() }

// ReadWithin is for the guard of settings, which are changed on Linux only.
func ReadWithin(*os.File, []byte, time.Duration) (int, error) { return 0, errors.ErrUnsupported }
