//go:build linux

package cli

import (
	"testing"

	"linerate/internal/kernel/kerneltest"
)

// TestForwarding is the study with some levels: of a thousand rules a router reads all for each
// packet, and a hundred thousand routes are added and deleted again.
func TestForwarding(t *testing.T) {
	kerneltest.Long(t)
	needs(t, "nft")
	study := slowFabric(t, "forwarding", "count: 1000000", "count: 100000", "duration: 1s", "duration: 300ms")
	run := runLab(t, t.TempDir(), study, "--replicates", "1", "--seed", "3", "--only", "1000 rules,a million routes")
	rate := func(name string) float64 {
		for _, r := range treatment(t, run, name).Responses {
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
