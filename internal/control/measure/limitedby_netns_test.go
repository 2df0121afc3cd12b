//go:build linux

package measure_test

import (
	"testing"
	"time"

	"linerate/internal/control/controltest"
	"linerate/internal/control/measure"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/flow"
	"linerate/internal/science/bottleneck"
)

// TestMeasureLimitedBy: a measurement knows the two ends alone. That a link on the
// way is full shows in the round trips.
func TestMeasureLimitedBy(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		controltest.Wired(t, "50mbit", "client")
		controltest.Serve(t, controltest.Server{})
		for _, test := range []struct {
			flows flow.Spec
			want  string
		}{
			{flow.Spec{}, bottleneck.FullLink},
			{flow.Spec{Direction: flow.Read, ReadCap: 10e6}, bottleneck.SlowReader},
		} {
			m := measured(t, "client", measure.Options{Addresses: []string{"10.0.0.1"}, Flows: test.flows,
				Duration: 1500 * time.Millisecond, Warmup: 500 * time.Millisecond})
			if len(m.Flows) != 1 {
				t.Fatalf("%d flows", len(m.Flows))
			}
			if f := m.Flows[0]; f.LimitedBy != test.want || f.LimitedWhy == "" {
				t.Errorf("%+v: %q, want %q; %s\n%s", test.flows, f.LimitedBy, test.want, f.LimitedWhy,
					controltest.Figures(f))
			}
		}
	})
}
