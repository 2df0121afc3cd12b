//go:build !portable

package transaction

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"

	"linerate/internal/kernel/sched"
	"linerate/internal/kernel/sock"
	"linerate/internal/science/stats"
)

const (
	// pollsPerYield is how often a polling thread polls without a result before it yields its
	// processor to others.
	pollsPerYield = 64
	// sampleEvery: of so many transactions over a polling thread's only connection, one
	// is looked at for how long it takes the thread.
	sampleEvery = 16
	// followEvery: where packets come in is looked up once in so many transactions.
	followEvery = 64
	// wakeupTag is the tag of the eventfd that ends waiting.
	wakeupTag = -1
)

// add adds to a count that has no other writer.
func add(count *atomic.Int64, n int64) { count.Store(count.Load() + n) }

// worker is one thread, with its part of a flow's connections.
type worker struct {
	counts
	f         *rrFlow
	part      part
	epoll     *sock.Epoll // nil: it has one connection, and waits for that alone
	assigned  chan int    // from where a responder without epoll gets it
	conns     []conn      // of a requesting end
	responder *responder  // of a responding one
	// latency is of the transactions that were done inside the window.
	latency  *stats.Counting
	buffer   []byte // what is received
	datagram []byte // over UDP: what is sent
	wait     sched.Poller

	emptyPolls int // since the latest poll with a result

	binding sched.CPUBinding
	cpu     atomic.Int64 // that it is bound to, and one; 0: none; below 0: it may not be

	ownsProcessor bool         // its processor of the runtime's
	thread        atomic.Int64 // its number, while it runs
	spent         atomic.Int64 // CPU time when it was last read
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

// onThread runs f on a thread of its own. One that polls, or that wishes to, keeps its
// processor of the Go scheduler (P): see dedicated. The goroutine stays locked to the thread,
// which ends with it; the runtime would keep the thread for as long as the process runs.
func (w *worker) onThread(wish bool, f func()) {
	runtime.LockOSThread()
	if w.ownsProcessor = dedicated.enter(w.f.polls, wish); w.ownsProcessor {
		defer dedicated.leave()
	}
	if w.epoll != nil {
		w.epoll.Raw = w.ownsProcessor
	}
	w.wait.Raw = w.ownsProcessor
	sched.SetTimerSlack(true)
	defer sched.SetTimerSlack(false)
	if w.part.size() >= maxConnecting {
		// Where the two ends share processors, each would interrupt the other for
		// every single request; of so many, several are always due together.
		defer sched.SetBatch()()
	}
	w.thread.Store(int64(sched.ThreadID()))
	defer w.binding.Release()
	f()
	w.thread.Store(0)
}

// follow binds the calling thread to the CPU that processes a socket's packets
// (SO_INCOMING_CPU): that CPU then wakes no other.
func (w *worker) follow(fd int) {
	switch cpu := sock.IncomingCPU(fd); {
	case w.binding.Bind(cpu):
		w.cpu.Store(int64(cpu) + 1)
	case w.cpu.Load() == 0:
		w.cpu.Store(-1)
	}
}

// dedicated are the threads that keep one of the runtime's processors for themselves:
// those that poll, and of those that wait in the kernel as many as the machine has
// processors. Giving it away and asking for it back would cost a part of what is
// measured; with more threads than that, keeping it would be the dearer. For each
// of them there is one more, so that readings are taken in time.
var dedicated extraProcessors

type extraProcessors struct {
	mu sync.Mutex
	n  int
}

// enter adds a thread, if it must be one of them or wishes and there is room.
func (p *extraProcessors) enter(must, wish bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !must && !(wish && p.n < runtime.NumCPU()) {
		return false
	}
	p.n++
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
	return true
}

func (p *extraProcessors) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.n--
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) - 1)
}

// busy bounds the CPU time that the worker has used; of a polling one, without
// that spent on polls without a result.
func (w *worker) busy() int64 {
	if w.f.polls {
		return w.useful.Load()
	}
	if id := w.thread.Load(); id != 0 {
		if cpu, ok := sched.ThreadCPU(int(id)); ok {
			w.spent.Store(cpu)
		}
	}
	return w.spent.Load()
}

// receive receives from the only socket: it waits there, or asks for a while.
func (w *worker) receive(fd int, buffer []byte, poll bool) (int, error) {
	if !poll {
		return sock.Read(fd, buffer, w.ownsProcessor)
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

// emptyPoll counts a poll without a result, and yields the processor now and then.
func (w *worker) emptyPoll() {
	if w.emptyPolls++; w.emptyPolls%pollsPerYield == 0 {
		sched.Yield()
	}
}
