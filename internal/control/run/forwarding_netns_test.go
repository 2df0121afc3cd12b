//go:build linux

package run_test

import (
	"testing"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
)

// TestForwarding is the study with some levels: of a thousand rules a router reads all for each
// packet, and a hundred thousand routes are added and deleted again.
func TestForwarding(t *testing.T) {
	kerneltest.Long(t)
	kerneltest.Needs(t, "nft")
	study := controltest.BuiltIn(t, "forwarding", "count: 1000000", "count: 100000", "duration: 1s", "duration: 300ms")
	run := controltest.Run(t, controltest.Study{File: study, Replicates: 1, Seed: 3,
		Only: []string{"1000 rules", "a million routes"}})
	rate := func(name string) float64 {
		for _, r := range controltest.Treatment(t, run, name).Responses {
			if r.Response == "datagrams" && r.Mean > 0 {
				return r.Mean
			}
		}
		t.Fatalf("%s: no packets", name)
		return 0
	}
	plain, rules, routes := rate("forwards"), rate("1000 rules"), rate("a million routes")
	t.Logf("%.0f packets/s, %.0f with rules, %.0f with routes", plain, rules, routes)
	if rules > plain/2 || routes < plain/4 {
		t.Errorf("%.0f packets/s, %.0f with rules, %.0f with routes", plain, rules, routes)
	}
}
