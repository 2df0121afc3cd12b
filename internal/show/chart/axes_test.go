package chart

import (
	"math"
	"testing"
)

func TestTicks(t *testing.T) {
	for high, want := range map[float64]string{478.2: "0 100 200 300 400", 1: "0.0 0.2 0.4 0.6 0.8 1.0", 0: "0",
		95.6: "0 20 40 60 80", math.Inf(1): "0"} {
		got := ""
		for i, l := range tickLabels(ticks(0, high, 5)) {
			if i > 0 {
				got += " "
			}
			got += l
		}
		if got != want {
			t.Errorf("ticks to %g: %s, expected %s", high, got, want)
		}
	}
}
