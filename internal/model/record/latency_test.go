package record

import "testing"

func TestTimedOut(t *testing.T) {
	for _, c := range []struct {
		name           string
		mean, p50, max float64
		want           bool
	}{
		{"a short queue that drops", 73e3, 9e3, 430e3, true},
		{"a long queue", 101e3, 100e3, 110e3, false},
		{"one lost request among many", 9.2e3, 9e3, 215e3, false},
		{"a busy host", 15e3, 9e3, 100e3, false},
	} {
		if got := (&Latency{Loaded: &Distribution{MeanUs: c.mean, P50Us: c.p50,
			MaxUs: c.max}}).TimedOut(); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	if (&Latency{}).TimedOut() {
		t.Error("true of no response")
	}
}
