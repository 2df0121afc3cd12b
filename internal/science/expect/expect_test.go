package expect

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/metric"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// parts are the two directions of a measurement.
func parts(write, read record.Part) []record.Part {
	write.From, write.To, read.From, read.To = "client", "server", "server", "client"
	return []record.Part{write, read}
}

// bothWays is a measurement in both directions.
func bothWays(write, read float64) record.Trial {
	return record.Trial{Parts: parts(record.Part{GoodputBps: write}, record.Part{GoodputBps: read})}
}

// requests is a measurement of requests and responses by the client.
func requests(t record.Trial) record.Trial {
	c := record.Counts{RatePerS: t.TransactionsPerS, LatencyUs: t.Latency, Transactions: t.Flows[0].Transactions}
	t.Flows[0].From, t.Flows[0].To = "client", "server"
	t.Parts = []record.Part{{From: "client", To: "server", Counts: c}}
	return t
}

func TestExpect(t *testing.T) {
	for _, test := range []struct {
		text        string
		write, read float64
		met         bool
	}{
		{">= 900mbit", 900e6, 901e6, true}, {">= 900mbit", 899e6, 2e9, false}, {"900mbit", 900e6, 900e6, true},
		{">900 Mbit/s", 900e6, 901e6, false}, {"<= 1gbit", 1e9, 1e9, true}, {"< 1gbit", 1e9, 1, false},
		{"goodput >= 900mbit", 900e6, 900e6, true}, {">= 900mbit, <= 1gbit", 950e6, 999e6, true},
		{">= 900mbit,<=1gbit", 950e6, 1.1e9, false},
	} {
		g, err := Parse(test.text, metric.Setup{Protocol: "tcp"})
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Check(bothWays(test.write, test.read)); got == nil || got.Met != test.met {
			t.Errorf("%s with %g and %g: %+v", test.text, test.write, test.read, got)
		}
	}
	resent := bothWays(1e9, 1e9)
	resent.Flows = []record.Flow{
		{From: "client", To: "server", ReceivedBytes: 2e9, RetransSegments: 2, SenderInfo: &netstate.TCPInfo{}},
		{From: "server", To: "client", ReceivedBytes: 2e9, RetransSegments: 3, SenderInfo: &netstate.TCPInfo{}},
	}
	g, _ := Parse("retransmissions_per_gigabyte <= 1", metric.Setup{Protocol: "tcp"})
	if err := Unmet(g.Check(resent)); err == nil ||
		err.Error() != "expected retransmissions_per_gigabyte <= 1, got write 1/GB, read 1.5/GB" {
		t.Errorf("sent again: %v", err)
	}
	if g, err := Parse(" ", metric.Setup{Protocol: "tcp"}); err != nil || g.Check(bothWays(1, 1)) != nil ||
		Unmet(g.Check(bothWays(1, 1))) != nil {
		t.Errorf("nothing is expected: %+v, %v", g, err)
	}
	// Both modes have to meet it.
	g, _ = Parse(">= 1gbit", metric.Setup{Protocol: "tcp"})
	fast, slow := bothWays(2e9, 2e9), bothWays(2e9, 0.5e9)
	fast.Mode, slow.Mode = "auto", "copy"
	if err := Unmet(g.Check(fast, slow)); err == nil ||
		!strings.Contains(err.Error(), "expected goodput >= 1gbit, got write 2 Gbit/s in mode auto, ") ||
		!strings.Contains(err.Error(), "read 500 Mbit/s in mode copy") {
		t.Errorf("the second mode misses it: %v", err)
	}
}

