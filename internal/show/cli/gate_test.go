package cli

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/record"
)

// bothWays is a measurement in both directions.
func bothWays(write, read float64) *record.Measure {
	return &record.Measure{Directions: []record.MeasureDirection{
		{Direction: "write", GoodputBps: write}, {Direction: "read", GoodputBps: read},
	}}
}

func TestGate(t *testing.T) {
	for _, test := range []struct {
		text        string
		write, read float64
		met         bool
	}{
		{">= 900mbit", 900e6, 901e6, true}, {">= 900mbit", 899e6, 2e9, false}, {"900mbit", 900e6, 900e6, true},
		{">900 Mbit/s", 900e6, 901e6, false}, {"<= 1gbit", 1e9, 1e9, true}, {"< 1gbit", 1e9, 1, false},
		{"goodput >= 900mbit", 900e6, 900e6, true}, {">= 900mbit, <= 1gbit", 950e6, 999e6, true}, {">= 900mbit,<=1gbit", 950e6, 1.1e9, false},
	} {
		g, err := parseGate(test.text, extent{protocol: "tcp"})
		if err != nil {
			t.Fatal(err)
		}
		if got := g.hold(bothWays(test.write, test.read)); got == nil || got.Met != test.met {
			t.Errorf("%s with %g and %g: %+v", test.text, test.write, test.read, got)
		}
	}
	if g, err := parseGate(" ", extent{protocol: "tcp"}); err != nil || g.hold(bothWays(1, 1)) != nil || unmet(g.hold(bothWays(1, 1))) != nil {
		t.Errorf("nothing is expected: %+v, %v", g, err)
	}
	// Both modes have to meet it.
	g, _ := parseGate(">= 1gbit", extent{protocol: "tcp"})
	fast, slow := bothWays(2e9, 2e9), bothWays(2e9, 0.5e9)
	fast.Mode, slow.Mode = "auto", "copy"
	m := *fast
	m.Modes = []*record.Measure{fast, slow}
	if err := unmet(g.hold(&m)); err == nil || !strings.Contains(err.Error(), "expected goodput >= 1gbit, got write 2 Gbit/s in mode auto, ") || !strings.Contains(err.Error(), "read 500 Mbit/s in mode copy") {
		t.Errorf("the second mode misses it: %v", err)
	}
}

func TestGateOfOtherProtocols(t *testing.T) {
	udp := bothWays(1e9, 1e9)
	for i := range udp.Directions {
		udp.Directions[i].Datagrams = &record.Datagrams{Received: 1000, JitterUs: 200 * float64(i+1)}
		udp.Directions[i].Lost = &udp.Directions[i].Datagrams.Lost
	}
	udp.Directions[1].LostShare = 0.002
	rr := &record.Measure{
		Directions:    []record.MeasureDirection{{Direction: "write", MeasureCounts: record.MeasureCounts{RatePerS: 12000, Transactions: &record.Transactions{}}}},
		MeasureCounts: record.MeasureCounts{LatencyUs: &record.Distribution{MeanUs: 80, P50Us: 70, P90Us: 90, P99Us: 400, P999Us: 900, P9999Us: 2000, MaxUs: 5000}},
	}
	letters := &record.Measure{Directions: slices.Clone(rr.Directions)}
	letters.Directions[0].Lost, letters.Directions[0].LostShare = new(int64), 0.01
	for _, test := range []struct {
		text, protocol string
		m              *record.Measure
		missed         string // empty: met
	}{
		{"lost <= 1%, rate >= 10k/s", "udp-rr", letters, ""}, {"lost <= 0.9%", "udp-rr", letters, "expected lost <= 0.9%, got write 1.0 %"},
		{">= 1gbit, lost <= 0.2%, jitter < 401us", "udp", udp, ""},
		{"lost <= 0.1%", "udp", udp, "expected lost <= 0.1%, got write 0 %, read 0.20 %"},
		{"lost < 1%, jitter <= 0.3ms", "udp", udp, "expected jitter <= 0.3ms, got write 200 µs, read 400 µs"},
		{">= 10000/s", "rr", rr, ""}, {"12k/s", "crr", rr, ""}, {"rate > 12k/s", "rr", rr, "expected rate > 12k/s, got write 12,000/s"},
		{"p99 <= 400us, p50<=70us, p90 < 91us, p99.9 <= 1ms, p99.99 <= 2ms, max <= 5ms, mean <= 80us", "rr", rr, ""},
		{"p99 <= 399us,rate>=1/s,max<1ms", "rr", rr, "expected p99 <= 399us, got 400 µs; expected max < 1ms, got 5.00 ms"},
		// What is not known is not met.
		{"p99 <= 1s", "rr", &record.Measure{Directions: rr.Directions}, "got nothing"},
	} {
		g, err := parseGate(test.text, extent{protocol: test.protocol})
		if err != nil {
			t.Fatal(err)
		}
		e := g.hold(test.m)
		if err := unmet(e); e.Met != (test.missed == "") || err != nil && !strings.Contains(err.Error(), test.missed) {
			t.Errorf("%s: met %t, %v; want %q", test.text, e.Met, err, test.missed)
		}
	}
}

