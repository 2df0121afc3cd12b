//go:build linux

package run_test

import (
	"slices"
	"testing"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/netstate"
	"linerate/internal/science/bottleneck"
	"linerate/internal/science/hostload"
)

// TestLimitedBy makes flows that go no faster for one reason each, side by side,
// and reads which reason is given.
func TestLimitedBy(t *testing.T) {
	kerneltest.RequireNamespaces(t)
	want := map[string]string{
		"client1": bottleneck.FullLink,
		"client2": bottleneck.RateCap,
		"client3": bottleneck.Application,
		"client4": bottleneck.SlowReader,
		"client5": bottleneck.ReceiverWindow,
		"client6": bottleneck.SendBuffer,
		"client7": bottleneck.FullLink, // three flows
		"client8": bottleneck.CongestionWindow,
		"client9": bottleneck.NoAnswer,
		"a":       bottleneck.Generator,
	}
	// What may hold back a flow without a limit while each CPU has time left: two threads that wait for each other.
	unlimited := []string{"", bottleneck.ReceiverWindow, bottleneck.SendBuffer, bottleneck.CongestionWindow}
	run := controltest.Run(t, controltest.Study{File: controltest.File(t, "limited-by.yaml"), Seed: 3})
	seen := map[string]bool{}
	for _, trial := range run.Trials {
		for _, f := range trial.Flows {
			if f.From != f.OpenedBy {
				continue // it only fills the queue of the reverse direction
			}
			seen[f.From] = true
			if f.From == "a" && !exhausted(trial.Hosts) && slices.Contains(unlimited, f.LimitedBy) {
				continue
			}
			if f.LimitedBy != want[f.From] || f.LimitedFacts == nil {
				t.Errorf("block %d, %s: %q, want %q; %+v\n%s", trial.Block, f.From, f.LimitedBy, want[f.From],
					f.LimitedFacts, controltest.Figures(f))
			}
		}
	}
	if len(seen) != len(want) || len(run.Trials) != 4 {
		t.Errorf("%d trials, and flows from %v", len(run.Trials), seen)
	}
}

// exhausted reports whether a thread that moves data, or all CPUs of a host, had no time left.
func exhausted(hosts []netstate.HostReading) bool {
	return slices.ContainsFunc(hosts, func(h netstate.HostReading) bool {
		return max(h.GeneratorCPU, hostload.UsableOf(h).Busy) >= bottleneck.Spent
	})
}
