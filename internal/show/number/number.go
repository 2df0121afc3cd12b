// Package number formats figures for people: with as many digits as their intervals justify, in a
// suitable unit.
package number

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"linerate/internal/model/metric"
	"linerate/internal/model/unit"
)

// Significant formats a value with a number of significant digits, or all digits of its integer
// part.
func Significant(v float64, digits int) string {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return "0"
	}
	// The exponent after rounding: 0.9999 with three digits is 1.00.
	_, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', digits-1, 64), "e")
	e, _ := strconv.Atoi(exponent)
	return minus(strconv.FormatFloat(v, 'f', max(0, digits-1-e), 64))
}

// Earned returns the number of decimal places of a value whose interval has the given half-width.
// The half-width is shown with one digit, or two if the first is a one, and the value with the same
// places. Negative: tens, hundreds.
func Earned(half float64) int {
	exponent := math.Floor(math.Log10(half))
	lead := half / math.Pow(10, exponent)
	if lead >= 9.5 { // rounds to the next power of ten
		exponent, lead = exponent+1, 1
	}
	places := -int(exponent)
	if lead < 1.95 {
		places++
	}
	return places
}

// Round formats v with a number of decimal places.
func Round(v float64, places int) string { return minus(Fixed(v, places)) }

// minus replaces a hyphen by a minus sign, which is as wide as a plus sign.
func minus(number string) string {
	if rest, below := strings.CutPrefix(number, "-"); below {
		return "−" + rest
	}
	return number
}

// Plus adds a plus sign to a number above zero.
func Plus(number string) string {
	if strings.HasPrefix(number, "−") || strings.Trim(number, "0.") == "" {
		return number
	}
	return "+" + number
}

// Fixed formats v with a number of decimal places. Negative: it rounds to tens, hundreds.
func Fixed(v float64, places int) string {
	if places < 0 {
		unit := math.Pow(10, float64(-places))
		v, places = math.Round(v/unit)*unit, 0
	}
	text := strconv.FormatFloat(v, 'f', places, 64)
	if strings.Trim(text, "-0.") == "" {
		text = strings.TrimPrefix(text, "-")
	}
	return text
}

// Span returns "low–high", or one figure if both are equal.
func Span(low, high string) string {
	if low == high {
		return low
	}
	return low + "–" + high
}

// Bracketed appends an interval in parentheses to a figure.
func Bracketed(figure, interval string) string {
	if interval == "" {
		return figure
	}
	return figure + " (" + interval + ")"
}

// Finite reports whether v is neither infinite nor NaN.
func Finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Percent formats a share in percent.
func Percent(share float64) string {
	switch p := share * 100; {
	case p > 0 && p < 0.05:
		return "<0.1 %"
	case p < 9.95 && p >= 0.05:
		return Round(p, 1) + " %"
	default:
		return Round(p, 0) + " %"
	}
}

// Seconds formats a duration: 1 m 52 s.
func Seconds(s float64) string {
	switch whole := int(math.Round(s)); {
	case !Finite(s) || s < 0:
		return "unknown time"
	case s < 10:
		return Significant(s, 2) + " s"
	case whole < 60:
		return fmt.Sprintf("%d s", whole)
	case whole < 3600:
		return fmt.Sprintf("%d m %d s", whole/60, whole%60)
	default:
		return fmt.Sprintf("%d h %d m", whole/3600, whole%3600/60)
	}
}

// Moment formats a time in UTC to the minute.
func Moment(t time.Time) string {
	if t.IsZero() {
		return "unknown"
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

// PerSecond formats a rate of transactions.
func PerSecond(rate float64) string {
	if rate < 100 {
		return Significant(rate, 3) + "/s"
	}
	return unit.FormatCount(int64(rate+0.5)) + "/s"
}

// Microseconds formats a time given in microseconds.
func Microseconds(us float64) string {
	switch {
	case us >= 999.5e3:
		return Significant(us/1e6, 3) + " s"
	case us >= 999.5:
		return Significant(us/1e3, 3) + " ms"
	}
	return Significant(us, 3) + " µs"
}

// Exact formats a value with all digits, for spreadsheets.
func Exact(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// Scale is the unit in which a response of a run is shown.
type Scale struct{ metric.Scale }

// BitScale returns the largest unit of bit/s in which a rate is at least one.
func BitScale(bps float64) Scale { return Scale{Scale: metric.Goodput.Scale("", bps)} }

// LinkRate formats a load or a rate of a link in bit/s with three digits.
func LinkRate(bps float64) string {
	if !(bps >= 0.5) {
		return "0"
	}
	s := BitScale(bps * 1.0005) // 999.9 Mbit/s would be spelled 1000
	return Significant(bps*s.Per, 3) + " " + s.Unit
}

// Interval formats an estimate in the scale, and half the width of its interval: "119.5" and "0.2".
// Half is empty if the width is 0, as for a single trial.
func (s Scale) Interval(value, halfWidth float64) (mean, half string) {
	m, h := value*s.Per, halfWidth*s.Per
	if !(h > 0) || math.IsInf(h, 0) {
		if m == math.Trunc(m) && s.Per == 1 {
			return Significant(m, 1), "" // a number of things
		}
		return Significant(m, 4), ""
	}
	// At most five digits: no counter is more precise.
	most := 4
	if m != 0 {
		most = 4 - int(math.Floor(math.Log10(math.Abs(m))))
	}
	places := min(Earned(h), max(most, 0))
	return Round(m, places), Round(max(h, math.Pow(10, float64(-places))), places)
}

// Spell formats a value with its unit.
func (s Scale) Spell(v float64) string { return s.With(s.Value(v)) }

// Value formats a value without an interval, such as a limit.
func (s Scale) Value(v float64) string { return Significant(v*s.Per, 4) }
