package hostload

import (
	"math"
	"testing"

	"linerate/internal/model/netstate"
)

// TestDuring: samples without CPUs are passed over, the sum is left out beside single CPUs, and
// a CPU that came on line counts from its second sample on.
func TestDuring(t *testing.T) {
	sample := func(atS int64, cpus ...netstate.CPUTimes) netstate.Sample {
		return netstate.Sample{EndedNs: atS * 1e9, CPU: cpus}
	}
	h := netstate.HostReading{Series: []netstate.Sample{
		sample(10, netstate.CPUTimes{CPU: -1}, netstate.CPUTimes{CPU: 0}),
		sample(11),
		sample(12, netstate.CPUTimes{CPU: -1, User: 2}, netstate.CPUTimes{CPU: 0, User: 0.5, SoftIRQ: 1, Idle: 0.5},
			netstate.CPUTimes{CPU: 1}),
		sample(14, netstate.CPUTimes{CPU: -1, User: 2}, netstate.CPUTimes{CPU: 0, User: 0.5, SoftIRQ: 1, Idle: 2.5},
			netstate.CPUTimes{CPU: 1, System: 1, Idle: 1}),
	}}
	h.Begin.ScheduledNs = 10e9
	got := During(h)
	if len(got) != 2 || got[0].AtS != 1 || got[1].AtS != 3 || len(got[0].CPUs) != 1 || len(got[1].CPUs) != 2 {
		t.Fatalf("%+v", got)
	}
	if c := got[0].CPUs[0]; math.Abs(c.Busy-0.75) > 1e-9 || math.Abs(c.Kernel()-0.5) > 1e-9 {
		t.Errorf("%+v", c)
	}
	if got[1].CPUs[0].Busy != 0 || got[1].CPUs[1].Busy != 0.5 {
		t.Errorf("%+v", got[1])
	}
	h.Series = []netstate.Sample{sample(10, netstate.CPUTimes{CPU: -1}), sample(11, netstate.CPUTimes{CPU: -1,
		User: 1})}
	if got := During(h); len(got) != 1 || got[0].CPUs[0].CPU != -1 {
		t.Errorf("the sum alone: %+v", got)
	}
	if During(netstate.HostReading{}) != nil {
		t.Error("intervals without samples")
	}
}
