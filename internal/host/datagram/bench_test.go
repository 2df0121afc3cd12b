package datagram

import (
	"testing"
	"time"

	"linerate/internal/model/flow"
	"linerate/internal/model/message"
)

// BenchmarkLoopback moves datagrams of 1,448 bytes through the loopback device, one
// flow; the rate is what the receiver takes.
func BenchmarkLoopback(b *testing.B) {
	for _, m := range []struct {
		name string
		backend
	}{{"platform", platform}, {"portable", portable}} {
		b.Run(m.name, func(b *testing.B) {
			sender, receiver := engine(b, m.backend), engine(b, m.backend)
			join(b, sender, receiver, loopback, requests(1, message.FlowRequest{Spec: flow.Spec{Datagram: 1448}}), true)
			start(time.Hour, sender, receiver)
			moved(b, receiver)
			b.SetBytes(1448)
			f := receiver.All()[0]
			want := f.tally.read().received
			b.ResetTimer()
			for want += int64(b.N); f.tally.read().received < want; {
				time.Sleep(100 * time.Microsecond)
			}
			b.StopTimer()
		})
	}
}
