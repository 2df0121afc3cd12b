package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Share returns an interval for the probability of an event that happened in k of n trials (C. J.
// Clopper, E. S. Pearson, Biometrika 26, 1934). k need not be an integer: a trial in which it
// happened in part counts in part. Of all values between 0 and 1 with a given mean, those at the
// ends scatter most, so the interval still holds.
func Share(k float64, n int, confidence float64) (low, high float64) {
	tail := (1 - confidence) / 2
	low, high = 0, 1
	if k > 0 {
		low = distuv.Beta{Alpha: k, Beta: float64(n) - k + 1}.Quantile(tail)
	}
	if k < float64(n) {
		high = distuv.Beta{Alpha: k + 1, Beta: float64(n) - k}.Quantile(1 - tail)
	}
	return low, high
}

// Missed returns the probability per trial above which an event is seen at least once in n trials
// with the given confidence (at 0.95: 0.53 in 4 trials, 0.31 in 8). Less likely events can be missed.
func Missed(n int, confidence float64) float64 {
	if n < 1 {
		return 1
	}
	return 1 - math.Pow(1-confidence, 1/float64(n))
}
