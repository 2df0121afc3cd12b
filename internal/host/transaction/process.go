package transaction

import (
	"linerate/internal/model/message"
	"linerate/internal/model/record"
)

// A flow with more connections than one process may hold is split among worker
// processes (docs/decisions/0018-worker-processes-of-transactions.md): this program
// with the verb WorkerCommand. A task and its report are one JSON document each, over
// the worker's standard input and output; it ends at the end of its input.

// WorkerCommand is the verb that makes this program a worker process.
const WorkerCommand = "transaction-worker"

// task is a request to a worker process; one of the fields is set, or none.
type task struct {
	Listen  *assignment            `json:"listen,omitempty"`
	Connect *assignment            `json:"connect,omitempty"`
	Abandon bool                   `json:"abandon,omitempty"`
	Start   *message.WindowRequest `json:"start,omitempty"`
	Read    bool                   `json:"read,omitempty"`
	Light   bool                   `json:"light,omitempty"`
}

// assignment is a process's part of a flow.
type assignment struct {
	Order     message.FlowRequest `json:"order"`
	First     int64               `json:"first"`
	Step      int64               `json:"step"`
	TimeoutNs int64               `json:"timeout_ns,omitempty"`
}

// report is a worker process's reply.
type report struct {
	Listening message.Listening `json:"listening"`
	Opened    message.Opened    `json:"opened"`
	End       message.FlowEnd   `json:"end"`
	Sample    record.FlowSample `json:"sample"`
	Settled   bool              `json:"settled,omitempty"`
	// BusyNs is of its threads, CPUNs of the whole process; MemoryBytes is its own.
	BusyNs      []int64 `json:"busy_ns,omitempty"`
	CPUNs       int64   `json:"cpu_ns,omitempty"`
	MemoryBytes int64   `json:"memory_bytes,omitempty"`
}
