package transaction

import (
	"sync"
	"time"

	"linerate/internal/kernel/sched"
	"linerate/internal/model/unit"
)

// schedule has the start times of the transactions of a flow with a pace. Transactions are numbered
// from 0 and evenly spaced. Number n belongs to connection n modulo the flow's connections, so that
// these take turns.
type schedule struct {
	start int64
	gapNs float64 // from one transaction to the next
}

func scheduleOf(start int64, perSecond float64) schedule {
	return schedule{start, 1e9 / perSecond}
}

// due returns the start time of transaction n.
func (s schedule) due(n int64) int64 { return s.start + int64(float64(n)*s.gapNs) }

// part selects connections of a flow: each step-th of all, beginning with first.
type part struct{ first, step, all int64 }

// of returns the part of the i-th of n threads.
func (p part) of(i, n int) part { return part{p.first + int64(i)*p.step, p.step * int64(n), p.all} }

// size returns the number of connections in the part.
func (p part) size() int {
	if p.first >= p.all {
		return 0
	}
	return int((p.all - p.first + p.step - 1) / p.step)
}

// number returns the number in the schedule of a connection's transaction in a round.
func (p part) number(connection int, round int64) int64 {
	return p.first + int64(connection)*p.step + round*p.all
}

// limiter limits what a worker sends to a rate. The zero value does not limit. Its methods may be
// called concurrently.
type limiter struct {
	mu          sync.Mutex
	every, free int64 // ns from one message to the next; when the next may be sent
}

func (l *limiter) set(rate unit.BitRate, bytes int) {
	if rate > 0 {
		l.every = int64(min(float64(bytes)*8e9/float64(rate), float64(time.Hour)))
	}
}

// reserve returns the time at which a message may be sent. It returns false if that is more than
// longest from now.
func (l *limiter) reserve(longest time.Duration) (at int64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := sched.Now()
	if at = max(l.free, now); at-now > int64(longest) {
		return 0, false
	}
	l.free = at + l.every
	return at, true
}

// sleepUntil sleeps until an instant. It returns false if the engine closes.
func (f *rrFlow) sleepUntil(ns int64) bool {
	for !f.engine.Signals.Quit.Load() {
		now := sched.Now()
		if now >= ns {
			return true
		}
		sched.SleepUntil(min(ns, now+int64(checkInterval)))
	}
	return false
}
