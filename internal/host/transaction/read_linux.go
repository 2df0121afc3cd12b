//go:build !portable

package transaction

import (
	"fmt"

	"linerate/internal/kernel/sched"
)

// note says where a thread that follows its packets runs now.
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
			return verb + " wherever it is woken up: it may not run where its packets come in"
		}
	}
	return ""
}

// Busy is the CPU time that each thread has used, in ns; of a polling one, without
// polls that returned nothing.
func (f *rrFlow) Busy() (ns []int64) {
	for _, w := range f.threads() {
		ns = append(ns, w.busy())
	}
	if f.sharesListener() {
		// The listener's thread may serve others, too.
		var cpu int64
		if id := f.listenerThread.Load(); id != 0 && !f.polls {
			cpu, _ = sched.ThreadCPU(int(id))
		}
		ns = append(ns, cpu)
	}
	return ns
}

// ProcessesCPU is the CPU time, in ns, of the worker processes, as of the latest
// reading.
func (e *Engine) ProcessesCPU() (ns int64) {
	for _, f := range e.All() {
		if g, ok := f.(*processGroup); ok {
			ns += g.cpu.Load()
		}
	}
	return ns
}
