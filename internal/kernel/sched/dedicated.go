package sched

import (
	"runtime"
	"sync"
)

// dedicated is the number of threads that keep a processor of the Go scheduler.
var dedicated struct {
	mu sync.Mutex
	n  int
}

// Dedicate lets a thread keep one of the Go scheduler's processors (P), which a goroutine that is locked to a thread
// needs for raw system calls that wait. Releasing and reacquiring the processor would take a part of the measured time.
// With more such threads than CPUs, keeping it would cost more: unless the thread must, ok is then false. GOMAXPROCS is
// raised by one for each of them, so that readings are taken in time. Call release when the thread ends; after ok is
// false it does nothing.
func Dedicate(must bool) (release func(), ok bool) {
	dedicated.mu.Lock()
	defer dedicated.mu.Unlock()
	if !must && dedicated.n >= runtime.NumCPU() {
		return func() {}, false
	}
	dedicated.n++
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
	return func() {
		dedicated.mu.Lock()
		defer dedicated.mu.Unlock()
		dedicated.n--
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) - 1)
	}, true
}
