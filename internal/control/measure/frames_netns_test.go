//go:build linux

package measure_test

import (
	"strings"
	"testing"

	"linerate/internal/control/controltest"
	"linerate/internal/control/measure"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/packet"
	"linerate/internal/model/flow"
)

// TestMeasureFrames: a server receives frames of each kind, over either family, at the pace
// that was asked for or as fast as the link lets them out, and sends none.
func TestMeasureFrames(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		controltest.Wired(t, "50mbit", "client")
		controltest.Serve(t, controltest.Server{})
		for _, c := range []struct {
			at, frame string
			bytes     int
		}{{"10.0.0.1", "64", 18}, {"fd00::1", "1518", 1452}, {"10.0.0.1", "imix", 316}} {
			m := datagrams(t, c.at, flow.Spec{Frame: c.frame, Pace: 2000})
			d, f := m.Directions[0], m.Flows[0]
			g := d.Datagrams
			if g == nil || g.Bytes != c.bytes || g.Lost != 0 || g.Duplicates != 0 || g.Reordered != 0 ||
				g.Sent+g.Skipped < 1900 || g.Sent > 2100 || g.Lateness == nil {
				t.Errorf("%+v: %+v", c, g)
			}
			if f.SendMode != packet.Socket && f.SendMode != packet.Program || f.RateCapBps != float64(8*2000*c.bytes) {
				t.Errorf("%+v: sent by %q at %.0f bit/s (%s)", c, f.SendMode, f.RateCapBps, f.ModeNote)
			}
		}
		// The token bucket counts 60 bytes of a frame of 64.
		const limit = 50e6 * 18 / 60
		m := datagrams(t, "10.0.0.1", flow.Spec{Frame: "64"})
		if d := m.Directions[0]; d.GoodputBps > limit*controltest.Fuller || d.GoodputBps < limit*0.1 {
			t.Errorf("%.0f bit/s of %.0f", d.GoodputBps, limit)
		}
		if _, err := controltest.Measure(t, "client", measure.Options{Addresses: []string{"10.0.0.1"},
			Flows: flow.Spec{Protocol: flow.UDP, Frame: "64", Direction: flow.Read}}); err == nil ||
			!strings.Contains(err.Error(), "it does neither") {
			t.Errorf("a server that is to send frames: %v", err)
		}
	})
}
