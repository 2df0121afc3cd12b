// Package unit has the quantities of study files and flags: bit rates, byte counts, durations and
// ratios. Each parses the usual spellings ("1gbit", "256KiB", "25ms", "2%") and formats the
// shortest one that parses to the same value.
//
// Bit rates are SI: 1gbit and 1G are 10^9 bit/s. Byte counts are SI with kB, MB, GB, and binary
// with KiB, MiB, GiB (IEC 80000-13) and with K, M, G alone.
//
// Flags and study files parse quantities here and nowhere else, so that the same rules apply to
// both.
package unit

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"
)

// BitRate is a rate in bits per second. Zero means "not set".
type BitRate float64

// Bytes is a number of bytes. Zero means "not set": a default applies.
type Bytes int64

// Duration is a time.Duration with a spelling such as "25ms" in files and JSON.
type Duration time.Duration

// Depth is the length of a queue: in bytes, or as the time that the link takes to send them. At
// most one of the two is set. Zero means "not set".
type Depth struct {
	Size Bytes
	Time Duration
}

// Ratio is a dimensionless number, 0.02 for "2%".
type Ratio float64

type suffix struct {
	name   string
	factor float64
}

// rateUnits and sizeUnits map the suffixes of a number, in lower case, to factors. timeUnits
// replaces suffixes by those of time.ParseDuration.
var (
	rateUnits = sync.OnceValue(func() map[string]float64 {
		return prefixed(1e3, "bit", "bits", "bit/s", "bits/s", "bit/sec", "bits/sec", "bps")
	})
	sizeUnits = sync.OnceValue(func() map[string]float64 { return prefixed(1<<10, "b", "byte", "bytes") })
	timeUnits = strings.NewReplacer("nsecs", "ns", "nsec", "ns", "usecs", "us", "usec", "us", "msecs", "ms", "msec",
		"ms", "secs", "s", "sec", "s", "mins", "m", "min", "m")
)

// prefixed returns each unit with each prefix, and the decimal prefixes alone, which are powers of alone: of a
// rate as iperf3 -b has it, of a size as iperf3 -l and -w, tc(8) and dd(1) have it.
func prefixed(alone float64, units ...string) map[string]float64 {
	all := map[string]float64{}
	for prefix, factor := range map[string]float64{"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "ki": 1 << 10,
		"mi": 1 << 20, "gi": 1 << 30, "ti": 1 << 40} {
		for _, unit := range units {
			all[prefix+unit] = factor
		}
	}
	for i, prefix := range []string{"k", "m", "g", "t"} {
		all[prefix] = math.Pow(alone, float64(i+1))
	}
	return all
}

// split cuts "2.5 Gbit/s" into its number and the rest.
func split(text string) (digits, unit string) {
	text = strings.TrimSpace(text)
	i := strings.IndexFunc(text, func(r rune) bool { return !strings.ContainsRune("0123456789.eE+-", r) })
	if i < 0 {
		return text, ""
	}
	return text[:i], strings.TrimSpace(text[i:])
}

// number parses "2.5gbit" with the factors in units.
func number(text string, units map[string]float64) (float64, bool) {
	digits, unit := split(text)
	factor, known := units[strings.ToLower(unit)]
	value, ok := decimal(digits)
	return value * factor, ok && known && !math.IsInf(value*factor, 0)
}

// decimal parses a non-negative decimal number. strconv alone would also accept hexadecimal
// numbers, inf and nan.
func decimal(text string) (float64, bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	if strings.Trim(text, "0123456789.e+-") != "" {
		return 0, false
	}
	value, err := strconv.ParseFloat(text, 64)
	return value, err == nil && !math.Signbit(value)
}

