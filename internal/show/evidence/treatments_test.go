package evidence

import (
	"slices"
	"testing"

	"linerate/internal/model/metric"
	"linerate/internal/science/conclude"
	"linerate/internal/science/sciencetest"
	"linerate/internal/show/view"
)

// TestPairedNote: where the intervals of two values overlap and that of their ratio excludes 1, the table
// says why; elsewhere it does not.
func TestPairedNote(t *testing.T) {
	for name, c := range map[string]struct {
		drift, ratio float64
		want         bool
	}{
		"values that vary by block":      {0.2, 1.1, true},
		"values that do not":             {0.0005, 1.1, false},
		"no difference, and they vary":   {0.2, 1, false},
		"a difference larger than drift": {0.01, 3, false},
	} {
		run := sciencetest.Levels("bit/s", 0, []string{""}, []string{"a", "b"}, func(_, l string, block int) float64 {
			bps := 1e8 * (1 + c.drift*float64(block%4)) * (1 + 0.001*float64(block%3))
			if l == "b" {
				bps *= c.ratio * (1 + 0.002*float64(block%2))
			}
			return bps
		}, 6)
		conclude.Conclude(run)
		if got := slices.Contains(Treatments(view.New(run)).Notes, pairedNote); got != c.want {
			t.Errorf("%s: noted: %t", name, got)
		}
	}
}

// TestPercentileNote: where the interval of a percentile is wider than that of its ratio, the table says why.
func TestPercentileNote(t *testing.T) {
	for _, response := range []string{metric.LatencyP99.Name, metric.Goodput.Name} {
		for _, high := range []float64{0, 10} {
			run := sciencetest.Loaded(5, 8, response)
			conclude.Conclude(run)
			for i := range run.Treatments {
				for j := range run.Treatments[i].Responses {
					e := &run.Treatments[i].Responses[j]
					if e.Low, e.High = e.Mean, e.Mean; high > 0 {
						e.High = high * e.Mean
					}
				}
			}
			want := high > 0 && response == metric.LatencyP99.Name
			if got := slices.Contains(Treatments(view.New(run)).Notes, percentileNote); got != want {
				t.Errorf("%s, up to %g times: noted: %t", response, high, got)
			}
		}
	}
}
