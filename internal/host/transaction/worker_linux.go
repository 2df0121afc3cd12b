//go:build !portable

package transaction

import (
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"

	"linerate/internal/kernel/sched"
	"linerate/internal/kernel/sock"
	"linerate/internal/science/stats"
)

const (
	// pollsPerYield is the number of polls without a result after which a polling thread yields its
	// CPU.
	pollsPerYield = 64
	// sampleEvery: the time that a transaction takes a polling thread with a single connection is
	// measured for one in this number of transactions.
	sampleEvery = 16
	// followEvery: the CPU on which packets arrive is queried once in this number of transactions.
	followEvery = 64
	// wakeupTag is the tag of the eventfd that ends waiting.
	wakeupTag = -1
)

// add adds to a counter that has no other writer.
func add(count *atomic.Int64, n int64) { count.Store(count.Load() + n) }

// worker is one thread with its part of a flow's connections.
type worker struct {
	counts
	f         *rrFlow
	part      part
	epoll     *sock.Epoll // nil: it has one connection and waits for it directly
	assigned  chan int    // passes the connection to a responder without epoll
	conns     []conn      // of the requesting end
	responder *responder  // of the responding end
	// latency has the transactions that completed in the window.
	latency  *stats.Counting
	buffer   []byte // received data
	datagram []byte // over UDP: what is sent
	wait     sched.Poller

	emptyPolls int // since the latest poll with a result
	spin       sched.Spin

	binding sched.CPUBinding
	cpu     atomic.Int64 // CPU that it is bound to plus 1; 0: none; negative: binding is not permitted

	ownsProcessor bool         // whether it keeps a processor of the Go scheduler
	spins         bool         // whether it may spin before it sleeps
	thread        atomic.Int64 // thread ID while it runs
	spent         atomic.Int64 // CPU time at the latest reading
}

func newWorker(f *rrFlow, p part) *worker {
	w := &worker{f: f, part: p, buffer: make([]byte, 64<<10)}
	if f.isClient {
		w.conns, w.latency = make([]conn, p.size()), stats.NewCounting()
		for i := range w.conns {
			w.conns[i].fd, w.conns[i].index = -1, uint32(i)
		}
	} else {
		w.assigned = make(chan int, 1)
		w.responder = newResponder(w)
	}
	if f.udp {
		size := requestBytes(f.Request)
		if !f.isClient {
			size = responseBytes(f.Request)
		}
		w.datagram = slices.Clone(payload[:size])
	}
	return w
}

// onThread runs f on its own thread. A thread that polls, or that requests it (wish), keeps its
// processor of the Go scheduler: see sched.Dedicate. The goroutine stays locked to the thread, which
// ends with it; otherwise the runtime would keep the thread as long as the process runs.
func (w *worker) onThread(wish bool, f func()) {
	runtime.LockOSThread()
	if w.f.polls || wish {
		var release func()
		release, w.ownsProcessor = sched.Dedicate(w.f.polls)
		defer release()
	}
	if w.epoll != nil {
		w.epoll.Raw = w.ownsProcessor
	}
	w.wait.Raw = w.ownsProcessor
	w.spins = w.ownsProcessor && w.f.Request.Poll == nil && !w.f.follows
	sched.SetTimerSlack(true)
	defer sched.SetTimerSlack(false)
	if w.part.size() >= maxConnecting {
		// If the two ends share CPUs, each would interrupt the other for every request; several
		// requests are always due together.
		defer sched.SetBatch()()
	}
	w.thread.Store(int64(sched.ThreadID()))
	defer w.binding.Release()
	f()
	w.thread.Store(0)
}

// follow binds the calling thread to the CPU that processes a socket's packets (SO_INCOMING_CPU),
// so that this CPU need not wake another one.
func (w *worker) follow(fd int) {
	switch cpu := sock.IncomingCPU(fd); {
	case w.binding.Bind(cpu):
		w.cpu.Store(int64(cpu) + 1)
	case w.cpu.Load() == 0:
		w.cpu.Store(-1)
	}
}

// busy returns the CPU time that the worker has used. Polls without a result, and the time for which it spun, are
// excluded.
func (w *worker) busy() int64 {
	if w.f.polls {
		return w.useful.Load()
	}
	if id := w.thread.Load(); id != 0 {
		if cpu, ok := sched.ThreadCPU(int(id)); ok {
			_, spun := w.spin.Counts()
			w.spent.Store(max(w.spent.Load(), cpu-spun))
		}
	}
	return w.spent.Load()
}

// receive receives from the only socket. It waits there, or polls for a while.
func (w *worker) receive(fd int, buffer []byte, poll bool) (int, error) {
	if !poll {
		return w.read(fd, buffer)
	}
	var n int
	var err error
	for range pollsPerYield {
		if n, err = sock.TryRead(fd, buffer); err != syscall.EAGAIN {
			break
		}
	}
	if err != nil {
		sched.Yield()
	}
	return n, err
}

// read reads from the only socket. Where that is faster it spins before it sleeps.
func (w *worker) read(fd int, buffer []byte) (n int, err error) {
	if !w.spins {
		return sock.Read(fd, buffer, w.ownsProcessor)
	}
	w.spin.Begin()
	for err = syscall.EAGAIN; err == syscall.EAGAIN && w.spin.Again(); {
		n, err = sock.TryRead(fd, buffer)
	}
	if err == syscall.EAGAIN {
		n, err = sock.Read(fd, buffer, w.ownsProcessor)
	}
	w.spin.End()
	return n, err
}

// emptyPoll counts a poll without a result, and occasionally yields the CPU.
func (w *worker) emptyPoll() {
	if w.emptyPolls++; w.emptyPolls%pollsPerYield == 0 {
		sched.Yield()
	}
}
