package number

import (
	"math"

	"linerate/internal/model/metric"
)

// Scale is the unit in which a response of a run is shown.
type Scale struct{ metric.Scale }

func BitScale(bps float64) Scale { return Scale{Scale: metric.Goodput.Scale("", bps)} }

// LinkRate spells a load or a rate of a link: three digits, in bit/s.
func LinkRate(bps float64) string {
	if !(bps >= 0.5) {
		return "0"
	}
	s := BitScale(bps * 1.0005) // 999.9 Mbit/s would be spelled 1000
	return Significant(bps*s.Per, 3) + " " + s.Unit
}

// Interval spells an estimate in the scale: "119.5" and "0.2". The half-width
// is empty when one trial earned none.
func (s Scale) Interval(value, low, high float64) (mean, half string) {
	m := value * s.Per
	h := (high - low) / 2 * s.Per
	if !(h > 0) || math.IsInf(h, 0) {
		if m == math.Trunc(m) && s.Per == 1 {
			return Significant(m, 1), "" // a number of things
		}
		return Significant(m, 4), ""
	}
	// Five digits at most: no counter is more precise.
	most := 4
	if m != 0 {
		most = 4 - int(math.Floor(math.Log10(math.Abs(m))))
	}
	places := min(Earned(h), max(most, 0))
	return Round(m, places), Round(max(h, math.Pow(10, float64(-places))), places)
}

// Spell spells a figure and its unit.
func (s Scale) Spell(v float64) string { return s.With(s.Value(v)) }

// Value spells a figure that has no interval of its own, such as a limit.
func (s Scale) Value(v float64) string { return Significant(v*s.Per, 4) }
