//go:build !portable

package transaction

import (
	"fmt"

	"linerate/internal/kernel/sched"
	"linerate/internal/model/record"
)

// note describes where threads that follow their packets run.
func (f *rrFlow) note() string {
	for _, w := range f.threads() {
		verb := "responds"
		if f.isClient {
			verb = "asks"
		}
		switch cpu := w.cpu.Load(); {
		case cpu > 0:
			return fmt.Sprintf("%s on CPU %d", verb, cpu-1)
		case cpu < 0:
			return verb + " on any CPU: it is not permitted to bind to the one that its packets arrive on"
		}
	}
	return ""
}

// Busy returns the CPU time of each thread in ns. For a polling thread, polls that returned nothing
// are excluded.
func (f *rrFlow) Busy() (ns []int64) {
	for _, w := range f.threads() {
		ns = append(ns, w.busy())
	}
	if f.sharesListener() {
		// The thread of the listener may serve other flows too.
		var cpu int64
		if id := f.listenerThread.Load(); id != 0 && !f.polls {
			cpu, _ = sched.ThreadCPU(int(id))
		}
		ns = append(ns, cpu)
	}
	return ns
}

// ProcessesCPU returns the CPU time of the worker processes at the latest reading, in ns.
func (e *Engine) ProcessesCPU() (ns int64) {
	for _, f := range e.All() {
		if g, ok := f.(*processGroup); ok {
			ns += g.cpu.Load()
		}
	}
	return ns
}

// waits returns how the threads wait.
func (f *rrFlow) waits() string {
	if f.polls {
		return record.WaitPoll
	}
	return record.WaitSleep
}
