//go:build !portable

package transaction

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"runtime/debug"
	"time"

	"linerate/internal/host/socket"
	"linerate/internal/kernel/proc"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
)

// If a flow has more connections than one process may have, it is split among worker processes
// (docs/decisions/0018-worker-processes-of-transactions.md): this program with the verb
// WorkerCommand. Tasks and reports are JSON documents on the worker's standard input and output.
// The worker ends at the end of its input.

// task is a request to a worker process. At most one field is set.
type task struct {
	Listen  *assignment            `json:"listen,omitempty"`
	Connect *assignment            `json:"connect,omitempty"`
	Abandon bool                   `json:"abandon,omitempty"`
	Start   *message.WindowRequest `json:"start,omitempty"`
	Shorten *message.CutRequest    `json:"shorten,omitempty"`
	Read    bool                   `json:"read,omitempty"`
	Light   bool                   `json:"light,omitempty"`
}

// assignment is the part of a flow that a process gets.
type assignment struct {
	Request   message.FlowRequest `json:"request"`
	Access    socket.Access       `json:"access,omitzero"`
	First     int64               `json:"first"`
	Step      int64               `json:"step"`
	TimeoutNs int64               `json:"timeout_ns,omitempty"`
}

// report is the reply of a worker process.
type report struct {
	Listening message.Listening   `json:"listening"`
	Opened    message.Opened      `json:"opened"`
	End       message.FlowEnd     `json:"end"`
	Sample    netstate.FlowSample `json:"sample"`
	Settled   bool                `json:"settled,omitempty"`
	// BusyNs has the CPU time of its threads, CPUNs that of the whole process. MemoryBytes is its
	// memory.
	BusyNs      []int64 `json:"busy_ns,omitempty"`
	CPUNs       int64   `json:"cpu_ns,omitempty"`
	MemoryBytes int64   `json:"memory_bytes,omitempty"`
}

// RunWorker runs a worker process. It executes tasks until the end of its input.
func RunWorker(in io.Reader, out io.Writer) error {
	debug.SetGCPercent(20) // almost nothing is allocated after the connections are open
	e := New()
	e.isWorker = true
	defer e.Close()
	from, to := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var t task
		if err := from.Decode(&t); err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return err
		}
		if err := to.Encode(e.handle(t)); err != nil {
			return err
		}
	}
}

// handle executes a task.
func (e *Engine) handle(t task) (r report) {
	ctx := context.Background()
	switch {
	case t.Listen != nil:
		e.part, e.access = t.Listen.part(), t.Listen.Access
		request := t.Listen.Request
		if at := e.access.ListenAt(); at.IsValid() {
			request.Local = at
		}
		r.Listening = e.Listen(ctx, []message.FlowRequest{request})[0]
	case t.Connect != nil:
		e.part = t.Connect.part()
		r.Opened = e.Connect(ctx, []message.FlowRequest{t.Connect.Request}, time.Duration(t.Connect.TimeoutNs))[0]
	case t.Abandon:
		for _, f := range e.All() {
			f.Abandon()
		}
	case t.Start != nil:
		e.Start(*t.Start)
	case t.Shorten != nil:
		e.Shorten(t.Shorten.EndNs, t.Shorten.StopNs)
	case t.Light:
		for _, s := range e.Light() {
			r.Sample = s
		}
	}
	if t.Read {
		for _, end := range e.Read() {
			r.End = end
		}
		r.BusyNs, r.CPUNs = e.Busy(), int64(proc.TotalCPUTime())
		r.MemoryBytes = proc.OwnMemory()
	}
	r.Settled = e.Settled()
	return r
}

func (a *assignment) part() part { return part{first: a.First, step: max(1, a.Step)} }
