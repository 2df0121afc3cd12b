//go:build !linux

package kernel

// Release is empty where it has not been asked for.
func Release() string { return "" }
