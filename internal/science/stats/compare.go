package stats

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// Unpaired estimates level over base from values that were not measured side
// by side, such as those of two runs: Welch's t interval (1947), which does not
// take the two for equally scattered. It works on the logarithm when all values
// are positive, and otherwise on the ratio of the means with its variance to
// first order. why explains an unknown interval.
func Unpaired(base, level []float64, confidence float64) (ratio Interval, p float64, why string) {
	n := len(base) + len(level)
	switch {
	case len(base) == 0 || len(level) == 0:
		return Interval{N: n}, 1, "one of the two has no trial"
	case stat.Mean(base, nil) <= 0:
		return Interval{N: n}, 1, "the first carried nothing"
	}
	baseLogs, basePositive := logs(base)
	levelLogs, levelPositive := logs(level)
	positive := basePositive && levelPositive
	if len(base) < 2 || len(level) < 2 {
		mean := stat.Mean(level, nil) / stat.Mean(base, nil)
		if positive {
			mean = math.Exp(stat.Mean(levelLogs, nil) - stat.Mean(baseLogs, nil))
		}
		return Interval{Mean: mean, N: n}, 1, "a single trial: the interval is unknown"
	}
	if positive {
		b, l := part(baseLogs, 1), part(levelLogs, 1)
		ratio, p = welch(l.mean-b.mean, 0, b, l, confidence)
		ratio.Mean, ratio.Low, ratio.High = math.Exp(ratio.Mean), math.Exp(ratio.Low), min(math.Exp(ratio.High), unboundedRatio)
	} else {
		// d(l/b) = dl/b − l/b² db
		mean := stat.Mean(base, nil)
		l := part(level, 1/mean)
		b := part(base, l.mean/mean)
		ratio, p = welch(l.mean, 1, b, l, confidence)
		ratio.Low = max(0, ratio.Low)
	}
	ratio.N = n
	return ratio, p, ""
}

// UnpairedDifference is Unpaired of what may be below zero: level less base.
func UnpairedDifference(base, level []float64, confidence float64) (apart Interval, p float64, why string) {
	n := len(base) + len(level)
	switch {
	case len(base) == 0 || len(level) == 0:
		return Interval{N: n}, 1, "one of the two has no trial"
	case len(base) < 2 || len(level) < 2:
		return Interval{Mean: stat.Mean(level, nil) - stat.Mean(base, nil), N: n}, 1, "a single trial: the interval is unknown"
	}
	b, l := part(base, 1), part(level, 1)
	apart, p = welch(l.mean-b.mean, 0, b, l, confidence)
	apart.N = n
	return apart, p, ""
}

// logs are the logarithms of values, as long as all of them have one.
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

// welch is the interval of an estimate whose variance is the sum of both, and the
// probability of it being this far from centre by chance.
func welch(estimate, centre float64, a, b sample, confidence float64) (Interval, float64) {
	variance := a.variance + b.variance
	// Satterthwaite (1946).
	freedom := variance * variance / (a.variance*a.variance/a.freedom + b.variance*b.variance/b.freedom)
	return sample{estimate, variance, freedom}.student(centre, confidence)
}
