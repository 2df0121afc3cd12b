package unit

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// FormatRate formats a bit rate for display with four significant digits: "1 Gbit/s", "956.4
// Mbit/s". BitRate.String formats one for a file.
func FormatRate(bps float64) string {
	return scaled(bps, four, 0.99995, []suffix{{"Tbit/s", 1e12}, {"Gbit/s", 1e9}, {"Mbit/s", 1e6}, {"kbit/s", 1e3},
		{"bit/s", 1}})
}

// FormatBytes formats a number of bytes for display with four significant digits and decimal
// prefixes: "1.5 MB". Fractions of a byte are rounded.
func FormatBytes(n float64) string {
	if math.Abs(n) < 999.95 {
		return fmt.Sprintf("%.0f bytes", n)
	}
	return scaled(n, four, 0.99995, []suffix{{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}})
}

// FormatSeconds formats seconds for display with three significant digits, or all digits of the
// integer part: "3,600 s", "1.5 s", "20 ms", "300 µs".
func FormatSeconds(s float64) string {
	three := func(v float64) string {
		if math.Abs(v) >= 999.5 {
			return FormatCount(int64(math.Round(v)))
		}
		return fmt.Sprintf("%.3g", v)
	}
	return scaled(s, three, 0.9995, []suffix{{"s", 1}, {"ms", 1e-3}, {"µs", 1e-6}})
}

// scaled formats a value in the largest unit in which it is at least one after rounding, or in the
// last unit. One is the lowest value that rounds to one.
func scaled(value float64, digits func(float64) string, one float64, units []suffix) string {
	i := slices.IndexFunc(units, func(u suffix) bool { return math.Abs(value) >= one*u.factor })
	if i < 0 {
		i = len(units) - 1
	}
	return digits(value/units[i].factor) + " " + units[i].name
}

// FormatPercent formats a share in percent with at most two decimals, or two significant digits
// below one percent: "99.95 %", "0.2 %".
func FormatPercent(share float64) string {
	v := 100 * share
	if math.Abs(v) >= 1 {
		v = math.Round(v*100) / 100
	} else {
		v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 2, 64), 64)
	}
	return strconv.FormatFloat(v, 'f', -1, 64) + " %"
}

// four formats a number with four significant digits, or all digits of the integer part, without
// trailing zeros.
func four(v float64) string {
	digits := 3
	for x := math.Abs(v); x >= 9.9995 && digits > 0; x /= 10 {
		digits--
	}
	text := strconv.FormatFloat(v, 'f', digits, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// FormatCount formats a number with thousands separators: 1,234,567.
func FormatCount(n int64) string {
	digits := strconv.FormatInt(n, 10)
	text := ""
	for len(digits) > 3 && digits[len(digits)-4] != '-' {
		text = "," + digits[len(digits)-3:] + text
		digits = digits[:len(digits)-3]
	}
	return digits + text
}

// Plural formats a number of things: "1 flow", "2 flows", "3 switches".
func Plural(n int, thing string) string {
	switch {
	case n == 1:
		return "1 " + thing
	case strings.HasSuffix(thing, "ch"), strings.HasSuffix(thing, "ss"):
		thing += "e"
	}
	return FormatCount(int64(n)) + " " + thing + "s"
}

// FormatMs formats milliseconds with three significant digits, or all digits of the integer part.
func FormatMs(ms float64) string {
	if math.Abs(ms) >= 100 {
		return FormatCount(int64(math.Round(ms))) + " ms"
	}
	return strconv.FormatFloat(ms, 'g', 3, 64) + " ms"
}

// FormatTime formats a duration for display: "42 s", "1 m 37 s", "2 h 5 m". Flags and keys of files
// use Duration.String, "1m37s".
func FormatTime(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%d s", int(d.Seconds()+0.5))
	}
	if d >= 90*time.Minute {
		return fmt.Sprintf("%d h %d m", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d m %02d s", int(d.Minutes()), int(d.Seconds())%60)
}
