package socket

import (
	"runtime"
	"sync/atomic"
)

// ThreadsPerProcessor limits how many flows have a thread of their own, which waits in the kernel. The others
// share the runtime's threads and poller, which suits many flows better.
const ThreadsPerProcessor = 4

var threads atomic.Int32

// ReserveThread reserves a thread; it returns false if the limit is reached.
func ReserveThread() bool {
	if threads.Add(1) > int32(ThreadsPerProcessor*runtime.GOMAXPROCS(0)) {
		threads.Add(-1)
		return false
	}
	return true
}

// Threads returns the number of reserved threads.
func Threads() int { return int(threads.Load()) }

// ReleaseThread ends a reservation.
func ReleaseThread() { threads.Add(-1) }
