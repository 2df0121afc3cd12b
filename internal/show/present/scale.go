package present

import (
	"linerate/internal/model/metric"
	"math"
)

// scale is the unit in which a response of a run is shown.
type scale struct{ metric.Scale }

func bitScale(bps float64) scale { return scale{metric.Goodput.Scale("", bps)} }

// linkRate spells a load or a rate of a link: three digits, in bit/s.
func linkRate(bps float64) string {
	if !(bps >= 0.5) {
		return "0"
	}
	s := bitScale(bps * 1.0005) // 999.9 Mbit/s would be spelled 1000
	return significant(bps*s.Per, 3) + " " + s.Unit
}

// interval spells an estimate in the scale: "119.5" and "0.2". The half-width
// is empty when one trial earned none.
func (s scale) interval(value, low, high float64) (mean, half string) {
	m := value * s.Per
	h := (high - low) / 2 * s.Per
	if !(h > 0) || math.IsInf(h, 0) {
		if m == math.Trunc(m) && s.Per == 1 {
			return significant(m, 1), "" // a number of things
		}
		return significant(m, 4), ""
	}
	// Five digits at most: no counter is more precise.
	most := 4
	if m != 0 {
		most = 4 - int(math.Floor(math.Log10(math.Abs(m))))
	}
	places := min(earned(h), max(most, 0))
	return round(m, places), round(max(h, math.Pow(10, float64(-places))), places)
}

// with spells a figure and its unit.
func (s scale) with(v float64) string { return s.With(s.value(v)) }

// value spells a figure that has no interval of its own, such as a limit.
func (s scale) value(v float64) string { return significant(v*s.Per, 4) }