// ParseBitRate parses a rate such as "100M", "1gbit", "2.5 Gbit/s" or "10 Gbps", always in bits and
// SI. It rejects a rate in bytes and one without a unit: in tc(8) mbps means bytes, and 1000 could
// be meant in Mbit/s.
func ParseBitRate(text string) (BitRate, error) {
	digits, unit := split(text)
	plain, isNumber := decimal(digits)
	perByte, isBytes := strings.CutSuffix(strings.TrimSuffix(unit, "/s"), "B")
	if !isBytes {
		perByte, isBytes = strings.CutSuffix(unit, "Bps")
	}
	perLowerB, lowerB := strings.CutSuffix(strings.TrimSuffix(unit, "/s"), "b")
	value, ok := number(text, rateUnits())
	switch {
	case ok && value > 0 && unit != "" && !isBytes:
		return BitRate(value), nil
	case isNumber && plain > 0 && unit == "":
		return 0, fmt.Errorf("%q is not a bit rate: it has no unit; expected %sM for Mbit/s, or %sbit for bit/s", text,
			digits, digits)
	case lowerB:
		if bits, ok := number(digits+perLowerB+"bit", rateUnits()); ok && bits > 0 {
			return 0, fmt.Errorf("%q is not a bit rate: b may be bits or bytes; expected %s, or %s for bytes", text,
				BitRate(bits), BitRate(8*bits))
		}
	case isBytes:
		if bits, ok := number(digits+perByte+"bit", rateUnits()); ok && bits > 0 {
			return 0, fmt.Errorf("%q is not a bit rate: B stands for bytes, eight bits each; expected %s", text,
				BitRate(8*bits))
		}
	}
	return 0,
		fmt.Errorf(
			"%q is not a bit rate: expected a positive number with k, M or G, in bits per second, such as 100M, "+
				"1gbit or 2.5 Gbit/s", text)
}

// ParseBytes parses a size such as "256KiB", "1MB", "64K" (KiB), "1500" (bytes).
func ParseBytes(text string) (Bytes, error) {
	if plain, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64); err == nil && plain >= 0 {
		return Bytes(plain), nil
	}
	value, ok := number(text, sizeUnits())
	value = math.Round(value)
	if !ok || value >= math.MaxInt64 {
		return 0,
			fmt.Errorf(
				"%q is not a size: expected a number of bytes, or one with KiB, MiB (or K, M) or kB, MB, such as "+
					"256KiB", text)
	}
	return Bytes(value), nil
}

// ParseSize is like ParseBytes but requires a unit.
func ParseSize(text string) (Bytes, error) {
	value, err := ParseBytes(text)
	if digits := strings.TrimSpace(text); err == nil && value > 0 && isBare(digits) {
		return 0, fmt.Errorf("%q is not a size: it has no unit; expected %sB, %sKiB or %sMiB", text, digits,
			digits, digits)
	}
	return value, err
}

// ParseDuration parses a duration such as "25ms", "2m" or "1 m 30 s". A number without a unit is in
// seconds, as with iperf3 -t and ping -w.
func ParseDuration(text string) (Duration, error) {
	spelled := strings.ReplaceAll(strings.TrimSpace(text), " ", "")
	if isBare(spelled) {
		spelled += "s"
	}
	value, err := time.ParseDuration(timeUnits.Replace(spelled))
	if err != nil || value < 0 {
		return 0, fmt.Errorf("%q is not a duration: expected a number with us, ms, s, m or h, such as 25ms, 30s or 5m",
			text)
	}
	return Duration(value), nil
}

// ParseLatency parses a duration and requires a unit: without one, people mean milliseconds and
// tc(8) microseconds.
func ParseLatency(text string) (Duration, error) {
	value, err := ParseDuration(text)
	if digits := strings.TrimSpace(text); err == nil && value > 0 && isBare(digits) {
		return 0, fmt.Errorf("%q is not a latency: it has no unit; expected %sms, %sus or %ss", text, digits,
			digits, digits)
	}
	return value, err
}

func isBare(text string) bool { return text != "" && strings.Trim(text, "0123456789.") == "" }

// parseDepth parses a size such as "64KiB", or a time such as "50ms".
func parseDepth(text string) (Depth, error) {
	if wait, err := ParseDuration(text); err == nil && !isBare(strings.TrimSpace(text)) {
		return Depth{Time: wait}, nil
	}
	if size, err := ParseBytes(text); err == nil {
		return Depth{Size: size}, nil
	}
	return Depth{}, fmt.Errorf(
		"%q is no length of a queue: expected a size such as 64KiB, or a time at the link's rate such as 50ms", text)
}

// ParseRatio parses a percentage such as "2%". A number other than 0 requires the percent sign: 0.1
// could mean 10 % or 0.1 %.
func ParseRatio(text string) (Ratio, error) {
	digits, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	value, ok := decimal(digits)
	switch {
	case ok && percent:
		return percentage(digits, value), nil
	case ok && value == 0:
		return 0, nil
	case ok && value <= 1:
		return 0, fmt.Errorf("%q is not a ratio: it has no %%; expected %s, or %s%%", text, Ratio(value), digits)
	case ok:
		return 0, fmt.Errorf("%q is not a ratio: it has no %%; expected %s%%", text, digits)
	}
	return 0, fmt.Errorf("%q is not a ratio: expected a percentage such as 2%%", text)
}

