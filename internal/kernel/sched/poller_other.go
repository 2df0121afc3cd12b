//go:build !linux

package sched

// SetTimerSlack does nothing here: timers are as sharp as they are.
func SetTimerSlack(bool) {}