func TestExpectOfOtherProtocols(t *testing.T) {
	udp := bothWays(1e9, 1e9)
	for i, lost := range []int64{0, 2} {
		p := &udp.Parts[i]
		p.Datagrams = &record.Datagrams{Sent: 1000, Received: 1000 - lost, Lost: lost}
		f := record.Flow{From: p.From, To: p.To, Protocol: "udp", Datagrams: p.Datagrams}
		f.Datagrams.JitterUs = 200 * float64(i+1)
		udp.Flows = append(udp.Flows, f)
	}
	rr := requests(record.Trial{TransactionsPerS: 12000,
		Flows: []record.Flow{{Protocol: "rr", Transactions: &record.Transactions{}}},
		Latency: &record.Distribution{Count: 1e6, MeanUs: 80, P50Us: 70,
			P90Us: 90, P99Us: 400, P999Us: 900, P9999Us: 2000, MaxUs: 5000}})
	datagrams := requests(record.Trial{TransactionsPerS: 12000,
		Flows: []record.Flow{{Protocol: "udp-rr", Transactions: &record.Transactions{Done: 990, Unanswered: 10}}}})
	for _, test := range []struct {
		text, protocol string
		m              record.Trial
		missed         string // empty: met
	}{
		{"lost <= 1%, transactions >= 10k/s", "udp-rr", datagrams, ""}, {"lost <= 0.9%", "udp-rr", datagrams,
			"expected lost <= 0.9%, got 1 %"},
		{">= 1gbit, lost <= 0.2%, jitter < 401us", "udp", udp, ""},
		{"lost <= 0.1%", "udp", udp, "expected lost <= 0.1%, got write 0 %, read 0.2 %"},
		{"lost < 1%, jitter <= 0.3ms", "udp", udp, "expected jitter <= 0.3ms, got write 200 µs, read 400 µs"},
		{">= 10000/s", "rr", rr, ""}, {"12k/s", "crr", rr, ""}, {"transactions > 12k/s", "rr", rr,
			"expected transactions > 12k/s, got 12 k/s"},
		{
			"latency_p99 <= 400us, latency_p50<=70us, latency_p90 < 91us, latency_p999 <= 1ms, latency_p9999 <= " +
				"2ms, latency_max <= 5ms, latency_mean <= 80us", "rr", rr, ""},
		{"latency_p99 <= 399us,transactions>=1/s,latency_max<1ms", "rr", rr,
			"expected latency_p99 <= 399us, got 400 µs; expected latency_max < 1ms, got 5 ms"},
		// What is not known is not met.
		{"latency_p99 <= 1s", "rr", record.Trial{Parts: rr.Parts},
			"got no value: no transaction was done"},
	} {
		g, err := Parse(test.text, metric.Setup{Protocol: test.protocol})
		if err != nil {
			t.Fatal(err)
		}
		e := g.Check(test.m)
		if err := Unmet(e); e.Met != (test.missed == "") || err != nil && !strings.Contains(err.Error(), test.missed) {
			t.Errorf("%s: met %t, %v; want %q", test.text, e.Met, err, test.missed)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, test := range []struct{ text, protocol, want string }{
		{"=", "tcp", "such as 'goodput >= 900mbit'"}, {">= fast", "tcp", "not a bit rate"},
		{"== 1gbit", "tcp", "expected a comparison"},
		{"!= 1gbit", "tcp", "expected a comparison"}, {"90%", "tcp", "expected a comparison"},
		{">= -1mbit", "tcp", "not a bit rate"},
		{">= 1gbit,", "tcp", "expected a comparison"},
		{"lost <= 1%", "tcp", "lost is measured with --protocol udp or udp-rr, and --protocol is tcp"},
		{"latency_p99 < = 5ms", "tcp", "expected <= without a space between"},
		{"latency_p99 <= 1ms", "udp",
			"latency_p99 is measured with --protocol rr, udp-rr, crr, dns, dns-tcp, dot, http, h2, h3, smtp, " +
				"redis or memcached, or with --latency"},
		{"latency_p98 <= 1ms", "rr", `no metric "latency_p98"; did you mean "latency_p`},
		{"p99 <= 1ms", "rr", `no metric "p99"; did you mean "latency_p99"?`},
		{"rate >= 1/s", "rr", `no metric "rate"; expected goodput, transactions`},
		{"lost <= 1%", "rr", "lost is measured with --protocol udp or udp-rr"},
		{">= 900mbit", "rr", "such as 'transactions >= 10000/s'"},
		{"latency_p99 <= 500", "rr", "such as 'latency_p99 <= 500us'"},
		{"lost <= 0.5", "udp", "such as 'lost <= 0.1%'"},
		{"transactions >= -5/s", "rr", "such as 'trans"}, {"transactions >= NaN/s", "rr", "such as 'trans"},
		{"a <= 1, b <= 2", "rr", `"b <= 2": no metric`},
	} {
		if g, err := Parse(test.text, metric.Setup{Protocol: test.protocol}); err == nil ||
			!strings.Contains(err.Error(), test.want) {
			t.Errorf("%q is understood as %+v, %v; want %q", test.text, g, err, test.want)
		}
	}
}

func doubtful(t record.Trial) bool { return (&record.Run{Trials: []record.Trial{t}}).Doubtful() }

// TestExpectOfSearch: what a search found is known of a search, and where it found
// nothing, nothing is.
func TestExpectOfSearch(t *testing.T) {
	search := metric.Setup{Protocol: "udp", LossFree: true}
	m := bothWays(950e6, 950e6)
	m.LossFree = &record.LossFree{RateBps: 910e6}
	for text, missed := range map[string]string{"loss_free >= 900mbit": "", ">= 940mbit": "",
		"loss_free >= 920mbit": "expected loss_free >= 920mbit, got 910 Mbit/s"} {
		g, err := Parse(text, search)
		if err != nil {
			t.Fatal(err)
		}
		if err := Unmet(g.Check(m)); (err == nil) != (missed == "") || err != nil && err.Error() != missed {
			t.Errorf("%s: %v, want %q", text, err, missed)
		}
		if none := (record.Trial{Parts: m.Parts, LossFree: &record.LossFree{}}); Unmet(
			g.Check(none)) == nil || !doubtful(none) || doubtful(m) {
			t.Errorf("%s: met by a search that found nothing, or one that did is in doubt", text)
		}
	}
	for protocol, want := range map[string]string{"udp": "loss_free is measured with --loss-free",
		"tcp": "loss_free is measured with --protocol udp"} {
		if _, err := Parse("loss_free >= 900mbit", metric.Setup{Protocol: protocol, Probe: true}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s without a search: %v, want %q", protocol, err, want)
		}
	}
}

// TestObjective: conditions may be joined by "and", it is known how many requests they need, and a
// search that found no rate meets none.
func TestObjective(t *testing.T) {
	e, err := Parse("latency_p50 <= 5ms and latency_p99 <= 20ms, errors <= 0.1%", metric.Setup{Protocol: "http"})
	if err != nil || e.String() != "latency_p50 <= 5ms, latency_p99 <= 20ms, errors <= 0.1%" || e.Needs() != 1000 ||
		!slices.Equal(e.Metrics(), []string{"latency_p50", "latency_p99", "errors"}) {
		t.Fatalf("%v: %v needs %d", err, e, e.Needs())
	}
	x := &record.Transactions{Done: 2000, Application: &record.Application{Errors: 4}}
	m := requests(record.Trial{Flows: []record.Flow{{Protocol: "http", Transactions: x}},
		Latency: &record.Distribution{Count: 2000, P50Us: 1e3, P99Us: 25e3}})
	got := e.Check(m)
	if c := got.Conditions; got.Met || len(c) != 3 || !c[0].Met || c[1].Met || c[1].Got != "25 ms" || c[2].Met ||
		c[2].Got != "0.2 %" {
		t.Errorf("%+v", got)
	}
	x.Application.Errors, m.Latency.P99Us = 0, 10e3
	if !e.Check(m).Met {
		t.Errorf("%+v", e.Check(m))
	}
	if m.FindMax = (&record.FindMax{}); e.Check(m).Met || !doubtful(m) {
		t.Errorf("%+v", e.Check(m))
	}
	if m.FindMax = (&record.FindMax{RatePerS: 5, Why: "interrupted"}); !e.Check(m).Met || !doubtful(m) {
		t.Error("a rate that was not confirmed is in no doubt")
	}
	if m.FindMax.Why = ""; doubtful(m) {
		t.Error("a rate that was confirmed is in doubt")
	}
}

// TestExpectOfLatency: beside a load the probe's latency is known, and its grade.
func TestExpectOfLatency(t *testing.T) {
	m := bothWays(1e9, 1e9)
	m.Latency = &record.Distribution{Count: 1000, P99Us: 40e3}
	m.Bufferbloat = &record.Latency{Loaded: m.Latency, BufferDelayUs: 35e3, Grade: "B"}
	for text, missed := range map[string]string{
		">= 1gbit, grade >= B, latency_p99 <= 40ms": "", "buffer_delay <= 40ms": "",
		"grade >= A": "expected grade >= A, got B", "grade > F, grade < A+": "",
		"buffer_delay <= 30ms": "expected buffer_delay <= 30ms, got 35 ms",
		"latency_p99 < 40ms":   "expected latency_p99 < 40ms, got 40 ms",
	} {
		g, err := Parse(text, metric.Setup{Protocol: "tcp", Probe: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := Unmet(g.Check(m)); (err == nil) != (missed == "") || err != nil && err.Error() != missed {
			t.Errorf("%s: %v, want %q", text, err, missed)
		}
	}
	for text, want := range map[string]string{"grade >= E": "such as 'grade >= B'",
		"lost <= 1%": "lost is measured with --protocol udp"} {
		if _, err := Parse(text, metric.Setup{Protocol: "tcp", Probe: true}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if _, err := Parse("grade >= B", metric.Setup{Protocol: "rr"}); err == nil ||
		!strings.Contains(err.Error(), "grade is measured with --latency") {
		t.Errorf("a grade without a load: %v", err)
	}
	// No answer under load is nothing to be satisfied with.
	m.Bufferbloat.Loaded, m.Bufferbloat.Grade = nil, "F"
	if g, _ := Parse("buffer_delay <= 30ms", metric.Setup{Protocol: "tcp", Probe: true}); Unmet(g.Check(m)) == nil {
		t.Error("no answer, and the delay is as expected")
	}
}

// TestExpectOfFew: a percentile of too few requests neither meets a condition nor misses
// it; what is known beside it may miss.
func TestExpectOfFew(t *testing.T) {
	m := record.Trial{Latency: &record.Distribution{Count: 200, P50Us: 70, P99Us: 400, MaxUs: 500}}
	few := "latency p99 of 200 requests is the 3rd slowest: p99 needs 1,000"
	for text, want := range map[string][]record.Condition{
		"latency_p99 <= 1ms": {{Met: false, Got: "400 µs (3rd slowest of 200)", Unknown: few}},
		"latency_p99 > 1ms":  {{Met: false, Got: "400 µs (3rd slowest of 200)", Unknown: few}},
		"latency_p50 <= 100us, latency_p99 <= 1ms, latency_max <= 400us": {{Met: true, Got: "70 µs"},
			{Met: false, Got: "400 µs (3rd slowest of 200)", Unknown: few}, {Met: false, Got: "500 µs"}},
	} {
		g, err := Parse(text, metric.Setup{Protocol: "rr"})
		if err != nil {
			t.Fatal(err)
		}
		e := g.Check(m)
		for i, c := range e.Conditions {
			if c.Met != want[i].Met || c.Got != want[i].Got || c.Unknown != want[i].Unknown {
				t.Errorf("%s: %+v, want %+v", text, c, want[i])
			}
		}
		said := "is neither met nor missed: " + few
		if err := Unmet(e); e.Met || err == nil || !strings.Contains(err.Error(), said) ||
			strings.Count(err.Error(), "expected") != len(want)/3 {
			t.Errorf("%s: met %t, %v", text, e.Met, err)
		}
	}
}
