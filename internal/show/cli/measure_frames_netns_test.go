//go:build linux

package cli

import (
	"strings"
	"testing"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/packet"
	"linerate/internal/model/metric"
)

// TestMeasureFrames: a server receives frames of each kind, over either family, at the pace
// that was asked for or as fast as the link lets them out, and sends none.
func TestMeasureFrames(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		wired(t, "50mbit", "client")
		serving(t)
		for _, c := range []struct {
			at, frame string
			bytes     int
		}{{"10.0.0.1", "64", 18}, {"fd00::1", "1518", 1452}, {"10.0.0.1", "imix", 316}} {
			m := datagrams(t, "client", c.at, "--frame", c.frame, "--pace", "2000")
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
		m := datagrams(t, "client", "10.0.0.1", "--frame", "64")
		if d := m.Directions[0]; d.GoodputBps > limit*fuller || d.GoodputBps < limit*0.1 {
			t.Errorf("%.0f bit/s of %.0f", d.GoodputBps, limit)
		}
		if _, status, said := measuredPlainly(t, "client", "--protocol", "udp", "--frame", "64", "--direction", "read",
			"10.0.0.1"); status == 0 || !strings.Contains(said, "it does neither") {
			t.Errorf("a server that is to send frames: status %d, %s", status, said)
		}
	})
}

// TestFramesRouted: through a router, both ways at once, what is sent arrives, with the
// pace that was asked for; also with more tuples than there are source ports.
func TestFramesRouted(t *testing.T) {
	run := runLab(t, t.TempDir(), labFile(t, "frames.yaml"))
	if failed := failures(run); failed != "" {
		t.Error(failed)
	}
	for _, trial := range run.Trials {
		g := trial.Datagrams
		rate, known := metric.Datagrams.Value(&trial)
		if g == nil || !known {
			t.Fatalf("%s: %+v", trial.Treatment, trial)
		}
		if paced := trial.Levels["frames"] != "unpaced"; paced && (g.Lost > 0 || g.Reordered > 0) || g.Duplicates > 0 {
			t.Errorf("%s: %+v", trial.Treatment, g)
		}
		for _, f := range trial.Flows {
			if f.Error != "" || f.SendMode != packet.Socket && f.SendMode != packet.Program {
				t.Errorf("%s, %s: sent by %q: %s", trial.Treatment, f.ID, f.SendMode, f.Error)
			}
		}
		if want := map[string]float64{"64 bytes": 4000, "a mix": 1000,
			"100,000 tuples": 4000}[trial.Levels["frames"]]; want > 0 && (rate < want*0.8 || rate > want*1.05) {
			t.Errorf("%s: %.0f datagrams per second, want %.0f", trial.Treatment, rate, want)
		}
	}
}
