package stats

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"

	"linerate/internal/model/record"
)

// power is the probability with which a run detects a change of the size Sensitivity.Detectable.
// 0.8 is customary (Cohen 1988).
const power = 0.8

// Design describes the comparisons of a run or a plan. Comparisons is their number in each of
// Responses responses. The intervals of all of them hold simultaneously at Confidence. Differences
// within Margin do not matter (record.Run).
type Design struct {
	Blocks, Comparisons, Responses int
	Confidence, Margin             float64
}

// byMargin is a multiple of the change that could be detected without a margin. If the detectable
// change is larger, it is the margin that decides it, and more blocks do not make it smaller.
const byMargin = 2

// Sensitivity returns the smallest change that the design is likely to show. scatter is the
// relative standard deviation of trials around their mean (0.01: 1 %). nil: the design compares
// nothing, or has too few blocks for a verdict.
func (d Design) Sensitivity(scatter float64) *record.Sensitivity {
	if d.Comparisons == 0 || d.Blocks < LeastBlocks {
		return nil
	}
	// Trials are assumed to be lognormal: the deviation of their logarithms follows from the
	// relative one, and a paired ratio has two of them.
	test := pairedTest{
		pairs: d.Blocks, deviation: math.Sqrt(2 * math.Log1p(scatter*scatter)),
		confidence: Sidak(d.Confidence, d.Comparisons*d.Responses), margin: math.Log1p(d.Margin),
	}
	s := &record.Sensitivity{Detectable: math.Expm1(test.detectable(power)), Power: power, Scatter: scatter,
		Blocks: d.Blocks, Comparisons: d.Comparisons}
	test.margin = 0
	if s.Detectable > byMargin*math.Expm1(test.detectable(power)) {
		s.ByMargin = d.Margin
	}
	return s
}

// pairedTest judges the mean of normal differences by its interval (Student's t): positive if the
// interval is above zero and reaches beyond the margin.
type pairedTest struct {
	pairs              int
	deviation          float64 // standard deviation of a difference; above zero for power
	confidence, margin float64
}

// power returns the probability that differences with this mean, above zero, are judged positive.
// If the margin is zero, it is that of the noncentral t distribution: the mean is normal, its
// estimated standard error is a scaled chi, both are independent, and the probability is the
// integral over the latter.
func (t pairedTest) power(mean float64) float64 {
	freedom, se := float64(t.pairs-1), t.deviation/math.Sqrt(float64(t.pairs))
	chi2 := distuv.ChiSquared{K: freedom}
	critical := distuv.StudentsT{Sigma: 1, Nu: freedom}.Quantile(0.5 + t.confidence/2)
	at := func(x float64) float64 { // x is the estimated standard error divided by the true one
		half := critical * se * x
		least := max(half, t.margin-half)
		return 2 * freedom * x * chi2.Prob(freedom*x*x) * distuv.UnitNormal.CDF((mean-least)/se)
	}
	// There is no derivative where least bends, so the integral is computed on each side
	// separately.
	const beyond, points = 1e-10, 64
	low, high := math.Sqrt(chi2.Quantile(beyond)/freedom), math.Sqrt(chi2.Quantile(1-beyond)/freedom)
	bend := min(max(t.margin/2/(critical*se), low), high)
	return quad.Fixed(at, low, bend, points, quad.Legendre{}, 0) + quad.Fixed(at, bend, high, points,
		quad.Legendre{}, 0)
}

// detectable returns the smallest mean that is judged positive with a probability, by bisection.
func (t pairedTest) detectable(probability float64) float64 {
	if t.deviation == 0 {
		return t.margin
	}
	low, high := 0.0, max(t.margin, t.deviation)
	for t.power(high) < probability {
		low, high = high, 2*high
	}
	for range 24 {
		if mid := (low + high) / 2; t.power(mid) < probability {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}
