//go:build !portable

package sched

import (
	"runtime"
	"testing"
	"time"
)

const us = int64(time.Microsecond)

// wait makes a wait that takes as long as given, or if it spins, and tells whether it found something while it spun.
func wait(s *Spin, sleeping, spinning int64, found bool) (spun bool) {
	s.begin(spinLimit, s.on)
	spun = s.spinning
	s.spinning = spun && found
	if spun {
		s.waited(spinning)
	} else {
		s.waited(sleeping)
	}
	return spun
}

// TestSpin: a thread spins while that is faster than sleeping, and hardly ever where it is not.
func TestSpin(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const many = 2_000_000
	for name, c := range map[string]struct {
		sleeping, spinning int64
		found              bool
		least, most        int // of the waits, how many may begin with spinning
	}{
		"faster":         {60 * us, 6 * us, true, many - spinEpoch, many - spinEpoch},
		"hardly faster":  {60 * us, 57 * us, true, spinEpoch, many / 100},
		"never found":    {60 * us, 260 * us, false, spinLook, many / 1000},
		"too long":       {250 * us, 6 * us, true, 0, 0},
		"a long path":    {int64(time.Hour), 6 * us, true, 0, 0},
		"nothing to win": {5 * us, 5 * us, true, spinEpoch, many / 100},
	} {
		var s Spin
		spun := 0
		for range many {
			if wait(&s, c.sleeping, c.spinning, c.found) {
				spun++
			}
		}
		if spun < c.least || spun > c.most {
			t.Errorf("%s: %d of %d waits began with spinning, want %d to %d", name, spun, many, c.least, c.most)
		}
	}
	var s Spin
	for range spinEpoch {
		wait(&s, 60*us, 6*us, true)
	}
	if wait(&s, 60*us, int64(time.Hour), true); !s.Spins() {
		t.Error("it does not spin after an epoch of sleeping")
	}
	for range spinEpoch {
		wait(&s, 60*us, 6*us, true)
	}
	if !s.Spins() {
		t.Error("a single long wait has ended spinning")
	}
}

// TestSpinsAlone: a thread whose CPU others take does not go on spinning, even if it finds what it waits for.
func TestSpinsAlone(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s := Spin{sleeping: 60 * us, on: true, switches: involuntarySwitches() - mostSwitches - 1}
	for range spinLook {
		wait(&s, 60*us, 6*us, true)
	}
	if s.Spins() {
		t.Errorf("it still spins after %d waits in which the kernel ran other threads", spinLook)
	}
}

// TestPollDoesNotJudge: waits of a thread that polls are not judged, and their time is counted.
func TestPollDoesNotJudge(t *testing.T) {
	var s Spin
	for range 3 * spinEpoch {
		s.Poll(time.Nanosecond)
		for s.Again() {
		}
		s.End()
	}
	if waits, ns := s.Counts(); s.waits != 0 || waits != 0 || ns <= 0 {
		t.Errorf("%d waits judged, %d found, %d ns", s.waits, waits, ns)
	}
}
