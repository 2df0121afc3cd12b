package agent

import (
	"testing"

	"linerate/internal/model/record"
)

// TestBusy: the share of CPUs in use, exactly 0 when no counter of time in use has risen.
func TestBusy(t *testing.T) {
	begin := record.CPUTimes{CPU: -1, User: 30172.17, System: 9341.43, IRQ: 0.1, SoftIRQ: 771.89, Steal: 103.77, Idle: 120344.31}
	end := begin
	end.Idle += 0.97
	if got := busy([]record.CPUTimes{begin}, []record.CPUTimes{end}); got != 0 {
		t.Errorf("idle: %g", got)
	}
	end.User, end.Steal, end.Idle = begin.User+0.5, begin.Steal+0.25, begin.Idle+0.25
	if got := busy([]record.CPUTimes{begin}, []record.CPUTimes{end}); got < 0.7499 || got > 0.7501 {
		t.Errorf("three quarters: %g", got)
	}
	if got := busy(nil, []record.CPUTimes{end}); got != 0 {
		t.Errorf("not read: %g", got)
	}
}
