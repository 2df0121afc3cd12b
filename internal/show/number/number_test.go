package number

import (
	"math"
	"testing"

	"linerate/internal/model/metric"
)

func TestIntervalEarnsItsDigits(t *testing.T) {
	mb := Scale{Scale: metric.Scale{Unit: "MB/s", Per: 1 / 8e6}}
	for _, c := range []struct {
		mean, half, scaleTo float64
		wantMean, wantHalf  string
	}{
		{119.512, 0.21, 8e6, "119.5", "0.2"},
		{119.512, 0.14, 8e6, "119.51", "0.14"},
		{241.3, 134, 8e6, "240", "130"},
		{241.3, 13.4, 8e6, "241", "13"},
		{241.3, 96, 8e6, "240", "100"},
		{478.18234, 0.00021, 8e6, "478.18", "0.01"}, // five digits are enough
		{478.18234, 0, 8e6, "478.2", ""},
		{0, 0, 8e6, "0", ""},
		{0.00345, 0.0004, 8e6, "0.0034", "0.0004"},
		{math.NaN(), math.NaN(), 8e6, "0", ""},
	} {
		if mean, half := mb.Interval(c.mean*c.scaleTo, c.half*c.scaleTo); mean != c.wantMean || half != c.wantHalf {
			t.Errorf("%g ± %g is spelled %s ± %s, expected %s ± %s", c.mean, c.half, mean, half, c.wantMean, c.wantHalf)
		}
	}
}

func TestUnits(t *testing.T) {
	for bps, want := range map[float64]string{0: "0", 0.2: "0", 512: "512 bit/s", 9.5e5: "950 kbit/s",
		999.9e6: "1.00 Gbit/s", 1e9: "1.00 Gbit/s", 2.5e10: "25.0 Gbit/s", math.NaN(): "0"} {
		if got := LinkRate(bps); got != want {
			t.Errorf("linkRate(%g) = %q, expected %q", bps, got, want)
		}
	}
	for share, want := range map[float64]string{0: "0 %", 0.0001: "<0.1 %", 0.023: "2.3 %", 0.25: "25 %",
		0.999: "100 %", 1: "100 %"} {
		if got := Percent(share); got != want {
			t.Errorf("percent(%g) = %q, expected %q", share, got, want)
		}
	}
	for s, want := range map[float64]string{0: "0 s", 0.25: "0.25 s", 59.7: "1 m 0 s", 112.4: "1 m 52 s",
		7383: "2 h 3 m", -1: "unknown time"} {
		if got := Seconds(s); got != want {
			t.Errorf("Seconds(%g) = %q, expected %q", s, got, want)
		}
	}
}

func TestSpelling(t *testing.T) {
	for rate, want := range map[float64]string{0: "0/s", 12.34: "12.3/s", 99.99: "100/s", 1234.5: "1,235/s",
		1234567: "1,234,567/s"} {
		if got := PerSecond(rate); got != want {
			t.Errorf("rate %g: %s, want %s", rate, got, want)
		}
	}
	for us, want := range map[float64]string{0: "0 µs", 0.123: "0.123 µs", 999.4: "999 µs", 999.6: "1.00 ms",
		12345: "12.3 ms", 2.5e6: "2.50 s"} {
		if got := Microseconds(us); got != want {
			t.Errorf("%g µs: %s, want %s", us, got, want)
		}
	}
}
