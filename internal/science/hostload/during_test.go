package hostload

import (
	"math"
	"testing"

	"linerate/internal/model/record"
)

// TestDuring: samples without CPUs are passed over, the sum is left out beside single CPUs, and
// a CPU that came on line counts from its second sample on.
func TestDuring(t *testing.T) {
	sample := func(atS int64, cpus ...record.CPUTimes) record.Sample {
		return record.Sample{EndedNs: atS * 1e9, CPU: cpus}
	}
	h := record.HostReading{Series: []record.Sample{
		sample(10, record.CPUTimes{CPU: -1}, record.CPUTimes{CPU: 0}),
		sample(11),
		sample(12, record.CPUTimes{CPU: -1, User: 2}, record.CPUTimes{CPU: 0, User: 0.5, SoftIRQ: 1, Idle: 0.5},
			record.CPUTimes{CPU: 1}),
		sample(14, record.CPUTimes{CPU: -1, User: 2}, record.CPUTimes{CPU: 0, User: 0.5, SoftIRQ: 1, Idle: 2.5},
			record.CPUTimes{CPU: 1, System: 1, Idle: 1}),
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
	h.Series = []record.Sample{sample(10, record.CPUTimes{CPU: -1}), sample(11, record.CPUTimes{CPU: -1, User: 1})}
	if got := During(h); len(got) != 1 || got[0].CPUs[0].CPU != -1 {
		t.Errorf("the sum alone: %+v", got)
	}
	if During(record.HostReading{}) != nil {
		t.Error("intervals without samples")
	}
}
