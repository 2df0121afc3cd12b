//go:build !portable

package stream

import (
	"runtime"
	"testing"
	"time"

	"linerate/internal/model/flow"
	"linerate/internal/model/message"
)

// TestMoversDoNotAllocate: while bytes move, nothing is allocated per system
// call: a garbage collector's work would be the generator's, not the network's.
func TestMoversDoNotAllocate(t *testing.T) {
	for name, request := range map[string]message.FlowRequest{
		"plain": {}, "on a schedule": {Spec: flow.Spec{WriteCap: 2e9, ReadCap: 4e9}},
	} {
		sender, receiver := engine(t, platform), engine(t, platform)
		join(t, sender, receiver, loopback, requests(1, request), true)
		start(time.Hour, sender, receiver)
		moved(t, receiver)
		const calls = 800
		bytes := &receiver.All()[0].tally.bytes
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		target := bytes.Load() + calls*chunkBytes
		eventually(t, "bytes move", func() bool { return bytes.Load() >= target })
		runtime.ReadMemStats(&after)
		// Sending takes at least that many calls. Timers and the like of the test's
		// own may allocate now and then.
		if n := after.Mallocs - before.Mallocs; n > calls/4 {
			t.Errorf("%s: %d allocations during %d calls", name, n, calls)
		}
	}
}

// TestReaderSleeps: only a receiver whose window is not small may sleep while data comes.
func TestReaderSleeps(t *testing.T) {
	for _, test := range []struct {
		request message.FlowRequest
		sleeps  bool
	}{
		{message.FlowRequest{Spec: flow.Spec{Mode: flow.ModeAuto}}, true},
		{message.FlowRequest{Spec: flow.Spec{Mode: flow.ModeAuto, SendBuffer: 64 << 10}}, true},
		{message.FlowRequest{Spec: flow.Spec{Mode: flow.ModeAuto, ReceiveBuffer: 64 << 10}}, false},
		{message.FlowRequest{Spec: flow.Spec{Mode: flow.ModeAuto, Window: 64 << 10}}, false},
		{message.FlowRequest{Spec: flow.Spec{Mode: flow.ModeCopy}}, true},
		{message.FlowRequest{}, false},
	} {
		r := direct(test.request, 0).(*directMover)
		if (r.coalescer != nil) != test.sleeps {
			t.Errorf("%+v: sleeps %t, want %t", test.request, r.coalescer != nil, test.sleeps)
		}
		r.close()
	}
}
