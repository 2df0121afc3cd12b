package unit

import (
	"encoding"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestBitRate(t *testing.T) {
	for text, want := range map[string]float64{
		"1gbit": 1e9, "300mbit": 3e8, "2.5 Gbit/s": 2.5e9, "9.6kbit": 9600, "1bit": 1, "10Gbps": 1e10, " 1 tbit ": 1e12,
		"1e3mbit": 1e9,
		// as iperf3 takes and prints them, as tc(8) does, as people write them
		"100M": 1e8, "10G": 1e10, "500k": 5e5, "1 g": 1e9, "941 Mbits/sec": 9.41e8, "1mibit": 1 << 20, "100 Mbps": 1e8,
	} {
		if got, err := ParseBitRate(text); err != nil || float64(got) != want {
			t.Errorf("ParseBitRate(%q) = %v, %v; want %v", text, float64(got), err, want)
		}
	}
	for _, text := range []string{"", "1", "gbit", "1gb", "-1gbit", "0gbit", "0", "1000", "100MB", "10mb", "infbit",
		"nanbit", "0x1p4gbit", "1e999gbit", "100MBps", "1e308gbit", "1,5gbit"} {
		if got, err := ParseBitRate(text); err == nil {
			t.Errorf("ParseBitRate(%q) = %v, want an error", text, got)
		}
	}
	for rate, want := range map[BitRate]string{1e9: "1gbit", 2.5e9: "2.5gbit", 3e8: "300mbit", 9600: "9.6kbit",
		1: "1bit", 123456789: "123.456789mbit"} {
		if got := rate.String(); got != want {
			t.Errorf("%v is spelled %q, want %q", float64(rate), got, want)
		}
	}
}

func TestBytes(t *testing.T) {
	for text, want := range map[string]Bytes{
		"1500": 1500, "0": 0, "256KiB": 262144, "1MB": 1e6, "1 MiB": 1 << 20, "1.5KiB": 1536, "2gib": 2 << 30,
		"64kb": 64000, "9b": 9,
		"64K": 65536, "2m": 2 << 20, "1 k": 1024, "1500 bytes": 1500, "37.5 MB": 37_500_000,
	} {
		if got, err := ParseBytes(text); err != nil || got != want {
			t.Errorf("ParseBytes(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "x", "-1", "1.5", "1mbit", "1e30GB", "-1KiB", "0x10"} {
		if got, err := ParseBytes(text); err == nil {
			t.Errorf("ParseBytes(%q) = %d, want an error", text, got)
		}
	}
	for size, want := range map[Bytes]string{0: "0", 1500: "1500", 65536: "64KiB", 1 << 20: "1MiB", 3 << 30: "3GiB",
		1e6: "1000000"} {
		if got := size.String(); got != want {
			t.Errorf("%d is spelled %q, want %q", int64(size), got, want)
		}
	}
}

func TestDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{"25ms": 25 * time.Millisecond, "2m": 2 * time.Minute,
		"1.5 s": 1500 * time.Millisecond, "10us": 10 * time.Microsecond, "0s": 0,
		"30": 30 * time.Second, "0.5": 500 * time.Millisecond, "1 m 08 s": 68 * time.Second, "10 sec": 10 * time.Second,
		"5msec": 5 * time.Millisecond} {
		if got, err := ParseDuration(text); err != nil || time.Duration(got) != want {
			t.Errorf("ParseDuration(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "-1", "-1s", "s", "1 parsec", "99999999h", "1e3"} {
		if got, err := ParseDuration(text); err == nil {
			t.Errorf("ParseDuration(%q) = %v, want an error", text, got)
		}
	}
	if got := Duration(1500 * time.Millisecond).Seconds(); got != 1.5 {
		t.Errorf("1500ms are %v s", got)
	}
}

func TestRatio(t *testing.T) {
	for text, want := range map[string]Ratio{"2%": 0.02, "0": 0, "0.0": 0, "0%": 0, "5e-1%": 0.005, "150 %": 1.5,
		"7%": 0.07, "0.1%": 0.001} {
		if got, err := ParseRatio(text); err != nil || got != want {
			t.Errorf("ParseRatio(%q) = %v, %v; want %v", text, float64(got), err, float64(want))
		}
	}
	for _, text := range []string{"", "%", "-1%", "2", "1", "0.1", "1e-5", "two", "inf", "NaN%", "0x1"} {
		if got, err := ParseRatio(text); err == nil {
			t.Errorf("ParseRatio(%q) = %v, want an error", text, float64(got))
		}
	}
	for ratio, want := range map[Ratio]string{0.02: "2%", 0.07: "7%", 0.001: "0.1%", 1: "100%", 0: "0%",
		1.0 / 3: "3.333333333333333e1%"} {
		if got := ratio.String(); got != want {
			t.Errorf("%v is spelled %q, want %q", float64(ratio), got, want)
		}
		if again, err := ParseRatio(want); err != nil || again != ratio {
			t.Errorf("%q is %v, %v; want %v", want, float64(again), err, float64(ratio))
		}
	}
}

// quantity is a pointer to one of the types.
type quantity[T any] interface {
	*T
	encoding.TextUnmarshaler
}

// roundTrip holds the property that what is printed parses back to the same.
func roundTrip[T comparable, P quantity[T]](f *testing.F, seeds ...string) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var value, again T
		if P(&value).UnmarshalText([]byte(text)) != nil {
			return
		}
		printed := fmt.Sprint(value)
		if err := P(&again).UnmarshalText([]byte(printed)); err != nil {
			t.Fatalf("%q is printed %q, which does not parse: %v", text, printed, err)
		}
		if again != value {
			t.Fatalf("%q is printed %q, which is another value", text, printed)
		}
	})
}

func FuzzBitRate(f *testing.F) {
	roundTrip[BitRate](f, "1gbit", "2.5 Gbit/s", "0.1bit", "123456789.123bit", "1e9kbit")
}
func FuzzBytes(f *testing.F)    { roundTrip[Bytes](f, "1500", "256KiB", "1.5MB", "9223372036854775807") }
func FuzzDuration(f *testing.F) { roundTrip[Duration](f, "25ms", "1m30s", "2562047h", "1.000000001s") }
func FuzzRatio(f *testing.F)    { roundTrip[Ratio](f, "2%", "0", "33.3333333333%", "1e-5%", "0.07%") }

// TestDepth: a queue is as long as a size, or as a time at a rate.
func TestDepth(t *testing.T) {
	for text, want := range map[string]struct {
		depth Depth
		at    Bytes // at 8 Mbit/s
		again string
	}{
		"64KiB": {Depth{Size: 64 << 10}, 64 << 10, "64KiB"},
		"1500":  {Depth{Size: 1500}, 1500, "1500"},
		"50ms":  {Depth{Time: 50e6}, 50_000, "50ms"},
		"1m":    {Depth{Time: 60e9}, 60_000_000, "1m"},
		"1MB":   {Depth{Size: 1e6}, 1e6, "1000000"},
		"0":     {Depth{}, 0, "0"},
	} {
		got, err := parseDepth(text)
		if err != nil || got != want.depth || got.At(8e6) != want.at || got.String() != want.again {
			t.Errorf("parseDepth(%q) = %+v (%s), %v; at 8 Mbit/s %d", text, got, got, err, got.At(8e6))
		}
		if again, err := parseDepth(got.String()); err != nil || again != got {
			t.Errorf("%q again is %+v, %v", got.String(), again, err)
		}
	}
	for _, text := range []string{"", "long", "5 packets", "-1", "-5ms", "1gbit"} {
		if got, err := parseDepth(text); err == nil {
			t.Errorf("parseDepth(%q) = %+v, want an error", text, got)
		}
	}
}

// TestRefusals: what is refused is answered with what to write instead.
func TestRefusals(t *testing.T) {
	rate := func(text string) error { _, err := ParseBitRate(text); return err }
	size := func(text string) error { _, err := ParseBytes(text); return err }
	duration := func(text string) error { _, err := ParseDuration(text); return err }
	latency := func(text string) error { _, err := ParseLatency(text); return err }
	ratio := func(text string) error { _, err := ParseRatio(text); return err }
	for _, c := range []struct {
		parse      func(string) error
		text, want string
	}{
		{rate, "100MBps", "expected 800mbit"},
		{rate, "12.5 MB/s", "expected 100mbit"},
		{rate, "100MB", "expected 800mbit"},
		{rate, "1gb", "b may be bits or bytes; expected 1gbit, or 8gbit for bytes"},
		{rate, "2.5 Mb/s", "expected 2.5mbit, or 20mbit for bytes"},
		{rate, "b", "such as 100M, 1gbit or 2.5 Gbit/s"},
		{rate, "1000", "expected 1000M for Mbit/s, or 1000bit for bit/s"},
		{rate, "fast", "such as 100M, 1gbit or 2.5 Gbit/s"},
		{size, "1mbit", "such as 256KiB"},
		{duration, "5minutes", "such as 25ms, 30s or 5m"},
		{latency, "30", "expected 30ms, 30us or 30s"},
		{ratio, "2", "expected 2%"},
		{ratio, "0.1", "expected 10%, or 0.1%"},
		{ratio, "1", "expected 100%, or 1%"},
	} {
		if err := c.parse(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
	if d, err := ParseLatency("0"); d != 0 || err != nil {
		t.Errorf("0 is %v, %v", d, err)
	}
}
