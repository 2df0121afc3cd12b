package limits

import "testing"

func TestDirect(t *testing.T) {
	for _, test := range []struct {
		rate  float64
		frame Frame
		flows int
		cap   float64
		bps   float64
		why   string
	}{
		{1e9, Frame{}, 1, 0, 1e9 * 1448 / 1538, "1 Gbit/s × 1448/1538"},
		{1e9, Frame{MTU: 9000, IPv6: true}, 4, 0, 1e9 * 8928 / 9038, "1 Gbit/s × 8928/9038"},
		{1e9, Frame{}, 4, 100e6, 400e6, "4 × cap of 100 Mbit/s"},
		{300e6, Frame{Shaped: true, Shaper: "tbf on client.eth0"}, 1, 0, 300e6 * 1448 / 1514,
			"tbf on client.eth0: 300 Mbit/s × 1448/1514"},
		{300e6, Frame{Shaped: true, Shaper: "cake on client.eth0", Overhead: -10}, 1, 0, 300e6 * 1448 / 1504,
			"cake on client.eth0: 300 Mbit/s × 1448/1504"},
		{1e9, Frame{}, 40, 100e6, 1e9 * 1448 / 1538, "1 Gbit/s × 1448/1538"},
		{0, Frame{}, 1, 50e6, 50e6, "cap of 50 Mbit/s"},
		{0, Frame{}, 8, 0, 0, "speed"},
	} {
		if got := Direct(test.rate, test.frame, test.flows, test.cap); got.Bps != test.bps || spelled(got) != test.why {
			t.Errorf("%+v: %+v", test, got)
		}
	}
}
