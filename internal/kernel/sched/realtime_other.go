//go:build !linux || portable

package sched

// WithRealtime runs f; real-time priority is used on Linux only.
func WithRealtime(f func()) { f() }
