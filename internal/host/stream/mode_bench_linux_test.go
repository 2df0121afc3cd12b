//go:build !portable

package stream

import (
	"fmt"
	"testing"
	"time"

	"linerate/internal/model/flow"
	"linerate/internal/model/message"
)

// BenchmarkMode is one flow, and four, in each mode, from one network namespace
// to another over a veth pair without a rate, under cubic. Figures are for
// comparing modes on one machine, in turn and more than once (-count).
func BenchmarkMode(b *testing.B) {
	for _, flows := range []int{1, 4} {
		for _, mode := range append([]string{""}, flow.Modes...) {
			name := mode
			if name == "" {
				name = "plain"
			}
			b.Run(fmt.Sprintf("%d/%s", flows, name), func(b *testing.B) {
				var bits, cpu float64
				for b.Loop() {
					r := pair(b, pairTask{Flows: requests(flows,
						message.FlowRequest{Spec: flow.Spec{Mode: mode, CongestionControl: "cubic"}}),
						Duration: time.Second})
					bits += r.BitsPerSecond
					cpu += r.CPUSeconds / (r.BitsPerSecond / 8e9)
					b.Logf("%s by %d KiB; %s", r.Sent[0].Mode, r.Sent[0].CallBytes>>10, r.Sent[0].ModeNote)
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(bits/1e9/float64(b.N), "Gbit/s")
				b.ReportMetric(cpu/float64(b.N), "CPU-s/GB")
			})
		}
	}
}
