//go:build linux

package run_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/bottleneck"
)

// TestMechanismsAgree: what holds a flow back over a link with delay, what it gets and what
// is predicted for it do not depend on what applies the delay and the loss: the choice of
// the lab, the emulator, and netem where the kernel has it.
func TestMechanismsAgree(t *testing.T) {
	kerneltest.Long(t)
	want := map[string]string{
		"client1": bottleneck.FullLink,
		"client2": bottleneck.RateCap,
		"client3": bottleneck.Application,
		"client4": bottleneck.SlowReader,
		"client5": bottleneck.ReceiverWindow,
		"client6": bottleneck.CongestionWindow,
	}
	file := controltest.File(t, "limited-by-delay.yaml")
	chosen := controltest.Run(t, controltest.Study{File: file})
	by := chosen.Environment.ImpairedBy
	if !strings.Contains(by, "delay and loss by linerate's link emulator") {
		t.Errorf("delay and loss are applied %q, want by the emulator", by)
	}
	runs := map[string]*record.Run{by: chosen}
	if !strings.Contains(by, "no netem") {
		if !strings.Contains(by, "delay by the kernel's netem") {
			t.Errorf("delay is applied %q, want by netem", by)
		}
		for _, m := range topology.Mechanisms {
			run := controltest.Run(t, controltest.Study{File: file, Set: []string{"topology.impaired_by=" + string(m)}})
			runs[run.Environment.ImpairedBy] = run
		}
		if len(runs) != 3 {
			t.Errorf("%d ways to apply delay and loss, want 3", len(runs))
		}
	}
	low, high := map[string]float64{}, map[string]float64{} // by flow: the largest least and the least largest goodput
	// A machine without a processor left delays everything.
	busy := func(trial record.Trial) bool {
		return slices.ContainsFunc(trial.Hosts, func(h netstate.HostReading) bool { return h.CPUBusy > 0.95 })
	}
	for by, run := range runs {
		flows, predicted := 0, 0
		least, most := map[string]float64{}, map[string]float64{}
		for _, trial := range run.Trials {
			for _, f := range trial.Flows {
				if f.LimitedBy != want[f.From] || f.LimitedFacts == nil {
					t.Errorf("%s: block %d, %s: %q, want %q; %+v\n%s", by, trial.Block, f.From, f.LimitedBy,
						want[f.From], f.LimitedFacts, controltest.Figures(f))
				}
				if e := f.Expected; e != nil && !busy(trial) {
					flows++
					if f.GoodputBps >= 0.95*e.LowBps && f.GoodputBps <= controltest.Fuller*e.HighBps {
						predicted++
					} else {
						t.Logf("%s: %s: %.4g Mbit/s, predicted %.4g to %.4g", by, f.From, f.GoodputBps/1e6,
							e.LowBps/1e6, e.HighBps/1e6)
					}
				}
				if least[f.From] == 0 {
					least[f.From] = math.Inf(1)
				}
				least[f.From], most[f.From] = min(least[f.From], f.GoodputBps), max(most[f.From], f.GoodputBps)
			}
		}
		if float64(predicted) < 0.9*float64(flows) {
			t.Errorf("%s: %d of %d flows as predicted, want 90 %%", by, predicted, flows)
		}
		for from := range want {
			low[from] = max(low[from], least[from])
			if h, seen := high[from]; !seen || most[from] < h {
				high[from] = most[from]
			}
		}
		t.Logf("%s: %v to %v", by, least, most)
	}
	for from := range want {
		// Losses are drawn anew in each trial.
		if low[from] > 1.5*high[from] {
			t.Errorf("%s: at least %.4g Mbit/s with one mechanism, at most %.4g with another", from, low[from]/1e6,
				high[from]/1e6)
		}
	}
}
