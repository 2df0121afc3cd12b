//go:build !portable

package sched

import (
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// allowed returns the CPUs that this process's threads could run on before the first thread was bound.
var allowed = sync.OnceValues(func() (set unix.CPUSet, err error) {
	err = unix.SchedGetaffinity(0, &set)
	return set, err
})

// AllowedCPUs returns the numbers of the CPUs on which this process may run; nil if unknown.
func AllowedCPUs() (list []int) {
	set, err := allowed()
	if err != nil {
		return nil
	}
	for cpu := range 8 * len(set) * int(unsafe.Sizeof(set[0])) {
		if set.IsSet(cpu) {
			list = append(list, cpu)
		}
	}
	return list
}

// Nice returns the nice value of this process (getpriority(2)); 0 also if unknown.
func Nice() int {
	const none = 20 // the system call returns 20 minus the value
	raw, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		return 0
	}
	return none - raw
}

// bound maps each bound thread to its CPUBinding: a thread may work for several owners.
var bound = struct {
	sync.Mutex
	threads map[int]*binding
}{threads: map[int]*binding{}}

type binding struct {
	cpu    int
	owners map[*CPUBinding]bool
}

// CPUBinding keeps a thread on one CPU (sched_setaffinity(2)). If several bindings concern the same thread,
// the latest applies. The zero value binds no thread.
type CPUBinding struct{ thread int } // 0: none

// Bind keeps the calling thread on a CPU and releases the thread bound before. It returns false if the process
// may not run on that CPU.
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
		b = &binding{owners: map[*CPUBinding]bool{}}
		bound.threads[thread] = b
	}
	b.cpu, b.owners[p] = cpu, true
	p.thread = thread
	return true
}

// Release ends the binding; the thread may then run wherever the process may. Any thread may call it.
func (p *CPUBinding) Release() {
	if p.thread == 0 {
		return
	}
	bound.Lock()
	defer bound.Unlock()
	b := bound.threads[p.thread]
	if delete(b.owners, p); len(b.owners) == 0 {
		delete(bound.threads, p.thread)
		if free, err := allowed(); err == nil {
			_ = unix.SchedSetaffinity(p.thread, &free)
		}
	}
	p.thread = 0
}
