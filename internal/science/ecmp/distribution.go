package ecmp

import (
	"cmp"
	"math"
	"slices"
)

// Point is a value and its probability.
type Point struct{ Value, Chance float64 }

// Distribution lists the possible values with their probabilities, in ascending order.
type Distribution []Point

// collect sorts points and joins those whose values differ only by rounding.
func collect(points []Point) Distribution {
	slices.SortFunc(points, func(a, b Point) int { return cmp.Compare(a.Value, b.Value) })
	var d Distribution
	for _, p := range points {
		if p.Chance <= 0 {
			continue
		}
		if last := len(d) - 1; last >= 0 && p.Value-d[last].Value <= 1e-9*math.Abs(p.Value) {
			d[last].Chance += p.Chance
			continue
		}
		d = append(d, p)
	}
	return d
}

// Mean returns the expected value.
func (d Distribution) Mean() float64 {
	sum := 0.0
	for _, p := range d {
		sum += p.Value * p.Chance
	}
	return sum
}

// SD returns the standard deviation of a single draw.
func (d Distribution) SD() float64 {
	mean, sum := d.Mean(), 0.0
	for _, p := range d {
		sum += (p.Value - mean) * (p.Value - mean) * p.Chance
	}
	return math.Sqrt(sum)
}

// rounding is the largest rounding error of sums of probabilities.
const rounding = 1e-12

// Quantile returns the smallest value for which the probability of a value at or below it is at
// least q.
func (d Distribution) Quantile(q float64) float64 {
	sum := 0.0
	for _, p := range d {
		sum += p.Chance
		if sum >= q-rounding {
			return p.Value
		}
	}
	if len(d) == 0 {
		return 0
	}
	return d[len(d)-1].Value
}

// AtMost returns the probability of a value no larger than this one.
func (d Distribution) AtMost(value float64) float64 {
	sum := 0.0
	for _, p := range d {
		if p.Value > value {
			break
		}
		sum += p.Chance
	}
	return min(1, sum)
}
