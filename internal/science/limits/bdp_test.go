package limits

import (
	"math"
	"testing"
)

// TestBDP: products that were published, and what follows from them.
func TestBDP(t *testing.T) {
	for _, c := range []struct {
		rate, rtt, bytes float64
		rounds, flows    int
		scaling          bool
	}{
		// Open source at 10 Gbit, 2012.
		{512e3, 0.9, 57_600, 2, 1, false},
		{2e6, 0.05, 12_500, 0, 1, false},
		{6e6, 0.1, 75_000, 3, 1, true},
		{20e6, 0.05, 125_000, 4, 1, true},
		{1e9, 0.001, 125_000, 4, 1, true},
		// The long fat path of the same talk, and one that no window fills.
		{1e9, 0.025, 3_125_000, 8, 1, true},
		{100e9, 0.1, 1.25e9, 17, 2, true},
		{1e9, 0, 0, 0, 1, false},
	} {
		p := Path{RateBps: c.rate, RTTS: c.rtt, Segment: 1448}
		if got := p.BDP(); math.Abs(got-c.bytes) > 1e-6*c.bytes {
			t.Errorf("%.0f bit/s × %g s: %.1f bytes, want %.1f", c.rate, c.rtt, got, c.bytes)
		}
		if p.SlowStart(FirstWindow) != c.rounds || p.Flows() != c.flows || p.Scaling() != c.scaling {
			t.Errorf("%.0f bit/s × %g s: %d round trips, %d flows, scaling %v; want %d, %d, %v",
				c.rate, c.rtt, p.SlowStart(FirstWindow), p.Flows(), p.Scaling(), c.rounds, c.flows, c.scaling)
		}
		if p.WindowBps(c.bytes) > c.rate || p.WindowBps(c.bytes) < 0.999*c.rate {
			t.Errorf("a window of the product lets %.0f bit/s through, want %.0f", p.WindowBps(c.bytes), c.rate)
		}
		if each := c.bytes / float64(c.flows); float64(p.ReceiveBuffer()) < 2*each ||
			float64(p.SendBuffer()) < 2*each || p.ReceiveBuffer() > math.MaxInt32 {
			t.Errorf("buffers of %d and %d do not hold a window of %.0f", p.ReceiveBuffer(), p.SendBuffer(), c.bytes)
		}
	}
	fat := Path{RateBps: 1e9, RTTS: 0.05, Segment: 1448}
	for first, want := range map[int]int{1: 13, 10: 9, 40: 7, 100: 6, 5000: 0} {
		if got := fat.SlowStart(first); got != want {
			t.Errorf("from %d segments: %d round trips, want %d", first, got, want)
		}
	}
	if got := fat.WindowBps(64 << 10); math.Abs(got/(65536*8/0.05)-1) > 1e-9 {
		t.Errorf("64 KiB at 50 ms: %.0f bit/s", got)
	}
	if got := fat.UnscaledBps(); math.Abs(got-10_485_600) > 1 {
		t.Errorf("without scaling at 50 ms: %.0f bit/s", got)
	}
	if got := fat.Segments(); got != 4317 {
		t.Errorf("%d segments, want 4317", got)
	}
}

// TestAnswer: round trips of short answers, by hand: windows of 10, 20, 40 segments.
func TestAnswer(t *testing.T) {
	p := Path{RateBps: 1e9, RTTS: 0.05, Segment: 1448}
	for _, c := range []struct {
		bytes       float64
		first, want int
	}{
		{1, 10, 2}, {14_480, 10, 2}, {14_481, 10, 3}, {30 * 1448, 10, 3}, {64e3, 10, 4}, {64e3, 40, 3}, {64e3, 3, 5},
		{64e3, 45, 2}, {0, 10, 1}, {1448, 0, 2},
	} {
		got, seconds := p.Answer(c.bytes, c.first)
		if got != c.want || seconds < float64(c.want)*p.RTTS ||
			seconds > float64(c.want)*p.RTTS+1.07*c.bytes*8/p.RateBps+1e-6 {
			t.Errorf("%.0f bytes, %d segments at first: %d round trips, %g s, want %d", c.bytes, c.first, got,
				seconds, c.want)
		}
	}
	// Over 20 Mbit/s a segment takes 0.6056 ms: windows of 10 and 20 segments arrive from 40 and
	// 60.6 ms on, 40 from 81.2 ms to 105.4, when the acknowledgements of the next are there.
	slow := Path{RateBps: 20e6, RTTS: 0.02, Segment: 1448, Shaped: true}
	for _, c := range []struct {
		segments, first, trips int
		want                   float64
	}{{10, 10, 2, 0.0460}, {30, 10, 3, 0.0727}, {70, 10, 4, 0.1054}, {139, 10, 4, 0.1472}, {691, 10, 4, 0.4815},
		{139, 40, 2, 0.1242}} {
		trips, seconds := slow.Answer(float64(c.segments*1448), c.first)
		if trips != c.trips || math.Abs(seconds-c.want) > 1e-4 {
			t.Errorf("%d segments, %d at first: %d round trips, %.4f s, want %d, %.4f s", c.segments, c.first, trips,
				seconds, c.trips, c.want)
		}
	}
	// A long answer takes as long as the goodput of the same link says.
	for _, shaped := range []bool{false, true} {
		p.Shaped = shaped
		_, got := p.Answer(10e9, 10)
		if want := 10e9 * 8 / (Frame{MTU: 1500, Shaped: shaped}).Goodput(p.RateBps).GoodputBps; got < want ||
			got > 1.01*want {
			t.Errorf("10 GB, shaped %v: %.2f s, and %.2f s at the goodput", shaped, got, want)
		}
	}
}
