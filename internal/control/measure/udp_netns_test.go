//go:build linux

package measure_test

import (
	"testing"
	"time"

	"linerate/internal/control/controltest"
	"linerate/internal/control/measure"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/show/export"
)

// TestServerRate: a server's rate bounds datagrams, and responses of connections
// that stay.
func TestServerRate(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		controltest.Wired(t, "50mbit", "client")
		controltest.Serve(t, controltest.Server{Bounds: message.Bounds{RateBps: 4e6}})
		m := datagrams(t, "10.0.0.1:5202", flow.Spec{Direction: flow.Read, Streams: 2, RateCap: 20e6, Datagram: 400})
		if m.GoodputBps > 4.2e6 || m.GoodputBps < 1e6 {
			t.Errorf("%.0f bit/s, the server allows 4 Mbit/s", m.GoodputBps)
		}
		for _, protocol := range []string{flow.RR, flow.UDPRR} {
			m := measured(t, "client", measure.Options{Addresses: []string{"10.0.0.1"}, Duration: time.Second,
				Warmup: 500 * time.Millisecond, Flows: flow.Spec{Protocol: protocol, Response: 1000}})
			if len(m.Flows) != 1 || m.Flows[0].TransactionsPerS == 0 || m.Flows[0].TransactionsPerS*8*1000 > 4.2e6 {
				t.Errorf("%s: %+v, the server allows 500 responses a second", protocol, m.Flows)
			}
		}
	})
}

// datagrams measures with UDP between the client and a server.
func datagrams(t *testing.T, at string, flows flow.Spec) export.Measurement {
	t.Helper()
	flows.Protocol = flow.UDP
	m := measured(t, "client", measure.Options{Addresses: []string{at}, Duration: time.Second,
		Warmup: 500 * time.Millisecond, Flows: flows})
	if doubts := controltest.Failures(m.Trust); doubts != "" {
		t.Errorf("%+v: %s", flows, doubts)
	}
	return m
}
