package application

import (
	"math/rand/v2"
	"runtime"

	"linerate/internal/host/flowset"
	"linerate/internal/host/socket"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
)

// arrivals gives transactions the instants at which they are to begin, one after
// another. A session that is free takes the next.
type arrivals struct {
	signals *flowset.Signals
	// turn is held by the one session that waits for the next instant; the others
	// wait for their turn. So one thread at a time sleeps in the kernel, which is more
	// precise than the runtime's timers.
	turn chan struct{}

	gapNs  float64 // mean time between two; 0: each begins when a session is free
	random *rand.Rand
	due    float64 // the next instant, since the start
}

func newArrivals(signals *flowset.Signals, spec flow.Spec) *arrivals {
	a := &arrivals{signals: signals, turn: make(chan struct{}, 1)}
	if spec.Pace > 0 {
		a.gapNs = 1e9 / spec.Pace
		if spec.Arrivals == flow.ArrivalsPoisson {
			a.random = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
			a.due = a.gap()
		}
	}
	return a
}

// gap is the time from one instant to the next.
func (a *arrivals) gap() float64 {
	if a.random != nil {
		return a.random.ExpFloat64() * a.gapNs
	}
	return a.gapNs
}

// take waits for the next instant and returns it; false: the flow stops.
func (a *arrivals) take() (due int64, ok bool) {
	if a.gapNs == 0 {
		now := socket.Now()
		return now, !a.ends(now)
	}
	a.turn <- struct{}{}
	defer func() { <-a.turn }()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	sched.SetTimerSlack(true)
	defer sched.SetTimerSlack(false)
	due = a.signals.Start.Load() + int64(a.due)
	for now := socket.Now(); ; now = socket.Now() {
		if a.ends(max(now, due)) {
			return 0, false
		}
		if now >= due {
			break
		}
		sched.SleepUntil(min(due, now+int64(flowset.CheckInterval)))
	}
	a.due += a.gap()
	return due, true
}

// ends says that no transaction begins at an instant or later.
func (a *arrivals) ends(at int64) bool {
	return a.signals.Quit.Load() || at >= a.signals.Stop.Load()
}
