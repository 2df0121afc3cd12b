//go:build !linux

package proc

// OpenFiles is 0: it is not read on this system.
func OpenFiles() int { return 0 }

// ThreadRoom names no limit on this system.
func ThreadRoom() (left int64, why string) { return 0, "" }

// MemoryLimit names no limit on this system.
func MemoryLimit() (bytes int64, why string) { return 0, "" }
