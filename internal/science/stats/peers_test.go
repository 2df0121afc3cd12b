package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestAmongPeers: one far value is found, and of few peers, or of values that are not alike, none.
func TestAmongPeers(t *testing.T) {
	peers := func(n int, more ...float64) (list []float64) {
		for i := range n - len(more) {
			list = append(list, 190+float64(i%3))
		}
		return append(list, more...)
	}
	for name, c := range map[string]struct {
		values []float64
		want   []int
	}{
		"one of twelve":        {peers(12, 48), []int{11}},
		"one that is faster":   {peers(12, 700), []int{11}},
		"one that has nothing": {peers(8, 0), []int{7}},
		"two of twelve":        {peers(12, 48, 50), []int{10, 11}},
		"alike":                {peers(12), nil},
		"within half":          {peers(12, 140), nil},
		"few":                  {peers(7, 48), nil},
		"two kinds":            {peers(12, 48, 48, 48, 48), nil},
		"nothing":              {make([]float64, 9), nil},
		"scattered":            {[]float64{30, 60, 100, 130, 170, 220, 300, 20}, nil},
	} {
		if got, _ := AmongPeers(c.values); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestFalseAlarmsAmongPeers counts how often one of several values that are alike stands apart.
func TestFalseAlarmsAmongPeers(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	for _, n := range []int{8, 10, 12, 16, 32, 132} {
		for _, scatter := range []float64{0.03, 0.1, 0.5} {
			const draws = 4000
			alarms := 0
			for range draws {
				values := make([]float64, n)
				for i := range values {
					values[i] = math.Exp(scatter * random.NormFloat64())
				}
				if apart, _ := AmongPeers(values); apart != nil {
					alarms++
				}
			}
			// three standard deviations above the rate that the comment states
			if share := float64(alarms) / draws; share > 0.01+3*math.Sqrt(0.01/draws) {
				t.Errorf("%d values, scatter %g: %.3g %% false alarms", n, scatter, 100*share)
			}
		}
	}
}
