//go:build linux

package cli

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/record"
	"linerate/internal/science/ecmp"
	"linerate/internal/science/sciencetest"
)

// likeLimits fails unless `limits ecmp` expects of a group what the run's theory does.
func likeLimits(t *testing.T, g record.Hashing) {
	t.Helper()
	_, out, errs := ecmpRun(fmt.Sprintf("--links %d --flows %d --rate 100mbit --json", g.Links, g.Flows))
	var l ecmp.Forecast
	if err := json.Unmarshal([]byte(out), &l); err != nil {
		t.Fatalf("%s: %v, %s", g.Treatment, err, errs)
	}
	used, _ := ecmp.Alike(g.Links, 1).Used(g.Placements)
	if math.Abs(l.ExpectedBps/100e6-g.ExpectedLinks) > 1e-9 || math.Abs(l.SDBps/100e6-used.SD()) > 1e-6 ||
		math.Abs(l.SomeIdle-g.IdleChance) > 1e-12 {
		t.Errorf(
			"%s: limits ecmp expects %.4f ±%.4f links' worth and an idle link with %.4f, the run's theory %.4f ±%.4f and %.4f",
			g.Treatment, l.ExpectedBps/100e6, l.SDBps/100e6, l.SomeIdle, g.ExpectedLinks, used.SD(), g.IdleChance)
	}
}

// TestECMPLimits: every case of a run's curve is held against what `limits ecmp`
// says of it.
func TestECMPLimits(t *testing.T) {
	source := rand.New(rand.NewPCG(5, 6))
	groups := ecmp.Placements(sciencetest.Curve([]int{2, 4, 8}, []int{1, 2, 3, 4, 8, 16, 32}, 1, func(links int) int {
		return source.IntN(links)
	}))
	if len(groups) != 21 {
		t.Fatalf("%d groups", len(groups))
	}
	for _, g := range groups {
		likeLimits(t, g)
	}
}

// TestECMPTheory: what the lab carries over 2, 4 and 8 links is what theory expects,
// and with chosen ports as many flows have a link each. By chance one mean in ten
// thousand lies outside its band. The windows of eight flows fit into a link's queue: with
// losses, bytes that wait behind a gap for several round trips of 105 ms would leave a link
// of several flows half used in the window.
func TestECMPTheory(t *testing.T) {
	kerneltest.Long(t)
	file := slowFabric(t, "ecmp-curve", "rate: 100mbit", "rate: 20mbit, queue: 256KiB", "source_ports: drawn",
		"source_ports: drawn\n  window: 32KiB",
		"duration: 1s", "duration: 120ms", "warmup: 300ms", "warmup: 120ms", "interval: 200ms", "interval: 40ms")
	run := runLab(t, t.TempDir(), file, "--seed", "11", "--part", "chosen", "--replicates", "2")
	asSaid(t, run, 0)
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
		if g.ByChance {
			likeLimits(t, g)
		} else if !g.Chosen || g.IdleTrials != 0 {
			t.Errorf("%+v", g)
		}
		if !g.Inside || !g.IdleAsExpected || g.LeastOfPredicted < 0.5 {
			t.Errorf(
				"%s: measured %.3f links' worth, expected %.3f to %.3f; a link idle in %d of %d, expected %d to %d; least part %.3f",
				g.Treatment, g.MeasuredLinks, g.ExpectedLowLinks, g.ExpectedHighLinks, g.IdleTrials, g.Replicates,
				g.IdleLowTrials, g.IdleHighTrials, g.LeastOfPredicted)
		}
		if math.Abs(g.LinkBps/(20e6*8948/9014)-1) > 1e-6 {
			t.Errorf("%s: a link carries %.0f bit/s", g.Treatment, g.LinkBps)
		}
	}
}