func TestGateWrong(t *testing.T) {
	for _, test := range []struct{ text, protocol, want string }{
		{"=", "tcp", "such as 'goodput >= 900mbit'"}, {">= fast", "tcp", "expected a comparison"}, {"== 1gbit", "tcp", "expected a comparison"},
		{"!= 1gbit", "tcp", "expected a comparison"}, {"90%", "tcp", "expected a comparison"}, {">= -1mbit", "tcp", "expected a comparison"},
		{">= 1gbit,", "tcp", "expected a comparison"}, {"lost <= 1%", "tcp", "lost is known of udp or udp-rr, and --protocol is tcp"},
		{"p99 <= 1ms", "udp", "p99 is known of rr, udp-rr or crr, and of others with --latency"}, {"p98 <= 1ms", "rr", `no quantity is called "p98"; did you mean "p`},
		{"lost <= 1%", "rr", "lost is known of udp or udp-rr"}, {">= 900mbit", "rr", "such as 'rate >= 10000/s'"}, {"p99 <= 500", "rr", "such as 'p99 <= 500us'"}, {"lost <= 0.5", "udp", "such as 'lost <= 0.1%'"},
		{"rate >= -5/s", "rr", "such as 'rate"}, {"rate >= NaN/s", "rr", "such as 'rate"}, {"a <= 1, b <= 2", "rr", `"b <= 2": no quantity`},
	} {
		if g, err := parseGate(test.text, extent{protocol: test.protocol}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q is understood as %+v, %v; want %q", test.text, g, err, test.want)
		}
	}
}

// TestGateOfSearch: what a search found is known of a search, and where it found
// nothing, nothing is.
func TestGateOfSearch(t *testing.T) {
	search := extent{protocol: "udp", searched: true}
	m := bothWays(950e6, 950e6)
	m.LossFree = &record.LossFree{RateBps: 910e6}
	for text, missed := range map[string]string{"loss-free >= 900mbit": "", ">= 940mbit": "", "loss-free >= 920mbit": "expected loss-free >= 920mbit, got 910 Mbit/s"} {
		g, err := parseGate(text, search)
		if err != nil {
			t.Fatal(err)
		}
		if err := unmet(g.hold(m)); (err == nil) != (missed == "") || err != nil && err.Error() != missed {
			t.Errorf("%s: %v, want %q", text, err, missed)
		}
		if none := (&record.Measure{Directions: m.Directions, LossFree: &record.LossFree{}}); unmet(g.hold(none)) == nil || !doubtful(none) || doubtful(m) {
			t.Errorf("%s: met by a search that found nothing, or one that did is in doubt", text)
		}
	}
	for protocol, want := range map[string]string{"udp": "loss-free is known with --loss-free", "tcp": "loss-free is known of udp"} {
		if _, err := parseGate("loss-free >= 900mbit", extent{protocol: protocol, probed: true}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s without a search: %v, want %q", protocol, err, want)
		}
	}
}

// TestGateOfLatency: beside a load the probe's latency is known, and its grade.
func TestGateOfLatency(t *testing.T) {
	m := bothWays(1e9, 1e9)
	m.Latency = &record.Latency{Loaded: &record.Distribution{P99Us: 40e3}, BufferDelayUs: 35e3, Grade: "B"}
	for text, missed := range map[string]string{
		">= 1gbit, grade >= B, p99 <= 40ms": "", "buffer-delay <= 40ms": "", "grade >= A": "expected grade >= A, got B", "grade > F, grade < A+": "",
		"buffer-delay <= 30ms": "expected buffer-delay <= 30ms, got 35.0 ms", "p99 < 40ms": "expected p99 < 40ms, got 40.0 ms",
	} {
		g, err := parseGate(text, extent{protocol: "tcp", probed: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := unmet(g.hold(m)); (err == nil) != (missed == "") || err != nil && err.Error() != missed {
			t.Errorf("%s: %v, want %q", text, err, missed)
		}
	}
	for text, want := range map[string]string{"grade >= E": "such as 'grade >= B'", "lost <= 1%": "lost is known of udp"} {
		if _, err := parseGate(text, extent{protocol: "tcp", probed: true}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if _, err := parseGate("grade >= B", extent{protocol: "rr"}); err == nil || !strings.Contains(err.Error(), "grade is known with --latency") {
		t.Errorf("a grade without a load: %v", err)
	}
	// No answer under load is nothing to be satisfied with.
	m.Latency.Loaded, m.Latency.Grade = nil, "F"
	if g, _ := parseGate("buffer-delay <= 30ms", extent{protocol: "tcp", probed: true}); unmet(g.hold(m)) == nil {
		t.Error("no answer, and the delay is as expected")
	}
}
