//go:build linux && !portable

package agent

import (
	"slices"
	"testing"

	"linerate/internal/kernel/sched"
	"linerate/internal/model/netstate"
)

// TestScheduled: CPUs are named where linerate may not run on all that are online.
func TestScheduled(t *testing.T) {
	allowed := sched.AllowedCPUs()
	if len(allowed) == 0 {
		t.Fatal("this process may run on no CPU")
	}
	var h netstate.HostReading
	for _, cpu := range append([]int{-1}, allowed...) {
		h.Begin.CPU = append(h.Begin.CPU, netstate.CPUTimes{CPU: cpu})
	}
	if scheduled(&h); h.AllowedCPUs != nil {
		t.Errorf("all CPUs are allowed: %v", h.AllowedCPUs)
	}
	h.Begin.CPU = append(h.Begin.CPU, netstate.CPUTimes{CPU: 1 << 20})
	if scheduled(&h); !slices.Equal(h.AllowedCPUs, allowed) || h.Nice != sched.Nice() {
		t.Errorf("allowed are %v, want %v", h.AllowedCPUs, allowed)
	}
}

// TestBusy: the share of CPUs in use, exactly 0 when no counter of time in use has risen.
func TestBusy(t *testing.T) {
	begin := netstate.CPUTimes{CPU: -1, User: 30172.17, System: 9341.43, IRQ: 0.1, SoftIRQ: 771.89, Steal: 103.77,
		Idle: 120344.31}
	end := begin
	end.Idle += 0.97
	if got := busy([]netstate.CPUTimes{begin}, []netstate.CPUTimes{end}); got != 0 {
		t.Errorf("idle: %g", got)
	}
	end.User, end.Steal, end.Idle = begin.User+0.5, begin.Steal+0.25, begin.Idle+0.25
	if got := busy([]netstate.CPUTimes{begin}, []netstate.CPUTimes{end}); got < 0.7499 || got > 0.7501 {
		t.Errorf("three quarters: %g", got)
	}
	if got := busy(nil, []netstate.CPUTimes{end}); got != 0 {
		t.Errorf("not read: %g", got)
	}
}
