package socket

import (
	"runtime"
	"sync/atomic"
)

// ThreadsPerProcessor bounds how many flows of this process have a thread of
// their own, which waits in the kernel and is woken there. The others share the
// runtime's threads and its poller, which many flows do better with.
const ThreadsPerProcessor = 4

var threads atomic.Int32

// ReserveThread reserves a thread. False: there are enough.
func ReserveThread() bool {
	if threads.Add(1) > int32(ThreadsPerProcessor*runtime.GOMAXPROCS(0)) {
		threads.Add(-1)
		return false
	}
	return true
}

// Threads is how many are reserved.
func Threads() int { return int(threads.Load()) }

// ReleaseThread ends a reservation.
func ReleaseThread() { threads.Add(-1) }
