//go:build !linux || portable

package sched

import (
	"errors"
	"os"
	"time"
)

var started = time.Now()

// Now returns a monotonic clock in nanoseconds since the process started.
func Now() int64 { return int64(time.Since(started)) }

// Deadline converts a time of Now for the runtime's timers.
func Deadline(ns int64) time.Time { return started.Add(time.Duration(ns)) }

// SleepUntil sleeps until a time of Now.
func SleepUntil(ns int64) { time.Sleep(time.Until(Deadline(ns))) }

// TimerTick returns 0: unknown.
func TimerTick() time.Duration { return 0 }

// HZ returns 0: unknown.
func HZ() int64 { return 0 }

// AllowedCPUs returns nil: unknown.
func AllowedCPUs() []int { return nil }

// Nice returns 0: unknown.
func Nice() int { return 0 }

// WithRealtime runs f; real-time priority is used on Linux only.
func WithRealtime(f func()) { f() }

// Spin never spins.
type Spin struct{}

// Counts returns 0.
func (*Spin) Counts() (waits, ns int64) { return 0, 0 }

// ReadWithin returns an error; only the guard of settings needs it, on Linux.
func ReadWithin(*os.File, []byte, time.Duration) (int, error) { return 0, errors.ErrUnsupported }
