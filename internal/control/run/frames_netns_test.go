//go:build linux

package run_test

import (
	"testing"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/packet"
	"linerate/internal/model/metric"
)

// TestFramesRouted: through a router, both ways at once, what is sent arrives, with the
// pace that was asked for; also with more tuples than there are source ports.
func TestFramesRouted(t *testing.T) {
	run := controltest.Run(t, controltest.Study{File: controltest.File(t, "frames.yaml")})
	if failed := controltest.Failures(run.Trust); failed != "" {
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
