package stream

import (
	"testing"
	"time"

	"linerate/internal/model/message"
)

// BenchmarkLoopback is one flow over the loopback interface for as long as the
// benchmark lasts, both ends in this process. Figures are for comparing movers
// on one machine.
func BenchmarkLoopback(b *testing.B) {
	for _, m := range []struct {
		name string
		backend
	}{{"platform", platform}, {"portable", portable}} {
		b.Run(m.name, func(b *testing.B) {
			sender, receiver := engine(b, m.backend), engine(b, m.backend)
			join(b, sender, receiver, loopback, requests(1, message.FlowRequest{}), true)
			start(time.Hour, sender, receiver)
			moved(b, receiver)
			b.SetBytes(chunkBytes)
			want := receiver.Read()[0].ReceivedBytes
			b.ResetTimer()
			want += int64(b.N) * chunkBytes
			for receiver.All()[0].tally.bytes.Load() < want {
				time.Sleep(100 * time.Microsecond)
			}
			b.StopTimer()
		})
	}
}

// BenchmarkRead is one reading of 500 flows that are open and idle.
func BenchmarkRead(b *testing.B) {
	sender, receiver := engine(b, platform), engine(b, platform)
	join(b, sender, receiver, loopback, requests(500, message.FlowRequest{}), true)
	for b.Loop() {
		sender.Read()
	}
}
