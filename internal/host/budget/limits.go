package budget

import (
	"cmp"
	"fmt"
	"runtime"

	"linerate/internal/kernel/proc"
	"linerate/internal/model/message"
)

// Limits that no flag sets.
const (
	requests     = 16
	samples      = 600
	buffersEach  = 1 << 30
	buffersAll   = 4 << 30
	memoryBase   = 16 << 20
	memoryFlow   = 512 << 10
	memoryAll    = 128 << 20
	threadsOfCPU = 4
	threadsAll   = 512
)

const (
	// spareDescriptors and spareThreads are reserved for other uses: listeners, the runtime, unidentified
	// connections.
	spareDescriptors = 64
	spareThreads     = 32
	// These are enough for the listeners, the runtime and one client with one flow.
	leastDescriptors = 32
	leastThreads     = 4
)

// Enough returns an error with the name of the limit if this process may open too few files, or have too few threads,
// to serve a client.
func Enough() error {
	if limit := proc.MaxOpenFiles(); limit > 0 && limit < leastDescriptors {
		return fmt.Errorf("RLIMIT_NOFILE is %d: a server needs at least %d open files (LimitNOFILE= of a unit, "+
			"ulimit -n)", limit, leastDescriptors)
	}
	if left, why := proc.ThreadRoom(); why != "" && left < spareThreads+leastThreads {
		return fmt.Errorf("%s leaves room for %d threads: a server needs at least %d", why, max(0, left),
			spareThreads+leastThreads)
	}
	return nil
}

// New returns the budget of a server for this many clients, each limited by bounds, on this machine.
func New(clients int, bounds message.Bounds) *Budget {
	cpus, flows := int64(runtime.NumCPU()), int64(bounds.Flows)
	b := &Budget{Room: machineRoom}
	b.Each = Use{
		Flows: flows, Connections: max(flows, int64(bounds.Connections)), Threads: max(flows, threadsOfCPU*cpus),
		Polling: cpus,
		Buffers: buffersEach, Samples: samples, Requests: requests, Memory: memoryBase + flows*memoryFlow,
	}
	b.All = Use{
		Clients: int64(clients), Threads: max(threadsAll, b.Each[Threads]), Polling: 2 * cpus,
		Buffers: buffersAll, Memory: max(memoryAll, b.Each[Memory]),
	}
	if limit := int64(proc.MaxOpenFiles()); limit > 0 {
		open := int64(proc.OpenFiles())
		b.All[Descriptors] = max(1, limit-open-spareDescriptors-int64(Pending()))
		b.Why[Descriptors] = "RLIMIT_NOFILE"
	}
	// The rest is for the kernel's socket buffers, the garbage collector and other programs.
	if limit, why := proc.MemoryLimit(); why != "" && limit/4 < b.All[Memory] {
		b.All[Memory], b.Why[Memory] = max(1, limit/4), why
	}
	return b
}

// Pending returns how many connections may be unidentified at a time: an eighth of this process's descriptors,
// at most 1024.
func Pending() int {
	const most, share = 1024, 8
	return max(share, min(most, cmp.Or(proc.MaxOpenFiles(), most*share)/share))
}

// machineRoom returns what the machine has left of a resource.
func machineRoom(r Resource) (left int64, why string) {
	if r != Threads {
		return 0, ""
	}
	left, why = proc.ThreadRoom()
	return left - spareThreads, why
}
