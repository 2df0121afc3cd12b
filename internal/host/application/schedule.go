package application

import (
	"math/rand/v2"
	"runtime"
	"sync"

	"linerate/internal/host/flowset"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
)

// mostOverdue bounds the counting of instants that have passed.
const mostOverdue = 1 << 20

// arrivals gives transactions the instants at which they are to begin, one after
// another. A session that is free takes the next.
type arrivals struct {
	signals *flowset.Signals
	// turn is held by the one session that waits for the next instant; the others
	// wait for their turn. So one thread at a time sleeps in the kernel, which is more
	// precise than the runtime's timers.
	turn chan struct{}

	gapNs float64 // mean time between two; 0: each begins when a session is free

	mu   sync.Mutex // held for arithmetic only
	next instants
}

// instants are those at which transactions are to begin, in nanoseconds since the start. A
// copy goes on as the original does.
type instants struct {
	due     float64 // the next
	poisson bool
	random  rand.PCG
}

// pass goes on to the instant after the next.
func (i *instants) pass(gapNs float64) {
	if i.poisson {
		gapNs *= rand.New(&i.random).ExpFloat64()
	}
	i.due += gapNs
}

func newArrivals(signals *flowset.Signals, spec flow.Spec) *arrivals {
	a := &arrivals{signals: signals, turn: make(chan struct{}, 1)}
	if spec.Pace > 0 {
		a.gapNs = 1e9 / spec.Pace
		if spec.Arrivals == flow.ArrivalsPoisson {
			a.next.poisson, a.next.random = true, *rand.NewPCG(rand.Uint64(), rand.Uint64())
			a.next.pass(a.gapNs)
		}
	}
	return a
}

// take waits for the next instant and returns it; false: the flow stops.
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
	due = a.signals.Start.Load() + int64(a.next.due) // take alone writes it
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

// overdue is how many instants have passed before at and were not taken, as no session was
// free, and when the first of them was. They are counted up to mostOverdue.
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

// ends says that no transaction begins at an instant or later.
func (a *arrivals) ends(at int64) bool {
	return a.signals.Quit.Load() || at >= a.signals.Stop.Load()
}
