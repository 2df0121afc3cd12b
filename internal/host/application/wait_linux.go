//go:build !portable

package application

import (
	"time"

	"linerate/internal/kernel/sched"
)

// wait waits for events. A loop that polls does not sleep. One with a request at a time, which is in flight, spins
// before it sleeps where that is faster.
func (l *loop) wait(limit time.Duration) (n int) {
	switch {
	case l.polls:
		l.spin.Poll(limit)
		n = l.epoll.Wait(0)
	case l.spins && l.first != nil:
		l.spin.Begin()
	default:
		return l.epoll.Wait(limit)
	}
	for n == 0 && l.spin.Again() {
		n = l.epoll.Wait(0)
	}
	if n == 0 && !l.polls {
		n = l.epoll.Wait(limit)
	}
	l.spin.End()
	return n
}

// spun returns how many answers have come while the loop spun instead of sleeping.
func (l *loop) spun() (n int64) {
	if !l.polls {
		n, _ = l.spin.Counts()
	}
	return n
}

// busy returns the CPU time of the loop's thread, without that for which it spun, in ns.
func (l *loop) busy() int64 {
	if id := l.thread.Load(); id != 0 {
		if cpu, ok := sched.ThreadCPU(int(id)); ok {
			_, spun := l.spin.Counts()
			l.spent.Store(max(l.spent.Load(), cpu-spun))
		}
	}
	return l.spent.Load()
}
