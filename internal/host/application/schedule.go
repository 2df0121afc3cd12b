package application

import (
	"math/rand/v2"
	"runtime"
	"sync"

	"linerate/internal/host/flowset"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
)

// mostOverdue limits how many missed times are counted.
const mostOverdue = 1 << 20

// arrivals hands out the times at which transactions begin. The next free session takes the next time.
type arrivals struct {
	signals *flowset.Signals
	// turn is held by the one session that waits for the next time; the others wait for their turn. So only one
	// thread sleeps in the kernel, which is more precise than the runtime's timers.
	turn chan struct{}

	gapNs float64 // mean interval in ns; 0: transactions begin when a session is free

	mu   sync.Mutex // held for arithmetic only
	next instants
}

// instants generates the times at which transactions begin, in ns since the start. A copy continues with the
// same times.
type instants struct {
	due     float64 // the next
	poisson bool
	random  rand.PCG
}

// pass advances to the next time.
func (i *instants) pass(gapNs float64) {
	if i.poisson {
		gapNs *= rand.New(&i.random).ExpFloat64()
	}
	i.due += gapNs
}

// newArrivals returns the i-th of n parts of a flow's times.
func newArrivals(signals *flowset.Signals, spec flow.Spec, i, n int) *arrivals {
	a := &arrivals{signals: signals, turn: make(chan struct{}, 1)}
	if spec.Pace > 0 {
		a.gapNs = 1e9 / spec.Pace * float64(n)
		a.next.due = 1e9 / spec.Pace * float64(i)
		if spec.Arrivals == flow.ArrivalsPoisson {
			a.next.due = 0
			a.next.poisson, a.next.random = true, *rand.NewPCG(rand.Uint64(), rand.Uint64())
			a.next.pass(a.gapNs)
		}
	}
	return a
}

// take waits for the next time and returns it; ok is false if the flow stops first.
func (a *arrivals) take() (due int64, ok bool) {
	if a.gapNs == 0 {
		now := sched.Now()
		return now, !a.ends(now)
	}
	a.turn <- struct{}{}
	defer func() { <-a.turn }()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	sched.SetTimerSlack(true)
	defer sched.SetTimerSlack(false)
	due = a.signals.Start.Load() + int64(a.next.due) // only take writes it
	for now := sched.Now(); ; now = sched.Now() {
		if a.ends(max(now, due)) {
			return 0, false
		}
		if now >= due {
			break
		}
		sched.SleepUntil(min(due, now+int64(flowset.CheckInterval)))
	}
	a.mu.Lock()
	a.next.pass(a.gapNs)
	a.mu.Unlock()
	return due, true
}

// passed returns the next time, and goes on to the one after it, if it is not after now. Otherwise ok is false, and due
// is the next time; 0: the flow stops before it.
func (a *arrivals) passed(now int64) (due int64, ok bool) {
	due = a.signals.Start.Load() + int64(a.next.due) // only the caller writes it
	switch {
	case a.ends(max(now, due)):
		return 0, false
	case due > now:
		return due, false
	}
	a.mu.Lock()
	a.next.pass(a.gapNs)
	a.mu.Unlock()
	return due, true
}

// overdue returns how many times before at have passed without a free session, counting at most mostOverdue,
// and the first of them.
func (a *arrivals) overdue(at int64) (n, first int64) {
	start := a.signals.Start.Load()
	if a.gapNs == 0 || start == 0 {
		return 0, 0
	}
	a.mu.Lock()
	next := a.next
	a.mu.Unlock()
	at = min(at, a.signals.Stop.Load())
	first = start + int64(next.due)
	for ; n < mostOverdue && start+int64(next.due) < at; n++ {
		next.pass(a.gapNs)
	}
	return n, first
}

// ends reports whether no transaction begins at or after this time.
func (a *arrivals) ends(at int64) bool {
	return a.signals.Quit.Load() || at >= a.signals.Stop.Load()
}
