package present

import (
	"math"
	"slices"
	"testing"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
)

func TestIntervalEarnsItsDigits(t *testing.T) {
	mb := scale{metric.Scale{Unit: "MB/s", Per: 1 / 8e6}}
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
		e := record.Estimate{MeanBps: c.mean * c.scaleTo, LowBps: (c.mean - c.half) * c.scaleTo, HighBps: (c.mean + c.half) * c.scaleTo}
		if mean, half := mb.interval(e.MeanBps, e.LowBps, e.HighBps); mean != c.wantMean || half != c.wantHalf {
			t.Errorf("%g ± %g is spelled %s ± %s, expected %s ± %s", c.mean, c.half, mean, half, c.wantMean, c.wantHalf)
		}
	}
}

func TestRatio(t *testing.T) {
	for _, c := range []struct {
		r              record.EffectSize
		mean, interval string
	}{
		{record.EffectSize{Mean: 4, Low: 3.98, High: 4.01}, "4.00×", "3.98–4.01"},
		{record.EffectSize{Mean: 1.0002, Low: 0.9994, High: 1.0011}, "1.000×", "0.999–1.001"},
		{record.EffectSize{Mean: 1.7, Low: 0.3, High: 9.6}, "1.7×", "0.3–9.6"},
		{record.EffectSize{Mean: 1.7, Low: 0.3, High: 1e6}, "1.7×", "at least 0.3"},
		{record.EffectSize{Mean: 2.5}, "2.50×", ""},
		{record.EffectSize{Mean: 2.5, Low: 2.5, High: 2.5}, "2.50×", ""},
		{record.EffectSize{Mean: math.Inf(1)}, "—", ""},
	} {
		if mean, interval := ratio(c.r); mean != c.mean || interval != c.interval {
			t.Errorf("%+v is spelled %q %q, expected %q %q", c.r, mean, interval, c.mean, c.interval)
		}
	}
}

func TestUnits(t *testing.T) {
	for bps, want := range map[float64]string{0: "0", 0.2: "0", 512: "512 bit/s", 9.5e5: "950 kbit/s", 999.9e6: "1.00 Gbit/s", 1e9: "1.00 Gbit/s", 2.5e10: "25.0 Gbit/s", math.NaN(): "0"} {
		if got := linkRate(bps); got != want {
			t.Errorf("linkRate(%g) = %q, expected %q", bps, got, want)
		}
	}
	for share, want := range map[float64]string{0: "0 %", 0.0001: "<0.1 %", 0.023: "2.3 %", 0.25: "25 %", 0.999: "100 %", 1: "100 %"} {
		if got := percent(share); got != want {
			t.Errorf("percent(%g) = %q, expected %q", share, got, want)
		}
	}
	for s, want := range map[float64]string{0: "0 s", 0.25: "0.25 s", 59.7: "1 m 0 s", 112.4: "1 m 52 s", 7383: "2 h 3 m", -1: "unknown time"} {
		if got := Seconds(s); got != want {
			t.Errorf("Seconds(%g) = %q, expected %q", s, got, want)
		}
	}
	run := &record.Run{Treatments: []record.Treatment{{Goodput: record.Estimate{MeanBps: 119.5 * 8e6}, LimitBps: 956.4e6}}}
	if got := goodputScale(run).with(956.4e6); got != "956.4 Mbit/s" {
		t.Errorf("in bit/s: %s", got)
	}
	run.Unit = "MB/s"
	if got := goodputScale(run).with(956.4e6); got != "119.5 MB/s" {
		t.Errorf("in MB/s: %s", got)
	}
}

func TestAlignDecimals(t *testing.T) {
	got := alignDecimals([]string{"119.50", "240", "", "4.1×", "<0.1"}, "_", ".")
	want := []string{"119.50", "240.__", "", "__4.1×_", "_<0.1_"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, expected %q", got, want)
	}
}

func TestTicks(t *testing.T) {
	for high, want := range map[float64]string{478.2: "0 100 200 300 400", 1: "0.0 0.2 0.4 0.6 0.8 1.0", 0: "0", 95.6: "0 20 40 60 80", math.Inf(1): "0"} {
		got := ""
		for i, l := range tickLabels(ticks(0, high, 5)) {
			if i > 0 {
				got += " "
			}
			got += l
		}
		if got != want {
			t.Errorf("ticks to %g: %s, expected %s", high, got, want)
		}
	}
}

func TestSpelling(t *testing.T) {
	for rate, want := range map[float64]string{0: "0/s", 12.34: "12.3/s", 99.99: "100/s", 1234.5: "1,235/s", 1234567: "1,234,567/s"} {
		if got := PerSecond(rate); got != want {
			t.Errorf("rate %g: %s, want %s", rate, got, want)
		}
	}
	for us, want := range map[float64]string{0: "0 µs", 0.123: "0.123 µs", 999.4: "999 µs", 999.6: "1.00 ms", 12345: "12.3 ms", 2.5e6: "2.50 s"} {
		if got := Microseconds(us); got != want {
			t.Errorf("%g µs: %s, want %s", us, got, want)
		}
	}
	if got := thousands(-1234567); got != "-1,234,567" {
		t.Errorf("negative: %s", got)
	}
}
