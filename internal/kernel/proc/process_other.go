//go:build !linux

package proc

import "time"

// TotalCPUTime is the processor time that this process has used.
func TotalCPUTime() time.Duration {
	user, system := CPUTime()
	return user + system
}
