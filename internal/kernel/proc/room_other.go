//go:build !linux

package proc

// OpenFiles returns 0 on this system.
func OpenFiles() int { return 0 }

// ThreadRoom reports no limit on this system.
func ThreadRoom() (left int64, why string) { return 0, "" }

// MemoryLimit reports no limit on this system.
func MemoryLimit() (bytes int64, why string) { return 0, "" }
