package present

import (
	"testing"

	"linerate/internal/model/record"
)

// TestEndsOfUnknownShare: without linerate's own time, all of a busy machine is not that of
// other programs: their share is unknown.
func TestEndsOfUnknownShare(t *testing.T) {
	run := &record.Run{}
	run.Environment.Hosts = []record.HostEnvironment{{Host: "client", CPUs: 2}}
	for own, known := range map[float64]bool{0: false, 1.5: true} {
		made := &record.Trial{WindowS: 1, Hosts: []record.HostReading{{Host: "client", CPUBusy: 1, ProcessCPUS: own}}}
		if e := endsOf(run, made).Ends[0]; e.BusyCPUS > 0 != known {
			t.Errorf("of %v s by linerate: %v s of CPU time were used by all", own, e.BusyCPUS)
		}
	}
}
