package sched

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

// bound are the threads that are, with those who want it so: a thread may work for
// several.
var bound = struct {
	sync.Mutex
	threads map[int]*binding
}{threads: map[int]*binding{}}

type binding struct {
	cpu     int
	wanting map[*CPUBinding]bool
}

// A CPUBinding is somebody's wish that a thread runs on one CPU (sched_setaffinity(2)). Of
// several that are about the same thread, the latest counts.
type CPUBinding struct{ thread int } // 0: none

// Bind has the calling thread run on a CPU from now on, if it may at all. A thread that
// this Place was about before is let go.
func (p *CPUBinding) Bind(cpu int) bool {
	free, err := allowed()
	if err != nil || cpu < 0 || !free.IsSet(cpu) {
		return false
	}
	thread := ThreadID()
	if p.thread != thread {
		p.Release()
	}
	bound.Lock()
	defer bound.Unlock()
	b := bound.threads[thread]
	if b == nil || b.cpu != cpu {
		var one unix.CPUSet
		one.Set(cpu)
		if unix.SchedSetaffinity(thread, &one) != nil {
			return false
		}
	}
	if b == nil {
		b = &binding{wanting: map[*CPUBinding]bool{}}
		bound.threads[thread] = b
	}
	b.cpu, b.wanting[p] = cpu, true
	p.thread = thread
	return true
}

// Release ends the wish. A thread of which nobody wants anything may run wherever this
// process may. Any thread may call it.
func (p *CPUBinding) Release() {
	if p.thread == 0 {
		return
	}
	bound.Lock()
	defer bound.Unlock()
	b := bound.threads[p.thread]
	if delete(b.wanting, p); len(b.wanting) == 0 {
		delete(bound.threads, p.thread)
		if free, err := allowed(); err == nil {
			_ = unix.SchedSetaffinity(p.thread, &free)
		}
	}
	p.thread = 0
}
