//go:build !linux

package kernel

// Urgently runs f as anybody would: priorities are Linux's here.
func Urgently(f func()) { f() }
