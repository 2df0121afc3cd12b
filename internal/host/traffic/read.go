package traffic

import (
	"fmt"
	"time"

	"linerate/internal/kernel"
	"linerate/internal/model/record"
)

// silentTimeouts is how many retransmission timeouts in a row make a peer that
// neither answers nor resets count as gone: about three seconds on a short path.
// The kernel itself keeps trying for a quarter of an hour (tcp_retries2).
const silentTimeouts = 4

// Read is every flow's state at this instant, in the order of the orders. The
// byte counts of all flows are taken first, each with its own instant, within
// microseconds of each other; what needs system calls follows.
func (e *Engine) Read() []record.FlowEnd {
	flows := e.all()
	out := make([]record.FlowEnd, len(flows))
	infos := make([]record.TCPInfo, len(flows))
	for i, f := range flows {
		bytes := f.tally.bytes.Load()
		out[i].AtNs = now()
		if f.order.Sends {
			out[i].WrittenBytes = bytes
		} else {
			out[i].ReceivedBytes = bytes
		}
		out[i].FirstNs, out[i].LastNs = f.tally.first.Load(), f.tally.last.Load()
	}
	for i, f := range flows {
		f.describe(&out[i], &infos[i])
	}
	return out
}

// describe adds what the books and the kernel know.
func (f *flow) describe(out *record.FlowEnd, info *record.TCPInfo) {
	out.ID, out.Sends = f.order.ID, f.order.Sends
	end, local, failure := f.state()
	out.Local, out.Error = local, failure
	out.Alive = end != nil && failure == ""
	if end == nil {
		return
	}
	out.CongestionControl = end.congestion
	out.SndbufBytes, out.RcvbufBytes = int64(end.send), int64(end.recv)
	known := onSocket(end.raw, func(fd int) (err error) {
		if f.order.Sends {
			out.UnsentBytes, _ = kernel.SendQueue(fd)
		}
		*info, err = kernel.TCPInfo(fd)
		return err
	}) == nil
	if !known {
		return
	}
	out.Info = info
	if out.Alive && f.order.Sends && info.Backoff >= silentTimeouts {
		out.Alive = false
		out.Error = fmt.Sprintf("send %s: no answer to %d retransmissions in a row", f.name(), info.Backoff)
	}
}

// Light is a cheap reading for a series: the bytes received so far where this
// end receives, round-trip time and congestion window where it sends.
func (e *Engine) Light() []record.FlowSample {
	flows := e.all()
	out := make([]record.FlowSample, len(flows))
	for i, f := range flows {
		out[i].ID = f.order.ID
		if !f.order.Sends {
			out[i].ReceivedBytes = f.tally.bytes.Load()
		}
	}
	for i, f := range flows {
		if !f.order.Sends {
			continue
		}
		if end, _, _ := f.state(); end != nil {
			_ = onSocket(end.raw, func(fd int) error {
				info, err := kernel.TCPInfo(fd)
				out[i].RTTUs, out[i].SndCwnd = info.RTTUs, info.SndCwnd
				return err
			})
		}
	}
	return out
}

// Moved is how many bytes all flows together have received and written.
func (e *Engine) Moved() (received, written int64) {
	for _, f := range e.all() {
		if f.order.Sends {
			written += f.tally.bytes.Load()
		} else {
			received += f.tally.bytes.Load()
		}
	}
	return received, written
}

// Flows is how many flows there are.
func (e *Engine) Flows() int { return len(e.all()) }

// cpuShare is what GeneratorCPU remembers of its previous call.
type cpuShare struct {
	at   int64
	cpu  time.Duration
	busy []int64 // by flow
}

// GeneratorCPU is the share of one processor that the busiest flow's worker
// used since the previous call (the first time: since New), never too low.
//
// Workers move between threads, so no thread's time is a worker's. Two figures
// bound it from above, and the smaller is given: the time the busiest worker
// spent inside its writes or reads (which holds all its CPU time, and whatever
// the scheduler or an interrupt took from it), and the CPU time of the whole
// process. Near 1, the flow waited for this program rather than for the network.
func (e *Engine) GeneratorCPU() float64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	at, cpu := now(), kernel.ProcessCPU()
	busiest := int64(0)
	busy := make([]int64, len(e.flows))
	for i, f := range e.flows {
		busy[i] = f.tally.busy.Load()
		spent := busy[i]
		if i < len(e.share.busy) {
			spent -= e.share.busy[i]
		}
		busiest = max(busiest, spent)
	}
	elapsed, process := at-e.share.at, int64(cpu-e.share.cpu)
	e.share = cpuShare{at: at, cpu: cpu, busy: busy}
	if elapsed <= 0 {
		return 0
	}
	return float64(min(busiest, process)) / float64(elapsed)
}
