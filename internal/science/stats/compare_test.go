package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"linerate/internal/model/metric"
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
	ratio, p := unpaired.ratio(Side{Values: exp(drug2)}, Side{Values: exp(drug1)}, 0.95)
	if !ratio.Known {
		t.Fatalf("%+v", ratio)
	}
	if !within(math.Log(ratio.Mean), 0.75-2.33, 1e-9) || !within(math.Log(ratio.Low), -3.3654832, 1e-7) ||
		!within(math.Log(ratio.High), 0.2054832, 1e-7) || !within(p, 0.07939, 5e-6) {
		t.Errorf("log of ratio %.7f (%.7f … %.7f), p = %.5f", math.Log(ratio.Mean), math.Log(ratio.Low),
			math.Log(ratio.High), p)
	}
	back, again := unpaired.ratio(Side{Values: exp(drug1)}, Side{Values: exp(drug2)}, 0.95)
	if !within(back.Low*ratio.High, 1, 1e-9) || !within(back.High*ratio.Low, 1, 1e-9) || !within(p, again, 1e-12) {
		t.Errorf("reversed: %+v, p = %v", back, again)
	}
}

// Of what may be below zero the difference is taken, which is the hours themselves.
func TestUnpairedDifference(t *testing.T) {
	apart, p := unpaired.difference(Side{Values: drug2}, Side{Values: drug1}, 0.95)
	if !apart.Known || !within(apart.Mean, 0.75-2.33, 1e-9) || !within(apart.Low, -3.3654832, 1e-7) ||
		!within(apart.High, 0.2054832, 1e-7) || !within(p, 0.07939, 5e-6) {
		t.Errorf("%+v, p = %.5f", apart, p)
	}
	two := Unpaired(Side{Values: []float64{-0.1, -0.1}}, Side{Values: []float64{0.2, 0.2}}, metric.Surplus, 0.95, 0.02)
	if d := two.Difference; d == nil || !within(d.Mean, 0.3, 1e-12) || two.P != 1 ||
		two.Verdict != record.Inconclusive || two.Why != "a verdict takes 4 trials on each side, and there are 2" {
		t.Errorf("%+v", two)
	}
	if none := Unpaired(Side{}, Side{Values: []float64{1}}, metric.Surplus, 0.95, 0.02); !none.Ratio.None ||
		none.Why != "no trial has both" {
		t.Errorf("%+v", none)
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
			ratio, _ := unpaired.ratio(Side{Values: base}, Side{Values: level}, 0.95)
			if zeros { // the same on the plain scale
				mean := Mean(base, 0.95).Mean
				l := part(level, 1/mean)
				ratio, _ = satterthwaite(l.mean, 1, part(base, l.mean/mean), l, 0.95)
			}
			if ratio.Low <= truth && truth <= ratio.High {
				held++
			}
		}
		if share := float64(held) / rounds; share < 0.935 || share > 0.965 {
			t.Errorf("zeros %v: the interval held the truth in %.1f %% of %d rounds, want 95 %%", zeros,
				100*share, rounds)
		}
	}
}

func TestUnpairedAtTheEdges(t *testing.T) {
	same := func(v float64) Side { return Side{Values: []float64{v, v, v, v}} }
	for _, c := range []struct {
		name        string
		base, level Side
		want        record.EffectSize
		p           float64
		why         string
		verdict     string
	}{
		{"from nothing", same(0), same(3), record.EffectSize{None: true}, 0,
			"the first is zero in every trial: there is no ratio, only a difference", record.Improves},
		{"to nothing", same(3), same(0), record.EffectSize{}, 0, "", record.Worsens},
		{"nothing to nothing", same(0), same(0), record.EffectSize{None: true}, 1, "both are zero in every trial",
			record.NoDifference},
		{"constant and equal", same(3), same(3), record.EffectSize{Mean: 1, Low: 1, High: 1}, 1, "",
			record.NoDifference},
		{"constant and double", same(3), same(6), record.EffectSize{Mean: 2, Low: 2, High: 2}, 0, "", record.Improves},
		{"three of them", Side{Values: []float64{3, 3, 3}}, same(6), record.EffectSize{Mean: 2, Low: 2, High: 2}, 1,
			"a verdict takes 4 trials on each side, and there are 3", record.Inconclusive},
	} {
		got := Unpaired(c.base, c.level, metric.Goodput, 0.95, 0.02)
		near := within(got.Ratio.Mean, c.want.Mean, 1e-12) && within(got.Ratio.Low, c.want.Low, 1e-12) &&
			within(got.Ratio.High, c.want.High, 1e-12)
		if !near || got.Ratio.None != c.want.None || got.P != c.p || got.Why != c.why || got.Verdict != c.verdict {
			t.Errorf("%s: %+v, want %+v, p = %v, %q, %s", c.name, got, c.want, c.p, c.why, c.verdict)
		}
	}
	// Some trials carried nothing: the figures are there, and honest about it.
	ratio, _ := unpaired.ratio(Side{Values: []float64{100, 101, 99, 100}}, Side{Values: []float64{0, 100, 0, 100}},
		0.95)
	if !within(ratio.Mean, 0.5, 1e-12) || ratio.Low != 0 || ratio.High < 1 {
		t.Errorf("some zeros: %+v, want a wide interval around one half", ratio)
	}
}
