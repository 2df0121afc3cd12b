//go:build !linux

package sched

// SetTimerSlack does nothing on this system.
func SetTimerSlack(bool) {}
