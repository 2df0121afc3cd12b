package present

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
)

// scale is the unit in which a response of a run is shown.
type scale struct{ metric.Scale }

// goodputScale is MB/s where the reader thinks in files, and otherwise the bit
// rate unit in which the run's largest figure is at least one.
func goodputScale(run *record.Run) scale {
	largest := 0.0
	for _, t := range run.Treatments {
		largest = max(largest, t.Goodput.MeanBps, t.LimitBps)
	}
	return scale{metric.Goodput.Scale(run.Unit, largest)}
}

func bitScale(bps float64) scale { return scale{metric.Goodput.Scale("", bps)} }

// linkRate spells a load or a rate of a link: three digits, in bit/s.
func linkRate(bps float64) string {
	if !(bps >= 0.5) {
		return "0"
	}
	s := bitScale(bps * 1.0005) // 999.9 Mbit/s would be spelled 1000
	return significant(bps*s.Per, 3) + " " + s.Unit
}

// significant prints a value with that many significant digits, but never
// fewer than its whole part has.
func significant(v float64, digits int) string {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return "0"
	}
	// The exponent after rounding: 0.9999 with three digits is 1.00.
	_, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', digits-1, 64), "e")
	e, _ := strconv.Atoi(exponent)
	return minus(strconv.FormatFloat(v, 'f', max(0, digits-1-e), 64))
}

// earned is how many decimal places a value deserves whose interval has the
// given half-width: the half-width is shown with one digit, or two when the
// first is a one, and the value to the same place. Negative: tens, hundreds.
func earned(half float64) int {
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

// round spells v to a decimal place, for people.
func round(v float64, places int) string { return minus(fixed(v, places)) }

// minus spells a number with a minus sign, which is as wide as a plus, rather than a
// hyphen.
func minus(number string) string {
	if rest, below := strings.CutPrefix(number, "-"); below {
		return "−" + rest
	}
	return number
}

// plus puts a plus sign before a number above zero.
func plus(number string) string {
	if strings.HasPrefix(number, "−") || strings.Trim(number, "0.") == "" {
		return number
	}
	return "+" + number
}

// fixed prints v to a decimal place; a negative place rounds to tens, hundreds.
func fixed(v float64, places int) string {
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

// ofLimit spells goodput as a part of the limit, empty when that is unknown.
func ofLimit(t *record.Treatment) string {
	if !(t.LimitBps > 0) {
		return ""
	}
	half := (t.Goodput.HighBps - t.Goodput.LowBps) / 2 / t.LimitBps * 100
	places := 1
	if half > 0 {
		places = max(0, min(1, earned(half)))
	}
	return round(t.Efficiency*100, places)
}

// ratio spells an effect: "4.00×" and "3.98–4.01".
func ratio(r record.EffectSize) (mean, interval string) {
	if r.None || !finite(r.Mean) {
		return "—", ""
	}
	// The interval of a ratio is wider upwards; its narrower half earns the digits.
	half := min(r.High-r.Mean, r.Mean-r.Low)
	if !(half > 0) || !finite(half) {
		return significant(r.Mean, 3) + "×", ""
	}
	places := max(0, min(3, -int(math.Floor(math.Log10(half*1.001)))))
	if places == 0 && half < 10 {
		places = 1 // 1.7 (0.3–9.6), not 2 (0–10)
	}
	low, high := round(r.Low, places), round(r.High, places)
	switch {
	case r.High >= 1000*r.Mean: // chance alone: no upper bound worth a number
		interval = "at least " + low
	case low != high:
		interval = low + "–" + high
	}
	return round(r.Mean, places) + "×", interval
}

// span is from one figure to another, or the one that both are.
func span(low, high string) string {
	if low == high {
		return low
	}
	return low + "–" + high
}

// bracketed puts an interval behind its figure.
func bracketed(figure, interval string) string {
	if interval == "" {
		return figure
	}
	return figure + " (" + interval + ")"
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// percent spells a share of one.
func percent(share float64) string {
	switch p := share * 100; {
	case p > 0 && p < 0.05:
		return "<0.1 %"
	case p < 9.95 && p >= 0.05:
		return round(p, 1) + " %"
	default:
		return round(p, 0) + " %"
	}
}

// Seconds spells a length of time as people say it: 1 m 52 s.
func Seconds(s float64) string {
	switch whole := int(math.Round(s)); {
	case !finite(s) || s < 0:
		return "unknown time"
	case s < 10:
		return significant(s, 2) + " s"
	case whole < 60:
		return fmt.Sprintf("%d s", whole)
	case whole < 3600:
		return fmt.Sprintf("%d m %d s", whole/60, whole%60)
	default:
		return fmt.Sprintf("%d h %d m", whole/3600, whole%3600/60)
	}
}

func moment(t time.Time) string {
	if t.IsZero() {
		return "unknown"
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

// PerSecond spells a rate of transactions.
func PerSecond(rate float64) string {
	if rate < 100 {
		return significant(rate, 3) + "/s"
	}
	return thousands(int64(rate+0.5)) + "/s"
}

// thousands spells a count so that it can be read aloud: 1,234,567.
func thousands(n int64) string {
	digits := strconv.FormatInt(n, 10)
	text := ""
	for len(digits) > 3 && digits[len(digits)-4] != '-' {
		text = "," + digits[len(digits)-3:] + text
		digits = digits[:len(digits)-3]
	}
	return digits + text
}

// Microseconds spells a time that is counted in them.
func Microseconds(us float64) string {
	switch {
	case us >= 999.5e3:
		return significant(us/1e6, 3) + " s"
	case us >= 999.5:
		return significant(us/1e3, 3) + " ms"
	}
	return significant(us, 3) + " µs"
}

// value spells a figure that has no interval of its own, such as a limit.
func (s scale) value(v float64) string { return significant(v*s.Per, 4) }
