package agent

import (
	"testing"

	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/study"
	"linerate/internal/model/unit"
)

// TestPace: flows keep to a rate together, and a probe of latency leaves nearly all of it to the
// data beside it.
func TestPace(t *testing.T) {
	const rate = 1e9
	probe := message.FlowRequest{Spec: study.ProbeOptions("cubic", 0, 0)}
	bulk := message.FlowRequest{Spec: flow.Spec{Protocol: flow.TCP}, Sends: true}
	slow := message.FlowRequest{Spec: flow.Spec{Protocol: flow.TCP, RateCap: unit.BitRate(1e6)}, Sends: true}
	asking := message.FlowRequest{Spec: flow.Spec{Protocol: flow.RR, Response: 1 << 16, Connections: 10}}
	received := message.FlowRequest{Spec: flow.Spec{Protocol: flow.TCP}}
	for _, c := range []struct {
		list  []message.FlowRequest
		least []float64 // of each connection; 0: not paced
	}{
		{[]message.FlowRequest{bulk}, []float64{rate}},
		{[]message.FlowRequest{bulk, bulk}, []float64{rate / 2, rate / 2}},
		{[]message.FlowRequest{bulk, probe}, []float64{0.99 * rate, 8}},
		{[]message.FlowRequest{asking, bulk}, []float64{rate / 20, rate / 2}},
		{[]message.FlowRequest{received, slow}, []float64{0, 1e6}},
	} {
		pace(c.list, rate)
		sum := 0.0
		for i, o := range c.list {
			got := float64(o.RateCap)
			if got < c.least[i] || c.least[i] == 0 && got != 0 {
				t.Errorf("%s %d of %+v: %g, want %g at least", o.Protocol, i, c.least, got, c.least[i])
			}
			sum += got * float64(o.Paced())
		}
		if sum > 1.001*rate {
			t.Errorf("%+v: %g together", c.least, sum)
		}
	}
}
