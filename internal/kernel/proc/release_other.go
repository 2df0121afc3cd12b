//go:build !linux || portable

package proc

// Release is empty on this system.
func Release() string { return "" }
