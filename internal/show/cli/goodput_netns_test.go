//go:build linux

package cli

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/science/limits"
	"linerate/internal/science/trust"
)

// TestShapedGoodput: one flow and a hundred fill a shaped link to within half a
// per cent. At 100 Mbit/s the machine need not be quick, but it may be busy: then
// a link is less full, and it is tried again. Nothing may make it fuller than full.
// script/bench/shaped.yaml has the faster links.
func TestShapedGoodput(t *testing.T) {
	kerneltest.RequireNamespaces(t)
	limit := 100e6 * limits.Frame{Shaped: true}.Fraction()
	dir := t.TempDir()
	off := map[string]float64{"one": 1, "hundred": 1} // at best
	var seen []string
	for range 3 {
		run := runLab(t, dir, labFile(t, "shaped.yaml"))
		if text := failures(run); strings.Contains(text, trust.Limit+": ") {
			t.Fatal(text)
		}
		for _, trial := range run.Trials {
			sums := map[string]float64{}
			for _, f := range trial.Flows {
				sums[f.From] += f.GoodputBps / limit
			}
			for from, share := range sums {
				seen = append(seen, fmt.Sprintf("%s %.4f", from, share))
				if share > fuller {
					t.Fatalf("%s: %.4f of what the link carries", from, share)
				}
				off[from] = min(off[from], math.Abs(share-1))
			}
		}
		if off["one"] <= 0.005 && off["hundred"] <= 0.005 {
			return
		}
	}
	slices.Sort(seen)
	t.Errorf("never within half a per cent: %s", strings.Join(seen, ", "))
}
