// Package unit holds the quantities a study file speaks of: bit rates, byte
// counts, durations and ratios. Each parses the spelling people use ("1gbit",
// "256KiB", "25ms", "2%") and prints the shortest spelling that parses back to
// the same value.
//
// Bit rates are SI: 1gbit is 10^9 bit/s. Byte counts are SI with kB, MB, GB and
// binary with KiB, MiB, GiB, as IEC 80000-13 has it.
package unit

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// BitRate is a rate in bits per second. Zero means "not set": no shaping.
type BitRate float64

// Bytes is a count of bytes. Zero means "not set": a default is chosen.
type Bytes int64

// Duration is a time.Duration that is written "25ms" in a file and in JSON.
type Duration time.Duration

// Depth is how long a queue is: bytes, or how long the link takes to send them.
// At most one of the two is set; the zero value means that neither is.
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

// Longest suffix first, so that "mbit" is not read as "m" + "bit".
var rateSuffixes = []suffix{
	{"gbit/s", 1e9}, {"mbit/s", 1e6}, {"kbit/s", 1e3}, {"tbit/s", 1e12}, {"bit/s", 1},
	{"gbps", 1e9}, {"mbps", 1e6}, {"kbps", 1e3}, {"bps", 1},
	{"tbit", 1e12}, {"gbit", 1e9}, {"mbit", 1e6}, {"kbit", 1e3}, {"bit", 1},
}

var byteSuffixes = []suffix{
	{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30},
	{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"b", 1},
}

// number splits "2.5gbit" into 2.5 and the factor of its suffix.
func number(text string, suffixes []suffix) (float64, bool) {
	lower := strings.ToLower(strings.TrimSpace(text))
	for _, s := range suffixes {
		if digits, found := strings.CutSuffix(lower, s.name); found {
			value, ok := decimal(digits)
			return value * s.factor, ok && !math.IsInf(value*s.factor, 0)
		}
	}
	return 0, false
}

// decimal reads a number of at least zero, as people write it: strconv would
// also take hexadecimal and the words inf and nan.
func decimal(text string) (float64, bool) {
	text = strings.TrimSpace(text)
	if strings.Trim(text, "0123456789.e+-") != "" {
		return 0, false
	}
	value, err := strconv.ParseFloat(text, 64)
	return value, err == nil && !math.Signbit(value)
}

// ParseBitRate reads a rate such as "1gbit", "300mbit", "2.5 Gbit/s".
func ParseBitRate(text string) (BitRate, error) {
	value, ok := number(text, rateSuffixes)
	if bytes := strings.TrimSpace(text); strings.HasSuffix(bytes, "Bps") || strings.HasSuffix(bytes, "B/s") {
		return 0, fmt.Errorf("%q is not a bit rate: B stands for bytes, and a rate is in bits, eight to a byte: expected kbit, mbit or gbit, such as 1gbit", text)
	}
	if !ok || value == 0 {
		return 0, fmt.Errorf("%q is not a bit rate: expected a positive number with kbit, mbit or gbit, such as 1gbit", text)
	}
	return BitRate(value), nil
}

// ParseBytes reads a size such as "256KiB", "1MB", "1500" (bytes).
func ParseBytes(text string) (Bytes, error) {
	if plain, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64); err == nil && plain >= 0 {
		return Bytes(plain), nil
	}
	value, ok := number(text, byteSuffixes)
	value = math.Round(value)
	if !ok || value >= math.MaxInt64 {
		return 0, fmt.Errorf("%q is not a size: expected a number of bytes, or one with kB, MB, KiB or MiB, such as 256KiB", text)
	}
	return Bytes(value), nil
}

// ParseDuration reads a duration such as "25ms" or "2m".
func ParseDuration(text string) (Duration, error) {
	value, err := time.ParseDuration(strings.ReplaceAll(strings.TrimSpace(text), " ", ""))
	if err != nil || value < 0 {
		return 0, fmt.Errorf("%q is not a duration: expected a number with us, ms, s or m, such as 25ms", text)
	}
	return Duration(value), nil
}

// parseDepth reads a size such as "64KiB", or a time such as "50ms".
func parseDepth(text string) (Depth, error) {
	if size, err := ParseBytes(text); err == nil {
		return Depth{Size: size}, nil
	}
	if wait, err := ParseDuration(text); err == nil {
		return Depth{Time: wait}, nil
	}
	return Depth{}, fmt.Errorf("%q is no length of a queue: expected a size such as 64KiB, or a time at the link's rate such as 50ms", text)
}

// ParseRatio reads "2%" or "0.02".
func ParseRatio(text string) (Ratio, error) {
	digits, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	value, ok := decimal(strings.ToLower(digits))
	if !ok {
		return 0, fmt.Errorf("%q is not a ratio: expected a percentage such as 2%%, or a number such as 0.02", text)
	}
	if percent {
		value /= 100
	}
	return Ratio(value), nil
}

// parsed sets a value from its text.
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

// String prints whole multiples of a binary unit in that unit, and plain bytes otherwise.
func (b Bytes) String() string {
	for _, s := range []suffix{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if b > 0 && b%Bytes(s.factor) == 0 {
			return strconv.FormatInt(int64(b)/int64(s.factor), 10) + s.name
		}
	}
	return strconv.FormatInt(int64(b), 10)
}

func (d Duration) String() string { return time.Duration(d).String() }

// String prints whichever of the two is set.
func (d Depth) String() string {
	if d.Time != 0 {
		return d.Time.String()
	}
	return d.Size.String()
}

// At is the depth in bytes of a queue before a link of a rate.
func (d Depth) At(rate BitRate) Bytes {
	if d.Time == 0 {
		return d.Size
	}
	return Bytes(math.Round(float64(rate) / 8 * d.Time.Seconds()))
}

// String prints a percentage where one says it exactly, and a plain number otherwise.
func (r Ratio) String() string {
	text := strconv.FormatFloat(float64(r)*100, 'g', 12, 64) + "%"
	if again, err := ParseRatio(text); err == nil && again == r {
		return text
	}
	return strconv.FormatFloat(float64(r), 'g', -1, 64)
}

// Seconds is the duration as a number of seconds.
func (d Duration) Seconds() float64 { return time.Duration(d).Seconds() }

// LeastSet is the least of the rates that are set, which are above zero; 0: none is.
func LeastSet[T ~float64](rates ...T) (least T) {
	for _, rate := range rates {
		if rate > 0 && (least == 0 || rate < least) {
			least = rate
		}
	}
	return least
}
