package traffic

import (
	"time"

	"linerate/internal/kernel/proc"
	"linerate/internal/kernel/sched"
)

// cpuShare holds the values of GeneratorCPU's previous call.
type cpuShare struct {
	at   int64
	cpu  time.Duration
	busy map[FlowEngine][]int64 // by worker
}

// GeneratorCPU returns the share of one processor that the busiest flow's worker used since the previous call
// (the first time: since New). It may be too high, never too low.
//
// It is the smaller of two upper bounds: the busy time of the busiest worker, which includes what the scheduler
// or interrupts took, and the CPU time of the whole process. Near 1, this program rather than the network
// limited the flow.
func (e *Engine) GeneratorCPU() float64 {
	engines := e.all()
	at, cpu := sched.Now(), proc.TotalCPUTime()
	busiest := int64(0)
	busy := map[FlowEngine][]int64{}
	for _, c := range engines {
		busy[c] = c.Busy()
	}
	cpu += e.Outside()
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range engines {
		for i, spent := range busy[c] {
			if before := e.cpu.busy[c]; i < len(before) {
				spent -= before[i]
			}
			busiest = max(busiest, spent)
		}
	}
	elapsed, process := at-e.cpu.at, int64(cpu-e.cpu.cpu)
	e.cpu = cpuShare{at: at, cpu: cpu, busy: busy}
	if elapsed <= 0 {
		return 0
	}
	return float64(min(busiest, process)) / float64(elapsed)
}

// Outside returns the CPU time of this program's worker processes, as of the latest reading.
func (e *Engine) Outside() time.Duration { return time.Duration(e.transaction.ProcessesCPU()) }
