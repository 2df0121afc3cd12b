// Package stats turns replicates into estimates, comparisons and verdicts. A replicate is a trial
// with a new set-up; samples within a trial are not replicates. The only samples that this
// package reads are the histograms of latencies.
//
// Intervals are Student's t, widened by what theory leaves to chance and by jumps that other trials
// of the run show (Side). Ratios are compared pairwise within blocks, on the logarithm, where a
// factor of two up and a factor of two down weigh the same. Percentiles are those of all trials'
// transactions together, with Woodruff's interval and the jackknife.
//
// All comparisons of a run, in all its responses, are one family: their intervals hold
// simultaneously at the run's confidence (Šidák 1967), and their p-values are Holm's (1979). A
// treatment's own interval holds by itself.
package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"linerate/internal/model/record"
)

// Interval is an estimate with its precision. With less than two values the precision is unknown:
// Known is false, and Low, High and Half are 0. Half is half the width, before Low and High were
// bounded by what is possible.
type Interval struct {
	Mean, Low, High, Half float64
	N                     int
	Known                 bool
}

// from raises the lower end to low, if it is below that.
func (i Interval) from(low float64) Interval {
	i.Low = max(i.Low, low)
	return i
}

func (i Interval) log() Interval {
	i.Mean, i.Low, i.High = math.Log(i.Mean), math.Log(i.Low), math.Log(i.High)
	return i
}

// exp returns the interval of the quantity whose logarithm has this interval.
func (i Interval) exp() Interval {
	i.Mean = math.Exp(i.Mean)
	if i.Known {
		i.Low, i.High = math.Exp(i.Low), min(math.Exp(i.High), unboundedRatio)
		i.Half = (i.High - i.Low) / 2
	}
	return i
}

func (i Interval) size() record.EffectSize {
	return record.EffectSize{Mean: i.Mean, Low: i.Low, High: i.High, Half: i.Half}
}

// Mean estimates the mean of values at a confidence such as 0.95.
func Mean(values []float64, confidence float64) Interval {
	if len(values) == 0 {
		return Interval{}
	}
	if len(values) == 1 {
		return Interval{Mean: values[0], N: 1}
	}
	in, _ := part(values, 1).student(0, confidence)
	in.N = len(values)
	return in
}

// Estimate fills in the estimate of a response from the interval of its mean.
func (i Interval) Estimate(e *record.ResponseEstimate, confidence float64) {
	e.Mean, e.Trials = i.Mean, i.N
	if i.Known {
		e.Low, e.High, e.Half, e.Confidence = i.Low, i.High, i.Half, confidence
	}
}

// sample is an estimate with its variance and the degrees of freedom from which the variance was
// estimated.
type sample struct{ mean, variance, freedom float64 }

// part describes the mean of values that are multiplied by a factor.
func part(values []float64, factor float64) sample {
	mean, sd := stat.MeanStdDev(values, nil)
	n := float64(len(values))
	return sample{mean * factor, sd * sd * factor * factor / n, n - 1}
}

// student returns the estimate's interval by Student's t, and the two-sided probability that it is
// this far from centre by chance. If the values do not vary at all, the interval is a point, and
// the probability 0 or 1.
func (s sample) student(centre, confidence float64) (Interval, float64) {
	if s.variance == 0 {
		p := 0.0
		if s.mean == centre {
			p = 1
		}
		return Interval{Mean: s.mean, Low: s.mean, High: s.mean, Known: true}, p
	}
	law, se := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: s.freedom}, math.Sqrt(s.variance)
	half := law.Quantile(0.5+confidence/2) * se
	p := 2 * law.Survival(math.Abs(s.mean-centre)/se)
	return Interval{Mean: s.mean, Low: s.mean - half, High: s.mean + half, Half: half, Known: true}, p
}

// pValue returns the two-sided probability that a mean is this far from centre by chance.
func pValue(values []float64, centre float64) float64 {
	if len(values) < 2 {
		return 1
	}
	_, p := part(values, 1).student(centre, 0)
	return p
}

// Sidak returns the confidence that each of m intervals needs so that all hold simultaneously at
// the given confidence.
func Sidak(confidence float64, m int) float64 {
	if m <= 1 {
		return confidence
	}
	return math.Pow(confidence, 1/float64(m))
}

// Holm corrects p-values for multiple comparisons (Holm 1979). The result has the same order.
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	floats.ArgsortStable(slices.Clone(p), order)
	corrected := make([]float64, len(p))
	running := 0.0
	for rank, i := range order {
		running = max(running, min(1, p[i]*float64(len(p)-rank)))
		corrected[i] = running
	}
	return corrected
}
