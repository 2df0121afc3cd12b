package ecmp

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// MeanBand is where the mean of so many independent draws lies, with at least
// the confidence: each tail outside has at most half of what is left. It is the
// exact distribution of their sum, because with few flows the draws are far from
// normal; where that would be long, it is normal enough.
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

// middle leaves off, at either end, what has at most the tail's chance together.
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

// lattice writes a distribution as chances of equally spaced values. Values that
// have no common spacing are put to the nearest of a fine one.
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

// power folds a distribution with itself.
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

// Comparison is one (links, flows) of a study beside the theory. Everything is in
// links' worth: goodput over what one link can carry.
type Comparison struct {
	Links, Flows, Replicates int
	// Mean is the theory's, SD that of one replicate, Low and High bound the mean
	// of this many replicates.
	Mean, SD, Low, High float64
	// Measured is the mean of the replicates, of which none was below Least or
	// above Most.
	Measured, Least, Most float64
	// Inside: the measured mean lies in the band, give or take the margin.
	Inside bool
	// SomeUnused is the chance that some link carries nothing. Of so many
	// replicates Few to Many have such a link, as surely as the band holds;
	// Unused have one. UnusedLow to UnusedHigh is the chance's interval from that
	// alone.
	SomeUnused            float64
	Few, Many, Unused     int
	UnusedLow, UnusedHigh float64
	// Full replicates were predicted to use as many links as there can be used, and
	// the least of them carried LeastFull. LeastShare is the least part of the links
	// that its flows were predicted to take that any replicate carried; 0: nothing
	// was predicted.
	Full       int
	LeastFull  float64
	LeastShare float64
}

// Replicate is what was measured once, with fresh ports.
type Replicate struct {
	Worth float64 // all links' goodput over what one link can carry
	Used  int     // how many links carried flows
	// Predicted is how many the kernel had said that they would take; 0: it was not
	// asked, or could not tell.
	Predicted int
}

// Hold puts measured replicates beside the theory of flows that fill a link each,
// hashed over links of which so many, by d, are used. margin is how far a used link
// may stay from its limit, such as 0.02: theory takes every used link for full.
func (d Distribution) Hold(links, flows int, measured []Replicate, margin, confidence float64) Comparison {
	c := Comparison{Links: links, Flows: flows, Replicates: len(measured), Mean: d.Mean(), SD: d.SD()}
	c.SomeUnused = d.AtMost(float64(links) - 0.5)
	if len(measured) == 0 {
		return c
	}
	most := int(math.Round(d[len(d)-1].Value))
	c.Least = math.Inf(1)
	for _, m := range measured {
		c.Measured += m.Worth / float64(len(measured))
		c.Least, c.Most = min(c.Least, m.Worth), max(c.Most, m.Worth)
		if m.Used < links {
			c.Unused++
		}
		if m.Predicted == 0 {
			continue
		}
		if part := m.Worth / float64(m.Predicted); c.LeastShare == 0 || part < c.LeastShare {
			c.LeastShare = part
		}
		if m.Predicted == most {
			if c.Full++; c.Full == 1 || m.Worth < c.LeastFull {
				c.LeastFull = m.Worth
			}
		}
	}
	c.Low, c.High = d.MeanBand(len(measured), confidence)
	c.Inside = c.Measured >= c.Low*(1-margin) && c.Measured <= c.High*(1+margin)
	c.Few, c.Many = Counts(len(measured), c.SomeUnused, confidence)
	c.UnusedLow, c.UnusedHigh = Chance(c.Unused, len(measured), confidence)
	return c
}

// AsOften says that replicates with an unused link are as many as chance makes.
func (c Comparison) AsOften() bool { return c.Few <= c.Unused && c.Unused <= c.Many }

// Counts bounds how often something of that chance happens in n trials, with at
// least the confidence: the binomial interval around a known chance.
func Counts(n int, chance, confidence float64) (few, many int) {
	first, chances := binomial(n, chance)
	from, to := middle(chances, (1-confidence)/2)
	return first + from, first + to
}

// Chance is the interval of the chance of something that happened in k of n trials
// (C. J. Clopper, E. S. Pearson, Biometrika 26, 1934).
func Chance(k, n int, confidence float64) (low, high float64) {
	tail := (1 - confidence) / 2
	low, high = 0, 1
	if k > 0 {
		low = distuv.Beta{Alpha: float64(k), Beta: float64(n - k + 1)}.Quantile(tail)
	}
	if k < n {
		high = distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile(1 - tail)
	}
	return low, high
}
