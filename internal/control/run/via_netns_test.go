//go:build linux

package run_test

import (
	"slices"
	"testing"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/record"
	"linerate/internal/science/trust"
)

// TestHostsReachedByVia asks the same question of hosts that linerate did not make
// as of a lab, and expects the same answer; and afterwards the hosts are as they
// were.
func TestHostsReachedByVia(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		dir := t.TempDir()
		hosts, real := controltest.RealHosts(t, dir)
		before := controltest.StateOf(t, hosts)
		// Long enough that a moment's disturbance does not decide.
		longer := []string{"workload.duration=1s", "workload.warmup=500ms"}
		onReal := controltest.Run(t, controltest.Study{File: real, Seed: 7, Set: longer})
		if after := controltest.StateOf(t, hosts); after != before {
			t.Errorf("the hosts are not as they were:\n%s", controltest.FirstDifference(before, after))
		}
		inLab := controltest.Run(t, controltest.Study{File: controltest.File(t, "small.yaml"), Seed: 7, Set: longer})
		if onReal.Environment.Mode != "real hosts" {
			t.Errorf("mode %q", onReal.Environment.Mode)
		}
		// Of a machine that had no more to give, as the check generator says, or that was late
		// for a window's edge by more than the check clock allows, the one run's part was not
		// the other's.
		busy := slices.ContainsFunc(slices.Concat(onReal.Trust, inLab.Trust), func(c record.Check) bool {
			return (c.Check == trust.Generator || c.Check == trust.Clock) && !c.Pass
		})
		for _, want := range inLab.Treatments {
			got := controltest.Treatment(t, onReal, want.Name)
			if ratio := got.Goodput.MeanBps / want.Goodput.MeanBps; !busy && (ratio < 0.93 || ratio > 1.07) {
				t.Errorf("%s: %.3f of the lab's goodput", want.Name, ratio)
			}
			if got.LimitBps != want.LimitBps {
				t.Errorf("%s: limit %.0f, in the lab %.0f", want.Name, got.LimitBps, want.LimitBps)
			}
			for _, id := range []string{"arp-flux", "same-subnet-one-egress", "rp-filter-drop", "arp-wrong-source"} {
				_, here := controltest.Found(onReal, id, want.Name)
				_, there := controltest.Found(inLab, id, want.Name)
				if here != there {
					t.Errorf("%s: finding %s: %t, in the lab %t", want.Name, id, here, there)
				}
			}
		}
		for i, e := range inLab.Effects {
			if onReal.Effects[i].Verdict != e.Verdict && !busy {
				t.Errorf("%s → %s: %s, in the lab %s", e.From, e.To, onReal.Effects[i].Verdict, e.Verdict)
			}
		}
		if bad := controltest.Failures(onReal.Trust); bad != "" {
			t.Errorf("trust checks failed:\n%s", bad)
		}
	})
}