// percentage converts a percentage to a ratio. With an exponent the division is exact, which String
// relies on.
func percentage(digits string, value float64) Ratio {
	if mantissa, exponent, is := strings.Cut(strings.ToLower(strings.TrimSpace(digits)), "e"); is {
		if n, err := strconv.Atoi(exponent); err == nil {
			if ratio, ok := decimal(fmt.Sprintf("%se%d", mantissa, n-2)); ok {
				return Ratio(ratio)
			}
		}
	}
	return Ratio(value / 100)
}

// parsed sets *value from its text.
func parsed[T any](value *T, parse func(string) (T, error), text []byte) (err error) {
	*value, err = parse(string(text))
	return err
}

func (r *BitRate) UnmarshalText(text []byte) error  { return parsed(r, ParseBitRate, text) }
func (b *Bytes) UnmarshalText(text []byte) error    { return parsed(b, ParseBytes, text) }
func (d *Duration) UnmarshalText(text []byte) error { return parsed(d, ParseDuration, text) }
func (d *Depth) UnmarshalText(text []byte) error    { return parsed(d, parseDepth, text) }
func (r *Ratio) UnmarshalText(text []byte) error    { return parsed(r, ParseRatio, text) }

func (r BitRate) MarshalText() ([]byte, error)  { return []byte(r.String()), nil }
func (b Bytes) MarshalText() ([]byte, error)    { return []byte(b.String()), nil }
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }
func (d Depth) MarshalText() ([]byte, error)    { return []byte(d.String()), nil }
func (r Ratio) MarshalText() ([]byte, error)    { return []byte(r.String()), nil }

func (r BitRate) String() string {
	for _, s := range []suffix{{"gbit", 1e9}, {"mbit", 1e6}, {"kbit", 1e3}} {
		if float64(r) < s.factor {
			continue
		}
		// Dividing may round: then a smaller unit says the same exactly.
		text := strconv.FormatFloat(float64(r)/s.factor, 'f', -1, 64) + s.name
		if again, err := ParseBitRate(text); err == nil && again == r {
			return text
		}
	}
	return strconv.FormatFloat(float64(r), 'f', -1, 64) + "bit"
}

// String formats whole multiples of a binary unit in that unit, and other values in bytes.
func (b Bytes) String() string {
	for _, s := range []suffix{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if b > 0 && b%Bytes(s.factor) == 0 {
			return strconv.FormatInt(int64(b)/int64(s.factor), 10) + s.name
		}
	}
	return strconv.FormatInt(int64(b), 10)
}

// String formats the duration without units that are zero: "10m", not "10m0s".
func (d Duration) String() string {
	text := time.Duration(d).String()
	for _, zero := range []struct{ of, none string }{{"m0s", "m"}, {"h0m", "h"}} {
		if rest, is := strings.CutSuffix(text, zero.of); is {
			text = rest + zero.none
		}
	}
	return text
}

// String formats the field that is set.
func (d Depth) String() string {
	if d.Time != 0 {
		return d.Time.String()
	}
	return d.Size.String()
}

// At returns the depth in bytes of a queue in front of a link of the given rate.
func (d Depth) At(rate BitRate) Bytes {
	if d.Time == 0 {
		return d.Size
	}
	return Bytes(math.Round(float64(rate) / 8 * d.Time.Seconds()))
}

// String formats a percentage that parses to the same ratio.
func (r Ratio) String() string {
	text := strconv.FormatFloat(float64(r)*100, 'g', 12, 64) + "%"
	if again, err := ParseRatio(text); err == nil && again == r {
		return text
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(float64(r), 'e', -1, 64), "e")
	n, _ := strconv.Atoi(exponent)
	return fmt.Sprintf("%se%d%%", mantissa, n+2)
}

// Seconds returns the duration in seconds.
func (d Duration) Seconds() float64 { return time.Duration(d).Seconds() }

// LeastSet returns the lowest rate that is set, which means above zero. 0: none is set.
func LeastSet[T ~float64](rates ...T) (least T) {
	for _, rate := range rates {
		if rate > 0 && (least == 0 || rate < least) {
			least = rate
		}
	}
	return least
}
