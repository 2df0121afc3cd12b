package limits

import (
	"math"
	"testing"
)

// TestLoss: the models' figures in Mbit/s as computed by hand from the papers'
// formulas, segments of 1448 bytes.
func TestLoss(t *testing.T) {
	for _, test := range []struct {
		loss, rtt                      float64
		reno, renoLow, timeouts, cubic float64
	}{
		{1e-4, 0.010, 142, 100, 100, 142},
		{1e-4, 0.100, 14, 10, 10, 22},
		{1e-5, 0.100, 45, 32, 32, 122},
		{1e-2, 0.001, 142, 100, 18, 142},
	} {
		p := Path{RateBps: 100e9, RTTS: test.rtt, Segment: 1448}
		low, high := p.Reno(test.loss)
		_, cubic := p.Cubic(test.loss)
		for _, c := range []struct {
			what      string
			got, want float64
		}{{"reno", high, test.reno}, {"reno, every other", low, test.renoLow}, {"timeouts", p.RenoTimeouts(test.loss),
			test.timeouts}, {"cubic", cubic, test.cubic}} {
			if got := math.Round(c.got / 1e6); got != c.want {
				t.Errorf("loss %g, round trip %g s, %s: %g Mbit/s, want %g", test.loss, test.rtt, c.what, got, c.want)
			}
		}
	}
	slow := Path{RateBps: 1e6, RTTS: 0.01, Segment: 1448}
	if low, high := slow.Cubic(1e-6); low != 1e6 || high != 1e6 {
		t.Errorf("a path of 1 Mbit/s is to carry %g to %g", low, high)
	}
}

// TestTrough: a queue of half the product and more keeps a path full through a cut
// to 0.7, one of the whole product through a halving.
func TestTrough(t *testing.T) {
	p := Path{RateBps: 80e6, RTTS: 0.1, Segment: 1448} // 1 MB
	for _, test := range []struct{ queue, cut, want float64 }{
		{0, 0.5, 0.5}, {0.5e6, 0.5, 0.75}, {1e6, 0.5, 1}, {5e6, 0.5, 1}, {0, 0.7, 0.7}, {0.43e6, 0.7, 1},
	} {
		if got := p.Trough(test.queue, test.cut); math.Abs(got-test.want) > 0.002 {
			t.Errorf("queue %g, cut to %g: %g, want %g", test.queue, test.cut, got, test.want)
		}
	}
	if got := (Path{RateBps: 1e9}).Trough(0, 0.5); got != 1 {
		t.Errorf("without a round trip: %g", got)
	}
}
