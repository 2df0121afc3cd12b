package socket

import (
	"context"
	"slices"
	"sync"
	"time"

	"linerate/internal/kernel/sched"
)

// EngineClosed is what whoever comes too late is told.
const EngineClosed = "the trial's flows are closed"

// Books are what a carrier's engine keeps of one trial: its ends of flows, who
// works for it, when the traffic begins, and that all has ended. Its methods may
// be called from several goroutines.
type Books[End any] struct {
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	gate   chan struct{} // closed when the traffic is to begin

	mu      sync.Mutex // guards the following
	ends    []End
	started bool
	closed  bool

	workers sync.WaitGroup
	closing sync.Once
}

// NewBooks makes books in which nothing is.
func NewBooks[End any]() *Books[End] {
	b := &Books[End]{gate: make(chan struct{})}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	return b
}

// Context ends as soon as Close has been called.
func (b *Books[End]) Context() context.Context { return b.ctx }

// Gate is closed when the traffic is to begin, or never will.
func (b *Books[End]) Gate() <-chan struct{} { return b.gate }

// All is every end so far.
func (b *Books[End]) All() []End {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clip(b.ends)
}

// Add enters ends. False: the books are closed.
func (b *Books[End]) Add(ends ...End) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.ends = append(b.ends, ends...)
	}
	return !b.closed
}

// Work runs f in a goroutine that Close waits for. False: the books are closed.
func (b *Books[End]) Work(f func()) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.workers.Go(f)
	}
	return !b.closed
}

// Start opens the gate at an instant of Now and returns at once. Only the first
// call counts: it calls first before anything else happens.
func (b *Books[End]) Start(at int64, first func()) {
	b.mu.Lock()
	again := b.started
	b.started = true
	b.mu.Unlock()
	if again {
		return
	}
	first()
	b.Work(func() {
		defer close(b.gate)
		// A timer for the bulk, as it can be interrupted; the kernel's own sleep
		// for the rest, as it is precise. Nothing spins: other hosts of a lab may
		// share the processors.
		const precise = 5 * time.Millisecond
		coarse := time.NewTimer(time.Duration(at-Now()) - precise)
		defer coarse.Stop()
		select {
		case <-coarse.C:
			sched.SleepUntil(at)
		case <-b.ctx.Done():
		}
	})
}

// Close takes nothing more in: it calls quit, ends the context, calls end for each
// end, and waits for all workers. A further call does nothing but wait.
func (b *Books[End]) Close(quit func(), end func(End)) {
	b.closing.Do(func() {
		b.mu.Lock()
		b.closed = true
		ends := b.ends
		b.mu.Unlock()
		quit()
		b.cancel()
		for _, e := range ends {
			end(e)
		}
		b.workers.Wait()
	})
}
