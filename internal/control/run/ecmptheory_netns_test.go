//go:build linux

package run_test

import (
	"math"
	"testing"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/science/ecmp"
)

// TestECMPTheory: what the lab carries over 2, 4 and 8 links is what theory expects,
// and with chosen ports as many flows have a link each. By chance one mean in ten
// thousand lies outside its band. The windows of eight flows fit into a link's queue: with
// losses, bytes that wait behind a gap for several round trips of 105 ms would leave a link
// of several flows half used in the window.
func TestECMPTheory(t *testing.T) {
	kerneltest.Long(t)
	file := controltest.BuiltIn(t, "ecmp-curve", "rate: 100mbit", "rate: 20mbit, queue: 256KiB", "source_ports: drawn",
		"source_ports: drawn\n  window: 32KiB",
		"duration: 1s", "duration: 120ms", "warmup: 300ms", "warmup: 120ms", "interval: 200ms", "interval: 40ms")
	run := controltest.Run(t, controltest.Study{File: file, Seed: 11, Parts: []string{"chosen"}, Replicates: 2})
	controltest.AsPredicted(t, run, 0)
	for _, trial := range run.Trials {
		links := map[string]bool{}
		for _, f := range trial.Flows {
			links[f.Path[0]] = true
		}
		if trial.Levels["ports"] == "chosen ports" && len(links) != len(trial.Flows) {
			t.Errorf("%s: %d flows are on %d links", trial.Treatment, len(trial.Flows), len(links))
		}
	}
	run.Confidence, run.Margin = 0.9999, 0.3 // used links of a busy machine stay below their limit
	groups := ecmp.Placements(run)
	if len(groups) != 6 {
		t.Errorf("%d treatments judged, want 6", len(groups))
	}
	for _, g := range groups {
		if !g.ByChance && (!g.Chosen || g.IdleTrials != 0) {
			t.Errorf("%+v", g)
		}
		if !g.Inside || !g.IdleAsExpected || g.LeastOfPredicted < 0.5 {
			t.Errorf(
				"%s: measured %.3f links' worth, expected %.3f to %.3f; a link idle in %d of %d, expected %d to "+
					"%d; least part %.3f",
				g.Treatment, g.MeasuredLinks, g.ExpectedLowLinks, g.ExpectedHighLinks, g.IdleTrials, g.Replicates,
				g.IdleLowTrials, g.IdleHighTrials, g.LeastOfPredicted)
		}
		if math.Abs(g.LinkBps/(20e6*8948/9014)-1) > 1e-6 {
			t.Errorf("%s: a link carries %.0f bit/s", g.Treatment, g.LinkBps)
		}
	}
}
