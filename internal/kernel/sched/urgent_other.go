//go:build !linux

package sched

// Urgently runs f as anybody would: priorities are Linux's here.
func Urgently(f func()) { f() }
