package traffic

import (
	"runtime"
	"testing"
	"time"

	"linerate/internal/model/record"
)

// TestMoversDoNotAllocate: while bytes move, nothing is allocated per system
// call: a garbage collector's work would be the generator's, not the network's.
func TestMoversDoNotAllocate(t *testing.T) {
	sender, receiver := engine(t, platform), engine(t, platform)
	join(t, sender, receiver, loopback, orders(1, record.FlowOrder{}), true)
	start(time.Hour, sender, receiver)
	moved(t, receiver)
	const calls = 2000
	bytes := &receiver.flows[0].tally.bytes
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	target := bytes.Load() + calls*chunkBytes
	eventually(t, "bytes move", func() bool { return bytes.Load() >= target })
	runtime.ReadMemStats(&after)
	// Sending takes at least that many calls. Timers and the like of the test's
	// own may allocate now and then.
	if n := after.Mallocs - before.Mallocs; n > calls/4 {
		t.Errorf("%d allocations during %d calls", n, calls)
	}
}
