package transaction

import (
	"testing"
	"time"

	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
)

// BenchmarkLoopback is for a look at what a change does: transactions a second
// over the loopback port, both ends in one process.
func BenchmarkLoopback(b *testing.B) {
	for name, request := range map[string]message.FlowRequest{
		"rr":           {},
		"rr-poll":      {Spec: flow.Spec{Poll: new(true)}},
		"rr-100":       {Spec: flow.Spec{Connections: 100}},
		"rr-100-poll":  {Spec: flow.Spec{Connections: 100, Poll: new(true)}},
		"udp-rr":       {Spec: flow.Spec{Protocol: flow.UDPRR}},
		"udp-rr-poll":  {Spec: flow.Spec{Protocol: flow.UDPRR, Poll: new(true)}},
		"udp-rr-100":   {Spec: flow.Spec{Protocol: flow.UDPRR, Connections: 100}},
		"crr":          {Spec: flow.Spec{Protocol: flow.CRR}},
		"crr-poll":     {Spec: flow.Spec{Protocol: flow.CRR, Poll: new(true)}},
		"crr-16":       {Spec: flow.Spec{Protocol: flow.CRR, Connections: 16}},
		"rr-10k-paced": {Spec: flow.Spec{Connections: 10_000 / 3, Pace: 1000}},
	} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				asker, responder := engine(b), engine(b)
				join(b, asker, responder, requests(1, request))
				w := window(time.Second, asker, responder)
				sched.SleepUntil(w.EndNs)
				end := asker.Read()[0]
				asker.Close()
				responder.Close()
				b.ReportMetric(float64(end.Transactions.Latency.Count), "per-s")
				b.ReportMetric(end.Transactions.Latency.P50Us, "p50-µs")
				b.ReportMetric(end.Transactions.Latency.P99Us, "p99-µs")
			}
		})
	}
}
