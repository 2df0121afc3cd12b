package unit

import "testing"

func TestFormat(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{FormatRate(956.42e6), "956.4 Mbit/s"}, {FormatRate(1e9), "1 Gbit/s"}, {FormatRate(999.99e6), "1 Gbit/s"},
		{FormatRate(0), "0 bit/s"}, {FormatRate(-2.5e3), "-2.5 kbit/s"},
		{FormatRate(3825.6e6), "3.826 Gbit/s"}, {FormatRate(2.5e9), "2.5 Gbit/s"}, {FormatRate(10e9), "10 Gbit/s"},
		{FormatRate(119.5e3), "119.5 kbit/s"},
		{FormatBytes(1_048_576), "1.049 MB"}, {FormatBytes(0), "0 bytes"}, {FormatBytes(999), "999 bytes"},
		{FormatBytes(1.17e9), "1.17 GB"}, {FormatBytes(2.5e12), "2.5 TB"}, {FormatBytes(1500), "1.5 kB"},
		{FormatSeconds(1.5), "1.5 s"}, {FormatSeconds(0.02), "20 ms"}, {FormatSeconds(3e-4), "300 µs"},
		{FormatSeconds(0.9996e-3), "1 ms"}, {FormatSeconds(0.9994e-3), "999 µs"}, {FormatSeconds(0.99951), "1 s"},
		{FormatSeconds(0), "0 µs"}, {FormatSeconds(999.4), "999 s"}, {FormatSeconds(999.6), "1,000 s"},
		{FormatSeconds(1004), "1,004 s"}, {FormatSeconds(3600.4), "3,600 s"},
		{FormatCount(999), "999"}, {FormatCount(1000), "1,000"}, {FormatCount(-1234567), "-1,234,567"},
		{FormatMs(1503.2), "1,503 ms"}, {FormatMs(99.96), "100 ms"}, {FormatMs(0.0512), "0.0512 ms"},
		{FormatMs(0), "0 ms"}, {FormatPercent(0.9995), "99.95 %"}, {FormatPercent(0.002), "0.2 %"},
		{FormatPercent(0.5), "50 %"}, {FormatPercent(0), "0 %"}, {FormatPercent(1), "100 %"},
		{FormatPercent(0.0123), "1.23 %"}, {FormatPercent(1e-8), "0.000001 %"},
	} {
		if test.got != test.want {
			t.Errorf("%q, want %q", test.got, test.want)
		}
	}
}
