package stats

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// unboundedRatio is the largest upper bound of a ratio. It stands for "no useful bound": the
// interval of four replicates that differ by chance can reach beyond any number that makes sense.
const unboundedRatio = 1e6

// estimator compares two sides at a confidence. It estimates level divided by base, or level minus
// base. p is the two-sided probability that chance alone takes the estimate this far from the value
// of no difference, which is 1 for a ratio and 0 for a difference.
type estimator func(base, level Side, confidence float64) (in Interval, p float64)

// estimators has the comparisons for one kind of sides. Paired sides have values of the same blocks
// in the same places.
type estimators struct{ ratio, difference estimator }

var (
	paired = estimators{ofNoise(ofPercentiles(pairedPercentiles, pairedRatio), combinedRatio),
		ofNoise(pairedDifference, combinedDifference)}
	unpaired = estimators{ofNoise(ofPercentiles(combinedRatio, welchRatio), combinedRatio),
		ofNoise(welchDifference, combinedDifference)}
)

// ofNoise returns an estimator that uses noise for sides whose values only scatter, and other for
// sides whose intervals include more than their scatter. other compares means, not those of
// logarithms.
func ofNoise(noise, other estimator) estimator {
	return func(base, level Side, confidence float64) (Interval, float64) {
		if base.plain() && level.plain() {
			return noise(base, level, confidence)
		}
		return other(base, level, confidence)
	}
}

// pairedRatio returns the geometric mean and t interval of the log-ratios if all values are
// positive, and those of the plain ratios otherwise. No base may be zero.
func pairedRatio(base, level Side, confidence float64) (Interval, float64) {
	ratios := make([]float64, len(base.Values))
	for i, b := range base.Values {
		ratios[i] = level.Values[i] / b
	}
	if logs, positive := logs(ratios); positive {
		in, p := Mean(logs, confidence), pValue(logs, 0)
		return in.exp(), p
	}
	return Mean(ratios, confidence).from(0), pValue(ratios, 1)
}

func pairedDifference(base, level Side, confidence float64) (Interval, float64) {
	differences := make([]float64, len(base.Values))
	for i, b := range base.Values {
		differences[i] = level.Values[i] - b
	}
	return Mean(differences, confidence), pValue(differences, 0)
}

// welchRatio returns Welch's t interval (1947), which does not assume that the two sides scatter
// equally: of the logarithms if all values are positive, otherwise of the ratio of the means, with
// its variance to first order.
func welchRatio(base, level Side, confidence float64) (Interval, float64) {
	baseLogs, basePositive := logs(base.Values)
	levelLogs, levelPositive := logs(level.Values)
	if basePositive && levelPositive {
		in, p := welch(baseLogs, levelLogs, confidence)
		return in.exp(), p
	}
	// d(l/b) = dl/b − l/b² db
	mean := stat.Mean(base.Values, nil)
	l := part(level.Values, 1/mean)
	in, p := satterthwaite(l.mean, 1, part(base.Values, l.mean/mean), l, confidence)
	return in.from(0), p
}

func welchDifference(base, level Side, confidence float64) (Interval, float64) {
	return welch(base.Values, level.Values, confidence)
}

// welch estimates the mean of level minus that of base.
func welch(base, level []float64, confidence float64) (Interval, float64) {
	b, l := part(base, 1), part(level, 1)
	return satterthwaite(l.mean-b.mean, 0, b, l, confidence)
}

// satterthwaite returns the interval of an estimate whose variance is the sum of both, with degrees
// of freedom by F. E. Satterthwaite (1946). It is unknown if a side has a single value.
func satterthwaite(estimate, centre float64, a, b sample, confidence float64) (Interval, float64) {
	if a.freedom == 0 || b.freedom == 0 {
		return Interval{Mean: estimate}, 1
	}
	variance := a.variance + b.variance
	freedom := variance * variance / (a.variance*a.variance/a.freedom + b.variance*b.variance/b.freedom)
	return sample{estimate, variance, freedom}.student(centre, confidence)
}

// combinedDifference returns the interval of a difference of means. It follows from the confidence
// limits of both sides (G. Y. Zou, A. Donner, Statistics in Medicine 27, 2008), whatever these are
// based on.
func combinedDifference(base, level Side, confidence float64) (Interval, float64) {
	at := func(confidence float64) Interval {
		b, l := base.Mean(confidence), level.Mean(confidence)
		return combine(b, l)
	}
	return at(confidence), touches(at, 0)
}

// combinedRatio returns the interval of a ratio of means. It is derived like that of
// combinedDifference, but from the logarithms of both sides' means.
func combinedRatio(base, level Side, confidence float64) (Interval, float64) {
	at := func(confidence float64) Interval {
		b, l := base.Mean(confidence), level.Mean(confidence)
		switch {
		case !b.Known || !l.Known:
			return Interval{Mean: l.Mean / b.Mean}
		case l.Mean <= 0: // zero has no logarithm
			high := 0.0
			if l.High > 0 { // otherwise it is 0 over 0, and the base may be zero
				high = min(l.High/b.Low, unboundedRatio)
			}
			return Interval{High: high, Half: high / 2, Known: true}
		}
		return combine(b.log(), l.log()).exp()
	}
	return at(confidence), touches(at, 1)
}

func combine(base, level Interval) Interval {
	mean := level.Mean - base.Mean
	if !base.Known || !level.Known {
		return Interval{Mean: mean}
	}
	low := mean - math.Hypot(level.Mean-level.Low, base.High-base.Mean)
	high := mean + math.Hypot(level.High-level.Mean, base.Mean-base.Low)
	return Interval{Mean: mean, Low: low, High: high, Half: (high - low) / 2, Known: true}
}

// touches returns the p-value that belongs to an interval: the least p for which the interval of
// confidence 1 − p excludes the value none.
func touches(at func(confidence float64) Interval, none float64) float64 {
	leavesOut := func(exponent float64) bool {
		in := at(1 - math.Pow(10, exponent))
		return in.Known && (none < in.Low || in.High < none)
	}
	low, high := -12.0, 0.0
	if !leavesOut(high) {
		return 1
	}
	for range 12 { // to 1 % of p
		if middle := (low + high) / 2; leavesOut(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return math.Pow(10, high)
}

// logs returns the logarithms of values; false if one of them is not positive.
func logs(values []float64) ([]float64, bool) {
	out := make([]float64, len(values))
	for i, v := range values {
		if v <= 0 {
			return nil, false
		}
		out[i] = math.Log(v)
	}
	return out, true
}
