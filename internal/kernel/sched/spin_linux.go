//go:build !portable

package sched

import (
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// spinLimit is the longest time for which a thread spins before it sleeps. What takes longer gains little by
	// spinning.
	spinLimit = int64(200 * time.Microsecond)
	// spinEpoch is the number of waits after which they are judged. Spinning may end after each spinLook of them.
	spinEpoch = 256
	spinLook  = 16
	// spinGain is what share of the time of sleeping waits may spinning ones take to be worth a CPU.
	spinGain = 0.9
	// longestWait is what longer waits count as: one alone says nothing about the others.
	longestWait = 2 * spinLimit
	// mostSwitches is how often other threads may take the CPU in an epoch of spinning.
	mostSwitches = 8
	// mostRest limits the epochs of sleeping between two attempts to spin.
	mostRest = 256
	// triesPerYield is the number of tries after which a spinning thread lets others run.
	triesPerYield = 8
)

// Spin decides how a thread waits that has one thing to wait for: whether it tries again and again
// (spins) for a while, or sleeps at once. Spinning saves the time in which a sleeping thread is woken,
// and takes a CPU. So a thread spins only while that is faster than sleeping was, and while others
// hardly ever take its CPU; otherwise it sleeps for twice as many waits as before until it tries that
// again. The zero value sleeps first.
//
// A wait begins with Begin. The thread then tries as long as Again returns true, and sleeps if nothing
// was there by then. It ends with End. One thread waits; any may call Counts.
type Spin struct {
	began, now int64
	tries      int
	limit      int64 // of this wait, in ns
	spinning   bool  // in this wait
	polls      bool  // it does not sleep after that

	on       bool // whether waits begin with spinning
	waits    int  // of this epoch
	ns       int64
	found    int   // waits of this epoch that ended while it spun
	sleeping int64 // mean of the latest epoch of sleeping, in ns
	rest     int   // epochs of sleeping left
	penalty  int   // epochs of sleeping after the next failure
	switches int64 // involuntary context switches of the thread when the epoch began

	spun, spent atomic.Int64
}

// Counts returns how many waits have ended while the thread spun, and for how many ns it has spun.
func (s *Spin) Counts() (waits, ns int64) { return s.spun.Load(), s.spent.Load() }

// Spins reports whether the next wait begins with spinning.
func (s *Spin) Spins() bool { return s.on }

// Begin begins a wait.
func (s *Spin) Begin() { s.begin(spinLimit, s.on) }

// Poll begins a wait in which the thread spins until limit, and does not sleep.
func (s *Spin) Poll(limit time.Duration) {
	s.begin(int64(limit), true)
	s.polls = true
}

func (s *Spin) begin(limit int64, spins bool) {
	s.began = Now()
	s.now, s.tries, s.limit, s.spinning, s.polls = s.began, 0, limit, spins, false
}

// Again reports whether the thread should try, rather than sleep.
func (s *Spin) Again() bool {
	if !s.spinning {
		return false
	}
	if s.tries++; s.tries%triesPerYield == 0 {
		Yield()
	}
	s.now = Now()
	s.spinning = s.now-s.began < s.limit
	return s.spinning
}

// End ends a wait.
func (s *Spin) End() {
	spun := s.now - s.began // before it slept
	s.now = Now()
	if s.spinning {
		spun = s.now - s.began
		s.spun.Store(s.spun.Load() + 1)
	}
	s.spent.Store(s.spent.Load() + spun)
	if s.polls {
		return
	}
	s.waited(s.now - s.began)
}

// waited judges waits by another one, of ns.
func (s *Spin) waited(ns int64) {
	if s.spinning {
		s.found++
	}
	s.ns += min(ns, longestWait)
	s.waits++
	if s.waits == spinEpoch || s.on && s.waits%spinLook == 0 && (s.found == 0 || s.isPreempted()) {
		s.judge()
	}
}

// judge ends an epoch.
func (s *Spin) judge() {
	mean := s.ns / int64(s.waits)
	switch {
	case s.on && (s.found < s.waits*3/4 || float64(mean) > spinGain*float64(s.sleeping) || s.isPreempted()):
		s.on, s.penalty = false, min(mostRest, max(1, 2*s.penalty))
		s.rest = s.penalty
	case s.on:
		s.penalty = 0
	case s.rest > 0:
		s.rest--
	default:
		s.sleeping, s.on = mean, mean <= spinLimit
	}
	s.waits, s.ns, s.found = 0, 0, 0
	if s.on {
		s.switches = involuntarySwitches()
	}
}

// isPreempted reports whether other threads have taken the CPU in this epoch more than occasionally:
// yielding and the end of a time slice are involuntary switches, if there is another thread to run.
func (s *Spin) isPreempted() bool { return involuntarySwitches()-s.switches > mostSwitches }

// involuntarySwitches returns how often the kernel has let another thread run instead of the calling
// one (ru_nivcsw, getrusage(2)).
func involuntarySwitches() int64 {
	var usage unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_THREAD, &usage) // a failure leaves zero
	return int64(usage.Nivcsw)
}
