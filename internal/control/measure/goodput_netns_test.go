//go:build linux

package measure_test

import (
	"sync"
	"testing"
	"time"

	"linerate/internal/control/controltest"
	"linerate/internal/control/measure"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/flow"
	"linerate/internal/science/limits"
	"linerate/internal/science/stats"
	"linerate/internal/science/trust"
	"linerate/internal/show/export"
)

// TestMeasure: goodput is what the wire carries, in either direction and over
// either family, also in both directions at once and with several streams.
func TestMeasure(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		controltest.Wired(t, "100mbit", "client")
		controltest.Serve(t, controltest.Server{})
		for _, test := range []struct {
			name, address string
			ipv6          bool
			flows         flow.Spec
			directions    []string
			streams       int
			full          float64
		}{
			{"write", "10.0.0.1", false, flow.Spec{}, []string{"write"}, 1, 0.99},
			{"read", "10.0.0.1:5202", false, flow.Spec{Direction: flow.Read, Streams: 3}, []string{"read"}, 3, 0.99},
			// Acknowledgements of the one share the link with the other: 86 bytes for two frames.
			{"both", "[fd00::1]:5202", true, flow.Spec{Direction: flow.Both}, []string{"write", "read"}, 1, 0.95},
		} {
			t.Run(test.name, func(t *testing.T) {
				limit := 100e6 * limits.Frame{IPv6: test.ipv6, Shaped: true}.Fraction()
				m := measured(t, "client", measure.Options{Addresses: []string{test.address}, Flows: test.flows,
					Duration: 3 * time.Second, Interval: 250 * time.Millisecond})
				if len(m.Directions) != len(test.directions) {
					t.Fatalf("directions %+v, want %v", m.Directions, test.directions)
				}
				for i, d := range m.Directions {
					if d.Direction != test.directions[i] || d.Flows != test.streams || len(d.Intervals) < 6 {
						t.Errorf("direction %+v, want %s of %d flows with its intervals", d, test.directions[i],
							test.streams)
					}
					if share := d.GoodputBps / limit; share > controltest.Fuller {
						t.Errorf("%s: %.4f of what the link carries", d.Direction, share)
					}
					// A busy machine may keep a link from being full for a moment, which the
					// median does not have.
					var shares []float64
					for _, interval := range d.Intervals {
						shares = append(shares, interval.GoodputBps/limit)
					}
					if stats.Median(shares) < test.full {
						t.Errorf("%s: %.4f of what the link carries, want %.2f", d.Direction, shares, test.full)
					}
				}
				if m.ReceivedBytes > m.WrittenBytes+8<<20 || m.CPUSPerGigabyte <= 0 ||
					m.Schema != export.MeasureSchema {
					t.Errorf("document %+v", m)
				}
				if doubts := controltest.Failures(m.Trust); doubts != "" {
					t.Error(doubts)
				}
			})
		}
	})
}

// TestMeasureTogether: several clients measure with one server at the same time;
// each finishes, they share its port, and the server's other traffic is known to
// each and no reason for doubt.
func TestMeasureTogether(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		clients := []string{"a", "b", "c"}
		controltest.Wired(t, "100mbit", clients...)
		controltest.Serve(t, controltest.Server{})
		limit := 100e6 * limits.Frame{Shaped: true}.Fraction()
		results := make([]export.Measurement, len(clients))
		var all sync.WaitGroup
		for i, client := range clients {
			all.Go(func() {
				run, err := controltest.Measure(t, client, measure.Options{Addresses: []string{"10.0.0.1"},
					Duration: 4 * time.Second, Warmup: 2 * time.Second})
				if err != nil {
					t.Errorf("%s: %v", client, err)
					return
				}
				results[i] = *export.Measure(run, "")
			})
		}
		all.Wait()
		if t.Failed() {
			return
		}
		sum := 0.0
		for i, m := range results {
			sum += m.GoodputBps
			if m.GoodputBps <= 0 {
				t.Errorf("%s got nothing", clients[i])
			}
			others := m.Ends[1].Others
			if others == nil || others.Clients < 1 || others.ReceivedBytes <= 0 {
				t.Errorf("%s does not know of the others: %+v", clients[i], others)
			}
			for _, c := range m.Trust {
				if !c.Pass && (c.Check == trust.Foreign || c.Check == trust.Wire) {
					t.Errorf("%s: %s: %s", clients[i], c.Check, c.Detail)
				}
			}
		}
		// Their windows are not the same, so that the sum is no rate; but where
		// each has its part it is near one.
		if sum > 1.5*limit {
			t.Errorf("together %.0f bit/s over a link that carries %.0f", sum, limit)
		}
	})
}
