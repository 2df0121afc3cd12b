//go:build !linux

package proc

// Release is empty where it has not been asked for.
func Release() string { return "" }
