package wording

import (
	"math"
	"strings"
	"testing"
)

// TestApart: a figure beyond its bound never reads like the bound, and one that is the
// bound does.
func TestApart(t *testing.T) {
	for _, bound := range []float64{1e-6, 0.002, 0.01, 0.1067, 1.002, 4096, 3.7e9} {
		for _, by := range []float64{0, 1e-9, 1e-6, 1e-3, 0.1} {
			for _, sign := range []float64{1, -1} {
				figure := sign * bound * (1 + by)
				for name, spell := range map[string]func(a, b float64) (string, string){"percents": percents,
					"seconds": seconds, "bytes": sizes} {
					a, b := spell(figure, bound)
					if visible := math.Abs(math.Abs(figure)-bound) > 1e-9; strings.TrimPrefix(a, "-") == b && by > 0 &&
						visible || by == 0 && strings.TrimPrefix(a, "-") != b {
						t.Errorf("%s: %g and %g are %q and %q", name, figure, bound, a, b)
					}
				}
			}
		}
	}
	if text := between(-0.1067, -0.1066, 0.5); text != "-10.67 % (allowed -10.66 % to +50 %)" {
		t.Error(text)
	}
}
