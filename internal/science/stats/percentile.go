package stats

import (
	"fmt"
	"math"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"
	"gonum.org/v1/gonum/stat/distuv"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

// The percentile of a treatment is that of all its trials' transactions together. The mean of the
// trials' percentiles would be biased, by up to a half where rare transactions take ten times as
// long. Trials, not transactions, are the replicates. So the variance comes from the trials, by the
// jackknife (Quenouille 1956, Tukey 1958), which leaves out one of them at a time.

// times counts times by step of the histogram: the steps that have any, in ascending order, and how
// many each has.
type times struct {
	steps []int
	n     []int64
	total int64
}

// gather returns the times in the counts of a histogram.
func gather(counts []int64) (t times) {
	for step, n := range counts {
		if n > 0 {
			t.steps, t.n, t.total = append(t.steps, step), append(t.n, n), t.total+n
		}
	}
	return t
}

// decode reads the histogram of a distribution; nil is an empty one.
func decode(d *record.Distribution) (times, error) {
	if d == nil {
		return times{}, nil
	}
	h, err := hdrhistogram.Decode(d.Histogram)
	if err != nil {
		return times{}, fmt.Errorf("reading a histogram of %d times: %w", d.Count, err)
	}
	s := h.Export()
	if s.LowestTrackableValue != 1 || s.HighestTrackableValue != longestNs ||
		s.SignificantFigures != significantDigits {
		own := NewHistogram() // has the steps of this package
		own.Merge(h)
		s = own.Export()
	}
	return gather(s.Counts), nil
}

// pool returns all times of several parts together.
func pool(parts []times) times {
	counts := make([]int64, step(longestNs)+1)
	for _, part := range parts {
		for i, step := range part.steps {
			counts[step] += part.n[i]
		}
	}
	return gather(counts)
}

// at returns a quantile of the times in microseconds, without those in part, which may be empty; 0:
// there are no times.
func (t times) at(quantile float64, part times) float64 {
	n, k := t.total-part.total, len(part.steps)-1
	longer := n - record.NearestRank(quantile, n)
	for i := len(t.steps) - 1; i >= 0; i-- {
		longer -= t.n[i]
		if k >= 0 && part.steps[k] == t.steps[i] {
			longer += part.n[k]
			k--
		}
		if longer < 0 {
			return float64(longest(t.steps[i])) / 1e3
		}
	}
	return 0 // there are no times
}

// beyond returns how many times are longer than us microseconds. Those of the same step count half.
func (t times) beyond(us float64) float64 {
	at, found := slices.BinarySearch(t.steps, step(int64(us*1e3+0.5)))
	sum := 0.0
	if found {
		sum = float64(t.n[at]) / 2
		at++
	}
	for _, n := range t.n[at:] {
		sum += float64(n)
	}
	return sum
}

// jackknife returns an estimate with the variance that follows from the estimates without each of
// its parts. The variance is taken around the estimate itself, not around their mean: it is never
// smaller (Wolter 1985), and the intervals cover better if few values decide.
func jackknife(estimate float64, without []float64) sample {
	k, variance := float64(len(without)), 0.0
	for _, w := range without {
		variance += (w - estimate) * (w - estimate) * (k - 1) / k
	}
	return sample{estimate, variance, k - 1}
}

// percentile estimates a quantile of the times of several trials together, with the interval of
// Woodruff (1952). The share of the times beyond the quantile has an interval, by the jackknife
// over trials; the ends of the result are read from the distribution at the ends of that interval.
// The share is a smooth function of the trials, a percentile is not. The interval is as asymmetric
// as the distribution.
func percentile(trials []times, quantile, confidence float64) Interval {
	all := pool(trials)
	if all.total == 0 {
		return Interval{}
	}
	in := Interval{Mean: all.at(quantile, times{}), N: len(trials)}
	if len(trials) < 2 {
		return in
	}
	beyond := all.beyond(in.Mean)
	var without []float64
	for _, t := range trials {
		without = append(without, (beyond-t.beyond(in.Mean))/float64(max(all.total-t.total, 1)))
	}
	part, _ := jackknife(beyond/float64(all.total), without).student(0, confidence)
	half := (part.High - part.Low) / 2
	in.Low, in.High, in.Known = all.at(quantile-half, times{}), all.at(quantile+half, times{}), true
	return in
}

// pooled reports whether the side's response is a percentile and the trials' latencies can be read.
func (s Side) pooled() bool { return len(s.latencies) > 0 }

// latencies decodes the latencies of trials, each once; nil if a histogram cannot be read.
func (in *Inference) latencies(trials []*record.Trial) (list []times) {
	for _, t := range trials {
		decoded, known := in.decoded[t.Latency]
		if !known {
			var err error
			if decoded, err = decode(t.Latency); err != nil {
				return nil
			}
			in.decoded[t.Latency] = decoded
		}
		if decoded.total > 0 {
			list = append(list, decoded)
		}
	}
	return list
}

// ofPercentiles returns an estimator that uses pooled for sides whose latencies are pooled, and
// other for the rest. Percentiles that are not paired are compared by combinedRatio: its interval
// follows from those of both sides, which are displayed beside it.
func ofPercentiles(pooled, other estimator) estimator {
	return func(base, level Side, confidence float64) (Interval, float64) {
		if base.pooled() && level.pooled() {
			return pooled(base, level, confidence)
		}
		return other(base, level, confidence)
	}
}

// pairedPercentiles returns the ratio of the percentiles of all blocks together, with the jackknife
// over blocks, on the logarithm.
func pairedPercentiles(base, level Side, confidence float64) (Interval, float64) {
	b, l := pool(base.latencies), pool(level.latencies)
	log := func(baseless, levelless times) float64 {
		return math.Log(l.at(level.quantile, levelless) / b.at(base.quantile, baseless))
	}
	var without []float64
	for i := range base.latencies {
		without = append(without, log(base.latencies[i], level.latencies[i]))
	}
	all := log(times{}, times{})
	if len(without) < 2 {
		return Interval{Mean: math.Exp(all), N: len(without)}, 1
	}
	in, p := jackknife(all, without).student(0, confidence)
	return in.exp(), p
}

// tooFew explains that a trial of one of the sides has too few transactions for a response that is
// a percentile. Empty: all have enough. Every trial needs enough: if each has few, intervals of the
// pooled ones contain the true value too rarely.
func tooFew(base, level Side, r metric.Metric) string {
	return r.TooFew(min(base.fewest, level.fewest))
}

// unequal is the ratio of the numbers of transactions below which a comparison of percentiles
// mentions these. A percentile of fewer transactions tends to be lower if rare ones take much
// longer.
const unequal = 0.5

// uneven explains that the numbers of transactions of two sides are too unequal; empty: they are
// not. decides is true if that alone can make the percentiles differ as they do, at a confidence.
func uneven(base, level Side, size Interval, confidence float64) (why string, decides bool) {
	few, many, ratio := base, level, 1/size.Mean
	if few.requests > many.requests {
		few, many, ratio = many, few, size.Mean
	}
	if !base.pooled() || !level.pooled() || float64(few.requests) >= unequal*float64(many.requests) {
		return "", false
	}
	low, high := pool(many.latencies).ofFewer(many.quantile, few.requests, confidence)
	return fmt.Sprintf("%s requests against %s", unit.FormatCount(level.requests), unit.FormatCount(base.requests)),
		low <= ratio && ratio <= high
}

// ofFewer returns the interval in which the quantile of only few of these times lies, relative to
// the quantile of all. The quantile is the value of the nearest rank, whose place among all times
// has a beta distribution (H. A. David, H. N. Nagaraja, Order Statistics, 2003, section 2.3).
func (t times) ofFewer(quantile float64, few int64, confidence float64) (low, high float64) {
	rank := float64(record.NearestRank(quantile, few))
	place := distuv.Beta{Alpha: rank, Beta: float64(few) - rank + 1}
	at := func(p float64) float64 { return t.at(place.Quantile(p), times{}) / t.at(quantile, times{}) }
	return at((1 - confidence) / 2), at((1 + confidence) / 2)
}
