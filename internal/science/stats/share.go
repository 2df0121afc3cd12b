package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Share bounds the chance of something that happened in k of n trials (C. J. Clopper,
// E. S. Pearson, Biometrika 26, 1934). Trials in which it happened in part count in part:
// of values between 0 and 1 with a given mean, none scatter more than those at the ends.
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

// Missed is the chance per trial up to which an event can stay unseen in n trials: those
// that are more likely are seen with the confidence (0.53 in 4 trials, 0.31 in 8, at 0.95).
func Missed(n int, confidence float64) float64 {
	if n < 1 {
		return 1
	}
	return 1 - math.Pow(1-confidence, 1/float64(n))
}
