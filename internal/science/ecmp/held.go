package ecmp

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"linerate/internal/model/record"
	"linerate/internal/science/stats"
)

// MeanBand returns the interval that contains the mean of the given number of independent draws with
// at least the given confidence; each tail outside has at most half of the remaining probability. It
// computes the exact distribution of the sum, because with few flows the draws are far from normal.
// If that would take too long, the normal distribution is close enough.
func (d Distribution) MeanBand(draws int, confidence float64) (low, high float64) {
	if len(d) == 0 || draws < 1 {
		return 0, 0
	}
	tail := (1 - confidence) / 2
	first := d[0].Value
	step, chances := d.lattice()
	if draws*len(chances) > 1<<14 {
		half := distuv.UnitNormal.Quantile(1-tail) * d.SD() / math.Sqrt(float64(draws))
		return max(first, d.Mean()-half), min(d[len(d)-1].Value, d.Mean()+half)
	}
	from, to := middle(power(chances, draws), tail)
	value := func(at int) float64 { return first + step*float64(at)/float64(draws) }
	return value(from), value(to)
}

// middle cuts off, at each end, counts that together have at most the probability tail.
func middle(chances []float64, tail float64) (from, to int) {
	below := chances[0]
	for below <= tail && from < len(chances)-1 {
		from++
		below += chances[from]
	}
	to = len(chances) - 1
	above := chances[to]
	for above <= tail && to > 0 {
		to--
		above += chances[to]
	}
	return from, to
}

// lattice converts a distribution to probabilities of equally spaced values. Values without a
// common spacing are rounded to a fine one.
func (d Distribution) lattice() (step float64, chances []float64) {
	const fine = 1024
	width := d[len(d)-1].Value - d[0].Value
	step = width
	for i := 1; i < len(d); i++ {
		step = min(step, d[i].Value-d[i-1].Value)
	}
	if step == 0 {
		return 0, []float64{1}
	}
	if width/step > fine {
		step = width / fine
	}
	for _, p := range d {
		at := (p.Value - d[0].Value) / step
		if math.Abs(at-math.Round(at)) > 1e-6 {
			step = width / fine
			break
		}
	}
	chances = make([]float64, int(math.Round(width/step))+1)
	for _, p := range d {
		chances[int(math.Round((p.Value-d[0].Value)/step))] += p.Chance
	}
	return step, chances
}

// power convolves a distribution with itself.
func power(chances []float64, times int) []float64 {
	sum := []float64{1}
	for square := chances; ; square = fold(square, square) {
		if times&1 == 1 {
			sum = fold(sum, square)
		}
		if times >>= 1; times == 0 {
			return sum
		}
	}
}

func fold(a, b []float64) []float64 {
	sum := make([]float64, len(a)+len(b)-1)
	for i, x := range a {
		for j, y := range b {
			sum[i+j] += x * y
		}
	}
	return sum
}

// replicate is one measurement, with new ports.
type replicate struct {
	worth float64 // goodput of all links, in units of what one link can carry
	used  int     // how many links carried flows
	// predicted is how many links the kernels' route lookups had named; 0: no lookup did.
	predicted int
}

// hold compares the measured replicates of a treatment with theory: flows that can each fill a link
// are hashed over links, and d is the distribution of the number of used links. margin is how far
// the rate of a used link may be below its limit, such as 0.02, because theory takes every used
// link as full.
func (d Distribution) hold(h *record.Hashing, measured []replicate, margin, confidence float64) {
	h.Replicates, h.ExpectedLinks = len(measured), d.Mean()
	h.IdleChance = d.AtMost(float64(h.Links) - 0.5)
	if len(measured) == 0 {
		return
	}
	most := int(math.Round(d[len(d)-1].Value))
	h.MeasuredLeastLinks = math.Inf(1)
	for _, m := range measured {
		h.MeasuredLinks += m.worth / float64(len(measured))
		h.MeasuredLeastLinks, h.MeasuredMostLinks = min(h.MeasuredLeastLinks, m.worth),
			max(h.MeasuredMostLinks, m.worth)
		if m.used < h.Links {
			h.IdleTrials++
		}
		if m.predicted == 0 {
			continue
		}
		if part := m.worth / float64(m.predicted); h.LeastOfPredicted == 0 || part < h.LeastOfPredicted {
			h.LeastOfPredicted = part
		}
		if m.predicted == most {
			if h.FullTrials++; h.FullTrials == 1 || m.worth < h.FullLeastLinks {
				h.FullLeastLinks = m.worth
			}
		}
	}
	h.ExpectedLowLinks, h.ExpectedHighLinks = d.MeanBand(len(measured), confidence)
	h.Inside = h.MeasuredLinks >= h.ExpectedLowLinks*(1-margin) && h.MeasuredLinks <= h.ExpectedHighLinks*(1+margin)
	h.IdleLowTrials, h.IdleHighTrials = Counts(len(measured), h.IdleChance, confidence)
	h.IdleAsExpected = h.IdleLowTrials <= h.IdleTrials && h.IdleTrials <= h.IdleHighTrials
	h.IdleLowShare, h.IdleHighShare = stats.Share(float64(h.IdleTrials), len(measured), confidence)
}

// Counts returns the interval that contains the number of occurrences of an event in n trials with at
// least the given confidence, if the event has probability chance in each trial.
func Counts(n int, chance, confidence float64) (few, many int) {
	first, chances := binomial(n, chance)
	from, to := middle(chances, (1-confidence)/2)
	return first + from, first + to
}
