package kernel

import (
	"sync"

	"golang.org/x/sys/unix"
)

// IncomingCPU is the CPU at which a socket's latest packet came in
// (SO_INCOMING_CPU, socket(7)); -1: none has, or the kernel does not say.
func IncomingCPU(fd int) int {
	cpu, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_INCOMING_CPU)
	if err != nil {
		return -1
	}
	return cpu
}

// allowed is where this process's threads may run, as it was before the first was
// bound.
var allowed = sync.OnceValues(func() (set unix.CPUSet, err error) {
	err = unix.SchedGetaffinity(0, &set)
	return set, err
})

// A Place binds a thread to one CPU, and lets it go again (sched_setaffinity(2)).
type Place struct {
	thread int // 0: none is bound
	cpu    int
}

// Bind has the calling thread run on a CPU from now on, if it may at all. A thread that
// was bound before is let go.
func (p *Place) Bind(cpu int) bool {
	thread := ThreadID()
	if p.thread == thread && p.cpu == cpu {
		return true
	}
	free, err := allowed()
	if err != nil || cpu < 0 || !free.IsSet(cpu) {
		return false
	}
	if p.thread != thread {
		p.Free()
	}
	var one unix.CPUSet
	one.Set(cpu)
	if unix.SchedSetaffinity(thread, &one) != nil {
		return false
	}
	p.thread, p.cpu = thread, cpu
	return true
}

// Free lets the thread run wherever this process may. Any thread may call it.
func (p *Place) Free() {
	if free, err := allowed(); p.thread != 0 && err == nil {
		_ = unix.SchedSetaffinity(p.thread, &free)
	}
	p.thread = 0
}
