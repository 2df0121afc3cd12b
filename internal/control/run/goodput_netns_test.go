//go:build linux

package run_test

import (
	"math"
	"strings"
	"testing"

	"linerate/internal/control/controltest"
	"linerate/internal/science/limits"
	"linerate/internal/science/stats"
	"linerate/internal/science/trust"
)

// TestShapedGoodput: one flow and a hundred fill a shaped link to within half a
// per cent. At 100 Mbit/s the machine need not be quick, but it may be busy in a
// trial: the median of five does not have that. Nothing may make a link fuller than
// full. script/bench/shaped.yaml has the faster links.
func TestShapedGoodput(t *testing.T) {
	limit := 100e6 * limits.Frame{Shaped: true}.Fraction()
	run := controltest.Run(t, controltest.Study{File: controltest.File(t, "shaped.yaml"), Replicates: 5})
	if text := controltest.Failures(run.Trust); strings.Contains(text, trust.Limit+": ") {
		t.Fatal(text)
	}
	shares := map[string][]float64{}
	for _, trial := range run.Trials {
		sums := map[string]float64{}
		for _, f := range trial.Flows {
			sums[f.From] += f.GoodputBps / limit
		}
		for from, share := range sums {
			shares[from] = append(shares[from], share)
			if share > controltest.Fuller {
				t.Errorf("%s: %.4f of what the link carries", from, share)
			}
		}
	}
	for _, from := range []string{"one", "hundred"} {
		if all := shares[from]; len(all) != 5 || math.Abs(stats.Median(all)-1) > 0.005 {
			t.Errorf("%s: %.4f of what the link carries, want 1 within half a per cent", from, all)
		}
	}
}
