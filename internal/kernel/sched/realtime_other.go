//go:build !linux

package sched

// WithRealtime runs f as anybody would: priorities are Linux's here.
func WithRealtime(f func()) { f() }
