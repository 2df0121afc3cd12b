package cli

import (
	"testing"

	"linerate/internal/model/record"
)

func TestGate(t *testing.T) {
	both := func(write, read float64) *record.Measure {
		return &record.Measure{Directions: []record.MeasureDirection{{GoodputBps: write}, {GoodputBps: read}}}
	}
	for _, test := range []struct {
		text        string
		write, read float64
		met         bool
	}{
		{">= 900mbit", 900e6, 901e6, true}, {">= 900mbit", 899e6, 2e9, false}, {"900mbit", 900e6, 900e6, true},
		{">900 Mbit/s", 900e6, 901e6, false}, {"<= 1gbit", 1e9, 1e9, true}, {"< 1gbit", 1e9, 1, false},
	} {
		g, err := parseGate(test.text)
		if err != nil {
			t.Fatal(err)
		}
		if got := g.hold(both(test.write, test.read)); got == nil || got.Met != test.met {
			t.Errorf("%s with %g and %g: %+v", test.text, test.write, test.read, got)
		}
	}
	if g, err := parseGate(""); err != nil || g.hold(both(1, 1)) != nil {
		t.Errorf("nothing is expected: %+v, %v", g, err)
	}
	for _, bad := range []string{"=", ">= fast", "== 1gbit", "!= 1gbit", "90%", ">= -1mbit"} {
		if g, err := parseGate(bad); err == nil {
			t.Errorf("%q is understood as %+v", bad, g)
		}
	}
}
