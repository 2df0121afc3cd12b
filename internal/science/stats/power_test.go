package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"linerate/internal/model/record"
)

// TestPowerOfPairedTest: published powers of the paired t test.
func TestPowerOfPairedTest(t *testing.T) {
	for _, c := range []struct {
		source          string
		pairs           int
		mean, deviation float64
		want            float64
	}{
		// Cohen (1969, p. 48) as computed in the manual of G*Power 3, "Means: difference
		// between two dependent means".
		{"G*Power 3", 50, 0.421637, 1, 0.832114},
		// power.t.test(delta=.5, sd=.3088401, n=10, type="paired")
		{"R", 10, 0.5, 0.3088401, 0.9947832},
	} {
		test := pairedTest{pairs: c.pairs, deviation: c.deviation, confidence: 0.95}
		if got := test.power(c.mean); math.Abs(got-c.want) > 2e-6 {
			t.Errorf("%s: a power of %.7f, want %.7f", c.source, got, c.want)
		}
	}
}

// TestDetectable: means in standard deviations that are detected with 80 %, from SciPy's
// noncentral t: brentq(lambda d: nct.sf(t.ppf(1-sig/2, n-1), n-1, d*sqrt(n)) - 0.8, 0.01, 50)
// with sig = 1 - 0.95**(1/m).
func TestDetectable(t *testing.T) {
	for _, c := range []struct {
		pairs, m int
		want     float64
	}{
		{4, 1, 2.1279494}, {4, 12, 4.9642048}, {4, 36, 7.1770575},
		{6, 1, 1.4345453}, {6, 12, 2.5455459}, {6, 36, 3.2161000},
		{8, 1, 1.1560355}, {8, 12, 1.8553058}, {8, 36, 2.2271642},
		{20, 1, 0.6604424}, {20, 12, 0.9281885}, {20, 36, 1.0421082},
	} {
		test := pairedTest{pairs: c.pairs, deviation: 1, confidence: Sidak(0.95, c.m)}
		if got := test.detectable(0.8); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%d pairs, %d comparisons: %.7f, want %.7f", c.pairs, c.m, got, c.want)
		}
	}
}

// TestSensitivityByMargin: a design that would detect much less without its margin says so.
func TestSensitivityByMargin(t *testing.T) {
	for _, blocks := range []int{12, 24, 48} {
		d := Design{Blocks: blocks, Comparisons: 3, Responses: 1, Confidence: 0.95, Margin: 0.15}
		if s := d.Sensitivity(0.01); s.ByMargin != 0.15 || s.Detectable > 0.15 {
			t.Errorf("%d blocks: %+v", blocks, s)
		}
		if s := d.Sensitivity(0.2); s.ByMargin != 0 {
			t.Errorf("%d blocks that scatter: %+v", blocks, s)
		}
	}
}

// TestSensitivity: a change of the size that a design is said to detect gets its verdict in
// four of five runs, also where it is hardly beyond the margin.
func TestSensitivity(t *testing.T) {
	const runs = 400
	rng := rand.New(rand.NewPCG(14, 4))
	for _, d := range []Design{
		{Blocks: 4, Comparisons: 1}, {Blocks: 6, Comparisons: 4}, {Blocks: 8, Comparisons: 12},
		{Blocks: 12, Comparisons: 2, Margin: 0.02}, {Blocks: 8, Comparisons: 1, Margin: 0.02},
	} {
		for _, scatter := range []float64{0.002, 0.01, 0.2} {
			d.Responses, d.Confidence = 1, 0.95
			s := d.Sensitivity(scatter)
			detected, sigma := 0, math.Sqrt(math.Log1p(scatter*scatter))
			for range runs {
				run := &record.Run{Confidence: d.Confidence, Margin: d.Margin,
					Factors: []record.Factor{{Name: "f", Baseline: "0"}}}
				for k := range d.Comparisons + 1 {
					name := fmt.Sprint(k)
					run.Factors[0].Levels = append(run.Factors[0].Levels, record.Level{Name: name})
					for block := range d.Blocks {
						goodput := 1e9 * math.Exp(sigma*rng.NormFloat64())
						if k > 0 {
							goodput *= 1 + s.Detectable
						}
						run.Trials = append(run.Trials,
							record.Trial{Treatment: name, Levels: map[string]string{"f": name}, Block: block + 1,
								GoodputBps: goodput})
					}
				}
				effects, _ := Of(run).Effects()
				if effects[rng.IntN(len(effects))].Verdict == record.Improves {
					detected++
				}
			}
			// Three and a half standard errors are 7 points.
			if share := float64(detected) / runs; math.Abs(share-s.Power) > 0.07 {
				t.Errorf("%+v, scatter %g: a change of %.4f is detected in %.3f of the runs, want %g", d, scatter,
					s.Detectable, share, s.Power)
			}
		}
	}
	if s := (Design{Blocks: 8, Comparisons: 2, Responses: 1, Confidence: 0.95, Margin: 0.02}).Sensitivity(0); math.Abs(
		s.Detectable-0.02) > 1e-6 {
		t.Errorf("without scatter a change of %g is detectable, want the margin", s.Detectable)
	}
	if s := (Design{Blocks: 8, Responses: 1, Confidence: 0.95}).Sensitivity(0.01); s != nil {
		t.Errorf("a design that compares nothing: %+v", s)
	}
}
