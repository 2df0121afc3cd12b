package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"linerate/internal/model/record"
)

// Student's sleep data (1908): the logarithms of these samples are the hours
// that two drugs added. R: t.test(extra ~ group, data = sleep) gives the
// difference −3.3654832 … 0.2054832, p = 0.07939 with 17.776 degrees of freedom.
var (
	drug1 = []float64{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0}
	drug2 = []float64{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}
)

func exp(values []float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = math.Exp(v)
	}
	return out
}

func within(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance }

func TestUnpairedAgreesWithWelch(t *testing.T) {
	ratio, p, why := Unpaired(exp(drug2), exp(drug1), 0.95)
	if why != "" || !ratio.Known || ratio.N != 20 {
		t.Fatalf("%+v, %q", ratio, why)
	}
	if !within(math.Log(ratio.Mean), 0.75-2.33, 1e-9) || !within(math.Log(ratio.Low), -3.3654832, 1e-7) ||
		!within(math.Log(ratio.High), 0.2054832, 1e-7) || !within(p, 0.07939, 5e-6) {
		t.Errorf("log of ratio %.7f (%.7f … %.7f), p = %.5f", math.Log(ratio.Mean), math.Log(ratio.Low), math.Log(ratio.High), p)
	}
	back, again, _ := Unpaired(exp(drug1), exp(drug2), 0.95)
	if !within(back.Low*ratio.High, 1, 1e-9) || !within(back.High*ratio.Low, 1, 1e-9) || !within(p, again, 1e-12) {
		t.Errorf("reversed: %+v, p = %v", back, again)
	}
}

// Of what may be below zero the difference is taken, which is the hours themselves.
func TestUnpairedDifference(t *testing.T) {
	apart, p, why := UnpairedDifference(drug2, drug1, 0.95)
	if why != "" || !apart.Known || apart.N != 20 || !within(apart.Mean, 0.75-2.33, 1e-9) || !within(apart.Low, -3.3654832, 1e-7) || !within(apart.High, 0.2054832, 1e-7) || !within(p, 0.07939, 5e-6) {
		t.Errorf("%+v, p = %.5f, %q", apart, p, why)
	}
	if one, p, why := UnpairedDifference([]float64{-0.1}, []float64{0.2, 0.2}, 0.95); one.Known || !within(one.Mean, 0.3, 1e-12) || p != 1 || why == "" {
		t.Errorf("%+v, p = %g, %q", one, p, why)
	}
	if none, _, why := UnpairedDifference(nil, []float64{1}, 0.95); none.Known || why == "" {
		t.Errorf("%+v, %q", none, why)
	}
}

// The interval must hold the truth as often as it says, also when the two runs
// scatter differently and have different sizes, with and without logarithms.
func TestUnpairedHoldsTheTruth(t *testing.T) {
	source := rand.New(rand.NewPCG(7, 7))
	for _, zeros := range []bool{false, true} {
		const rounds, truth = 4000, 1.05
		held := 0
		for range rounds {
			base, level := make([]float64, 8), make([]float64, 4)
			for i := range base {
				base[i] = 100 * (1 + 0.002*source.NormFloat64())
			}
			for i := range level {
				level[i] = 100 * truth * (1 + 0.02*source.NormFloat64())
			}
			ratio, _, why := Unpaired(base, level, 0.95)
			if zeros { // the same on the plain scale
				mean := Mean(base, 0.95).Mean
				l := part(level, 1/mean)
				ratio, _ = welch(l.mean, 1, part(base, l.mean/mean), l, 0.95)
			}
			if why != "" {
				t.Fatal(why)
			}
			if ratio.Low <= truth && truth <= ratio.High {
				held++
			}
		}
		if share := float64(held) / rounds; share < 0.935 || share > 0.965 {
			t.Errorf("zeros %v: the interval held the truth in %.1f %% of %d rounds, want 95 %%", zeros, 100*share, rounds)
		}
	}
}

func TestUnpairedAtTheEdges(t *testing.T) {
	for _, c := range []struct {
		name        string
		base, level []float64
		want        Interval
		p           float64
		why         string
		verdict     string
	}{
		{"nothing", nil, []float64{1, 2}, Interval{N: 2}, 1, "one of the two has no trial", record.Inconclusive},
		{"single", []float64{2, 2}, []float64{3}, Interval{Mean: 1.5, N: 3}, 1, "a single trial: the interval is unknown", record.Inconclusive},
		{"from nothing", []float64{0, 0}, []float64{3, 3}, Interval{N: 4}, 1, "the first carried nothing", record.Inconclusive},
		{"to nothing", []float64{3, 3}, []float64{0, 0}, Interval{N: 4, Known: true}, 0, "", record.Worsens},
		{"constant and equal", []float64{3, 3}, []float64{3, 3}, Interval{1, 1, 1, 4, true}, 1, "", record.NoDifference},
		{"constant and double", []float64{3, 3}, []float64{6, 6}, Interval{2, 2, 2, 4, true}, 0, "", record.Improves},
	} {
		ratio, p, why := Unpaired(c.base, c.level, 0.95)
		same := within(ratio.Mean, c.want.Mean, 1e-12) && within(ratio.Low, c.want.Low, 1e-12) && within(ratio.High, c.want.High, 1e-12)
		if !same || ratio.N != c.want.N || ratio.Known != c.want.Known || p != c.p || why != c.why {
			t.Errorf("%s: %+v, p = %v, %q; want %+v, %v, %q", c.name, ratio, p, why, c.want, c.p, c.why)
		}
		if verdict := verdict(ratio, 1, 0.02); verdict != c.verdict {
			t.Errorf("%s: %s, want %s", c.name, verdict, c.verdict)
		}
	}
	// Some trials carried nothing: the figures are there, and honest about it.
	ratio, _, why := Unpaired([]float64{100, 101, 99, 100}, []float64{0, 100, 0, 100}, 0.95)
	if why != "" || !within(ratio.Mean, 0.5, 1e-12) || ratio.Low != 0 || ratio.High < 1 {
		t.Errorf("some zeros: %+v, %q, want a wide interval around one half", ratio, why)
	}
}
