//go:build !linux

package proc

// Release is empty on this system.
func Release() string { return "" }
