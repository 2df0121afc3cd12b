//go:build !linux

package sock

// LinkSpeed is what a port's link has negotiated, in bit/s; on Linux only.
func LinkSpeed(string) float64 { return 0 }
