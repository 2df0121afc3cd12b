package stats

import (
	"math"
	"strings"
	"testing"

	"linerate/internal/model/record"

	"linerate/internal/model/metric"
)

// judged are trials of two levels, a block for each pair of values.
func judged(set func(t *record.Trial, value float64), base, level []float64) ([]record.Factor, []record.Trial) {
	var trials []record.Trial
	for i := range base {
		for name, value := range map[string]float64{"off": base[i], "on": level[i]} {
			t := record.Trial{Block: i + 1, Levels: map[string]string{"f": name}, GoodputBps: 1e9,
				Flows: []record.Flow{{Protocol: "rr"}}}
			set(&t, value)
			trials = append(trials, t)
		}
	}
	return []record.Factor{{Name: "f", Baseline: "off", Levels: []record.Level{{Name: "off"}, {Name: "on"}}}}, trials
}

func p99(t *record.Trial, us float64) {
	if us > 0 { // below: nothing was measured
		t.Latency = &record.Distribution{Count: 1000, P99Us: us}
	}
}

func loss(t *record.Trial, share float64) {
	t.Datagrams = &record.Datagrams{Sent: 1e6, Received: 1e6 - int64(share*1e6), Lost: int64(share * 1e6)}
}

func perSecond(t *record.Trial, perS float64) { t.TransactionsPerS = perS }

// TestOtherResponses: less latency and less loss improve, more transactions do;
// where a baseline is zero the difference is judged, and what was not measured
// decides nothing.
func TestOtherResponses(t *testing.T) {
	ramp := func(at float64) []float64 { return []float64{at, at * 1.01, at * 0.99, at * 1.005} }
	none := []float64{0, 0, 0, 0}
	for name, test := range map[string]struct {
		of          metric.Metric
		set         func(*record.Trial, float64)
		base, level []float64
		verdict     string
		ratio       float64 // 0: none
		why         string
	}{
		"slower":   {metric.LatencyP99, p99, ramp(100), ramp(400), record.Worsens, 4, ""},
		"quicker":  {metric.LatencyP99, p99, ramp(400), ramp(100), record.Improves, 0.25, ""},
		"as quick": {metric.LatencyP99, p99, ramp(100), ramp(100.1), record.NoDifference, 1.001, ""},
		"now and then": {metric.LatencyP99, p99, ramp(100), []float64{50, 400, 100, 900}, record.Inconclusive,
			2.06, "the interval spans "},
		"nothing came": {metric.LatencyP99, p99, ramp(100), none, record.Inconclusive, 0,
			"in no block have both a value: no transaction was done"},
		"nothing came once": {metric.LatencyP99, p99, ramp(100), []float64{10, 10, 0, 10}, record.Inconclusive, 0.1,
			"in 1 of 4 blocks not both have a value"},
		"more transactions": {metric.Transactions, perSecond, ramp(1000), ramp(2000), record.Improves, 2, ""},
		"from no transactions": {metric.Transactions, perSecond, none, ramp(2000), record.Improves, 0,
			"the baseline is zero in every block"},
		"to no transactions": {metric.Transactions, perSecond, ramp(2000), none, record.Worsens, 0, ""},
		"loss from none": {metric.Lost, loss, none, ramp(0.05), record.Worsens, 0,
			"the baseline is zero in every block"},
		"little loss from none": {metric.Lost, loss, none, ramp(0.005), record.Worsens, 0,
			"the baseline is zero in every block"},
		"loss from hardly any": {metric.Lost, loss, []float64{0, 0.01, 0, 0.01}, ramp(0.05), record.Worsens, 0,
			"the baseline is zero in 2 of 4 blocks"},
		"no loss": {metric.Lost, loss, none, none, record.NoDifference, 0,
			"both are zero in every block"},
		"no loss any more": {metric.Lost, loss, ramp(0.05), none, record.Improves, 0, ""},
		"twice a trifle": {metric.Lost, loss, ramp(0.0002), ramp(0.0004), record.NoDifference, 2,
			"less than 0.1 points"},
		"once": {metric.LatencyP99, p99, []float64{100}, []float64{400}, record.Inconclusive, 4,
			"a verdict takes 4 blocks, and there is 1"},
		"once from none": {metric.Lost, loss, []float64{0}, []float64{0.5}, record.Inconclusive, 0,
			"a verdict takes 4 blocks, and there is 1"},
	} {
		factors, trials := judged(test.set, test.base, test.level)
		effects := levelEffects(factors, trials, test.of, metric.Goodput)
		e := effects[0]
		if e.Verdict != test.verdict || e.Ratio.Mean < 0.98*test.ratio || e.Ratio.Mean > 1.02*test.ratio ||
			!strings.Contains(e.Why, test.why) {
			t.Errorf("%s: %+v, want %s, a ratio of %g, and why: %q", name, e, test.verdict, test.ratio, test.why)
		}
		if (e.Reason.Code == "") != (e.Why == "") || e.ByInterval() != (e.Why == "" ||
			strings.Contains(e.Why, "spans")) {
			t.Errorf("%s: the reason is %+v: %s", name, e.Reason, e.Why)
		}
		if e.Response != test.of.Name || (e.Difference != nil) != (e.Ratio.None && len(e.Beside) > 0 && e.Blocks > 0) {
			t.Errorf("%s: of %q, difference %v, ratio %+v", name, e.Response, e.Difference, e.Ratio)
		}
		if d := e.Difference; d != nil && e.Verdict == record.Worsens && !(d.Low > 0 && d.Low <= d.Mean &&
			d.Mean <= d.High) {
			t.Errorf("%s: the difference is %+v", name, d)
		}
		if b := e.Beside; len(b) != 1 || b[0].Response != "" || len(test.base) > 1 &&
			b[0].Verdict != record.NoDifference || b[0].To != "on" {
			t.Errorf("%s: beside it %+v, want goodput without a difference", name, b)
		}
	}
}

// levelEffects are the comparisons between levels at 95 % with a margin of 2 %.
func levelEffects(factors []record.Factor, trials []record.Trial, responses ...metric.Metric) []record.Effect {
	run := record.Run{Factors: factors, Trials: trials, Confidence: 0.95, Margin: 0.02}
	for _, r := range responses {
		run.Responses = append(run.Responses, r.Name)
	}
	levels, _ := Of(&run).Effects()
	return levels
}

func toolSays(t *record.Trial, surplus float64) {
	t.ToolReported = &record.ToolReported{SumBps: 1e9 * (1 + surplus), GoodputBps: 1e9, SurplusBps: 1e9 * surplus}
}

// TestNarrowOfDifferences: of what may be below zero there is no ratio to be narrow;
// its difference is held against what was asked, or what does not matter.
func TestNarrowOfDifferences(t *testing.T) {
	around := func(at, by float64) []float64 { return []float64{at - by, at + by, at - by, at + by, at - by, at + by} }
	for name, test := range map[string]struct {
		base, level []float64
		until       float64
		want        bool
	}{
		"far apart and known":       {around(0.001, 0.001), around(0.6, 0.01), 0.05, true},
		"far apart and not known":   {around(0.001, 0.001), around(0.6, 0.4), 0.05, false},
		"known as the floor is":     {around(0.001, 0.001), around(-0.002, 0.01), 0.001, true},
		"not known as the floor is": {around(0.001, 0.001), around(-0.002, 0.05), 0.001, false},
		"one block":                 {[]float64{0.001}, []float64{0.6}, 0.5, false},
	} {
		factors, trials := judged(toolSays, test.base, test.level)
		effects := levelEffects(factors, trials, metric.Surplus)
		if got := Narrow(&effects[0], nil, test.until); got != test.want || !effects[0].Ratio.None {
			t.Errorf("%s: %t: %+v", name, got, effects[0].Difference)
		}
	}
	next := record.ResponseEstimate{Response: "surplus", Mean: 0.0001, Half: 0.01, Confidence: 0.95, Trials: 4}
	if !NarrowMean(&record.Treatment{Responses: []record.ResponseEstimate{next}}, metric.Surplus, 0.01) {
		t.Error("next to nothing is never narrow")
	}
	next.Half = 0.1
	if NarrowMean(&record.Treatment{Responses: []record.ResponseEstimate{next}}, metric.Surplus, 0.01) {
		t.Error("what may be 10 points is narrow")
	}
}

// TestResponsesAreOneFamily: the intervals of all comparisons in all responses hold
// together, so that each of them is wider the more there are.
func TestResponsesAreOneFamily(t *testing.T) {
	factors, trials := judged(p99, []float64{100, 101, 102, 99}, []float64{200, 190, 205, 201})
	alone := levelEffects(factors, trials, metric.LatencyP99)[0]
	several := levelEffects(factors, trials, metric.LatencyP99, metric.Goodput, metric.LatencyP50)[0]
	logs := []float64{math.Log(2), math.Log(190. / 101), math.Log(205. / 102), math.Log(201. / 99)}
	want := Mean(logs, Sidak(0.95, 3)).exp()
	if alone.Ratio.Mean != several.Ratio.Mean || !within(several.Ratio.Low, want.Low, 1e-9) ||
		several.Ratio.Low >= alone.Ratio.Low || several.P < alone.P {
		t.Errorf("alone %+v, with others %+v, want %+v", alone, several, want)
	}
}

// TestTotals: a trial's latency is that of all its transactions, not a mean of
// its flows' percentiles, and its losses are sums.
func TestTotals(t *testing.T) {
	part := func(n int, ns int64) *record.Transactions {
		h := NewHistogram()
		for range n {
			Record(h, ns)
		}
		d, err := Distribution(h)
		if err != nil {
			t.Fatal(err)
		}
		return &record.Transactions{Done: int64(n), Latency: d}
	}
	flows := []record.Flow{
		{GoodputBps: 5, Datagrams: &record.Datagrams{Sent: 10, Received: 8, Lost: 2}},
		{Datagrams: &record.Datagrams{Sent: 10, Received: 10, Duplicates: 1}},
		{Protocol: "rr", Transactions: part(990, 1000), TransactionsPerS: 990},
		{Protocol: "crr", GoodputBps: 7, Transactions: part(10, 5_000_000), TransactionsPerS: 10},
		{Protocol: "rr"}, // did not connect
	}
	sum, err := Total(flows)
	if err != nil {
		t.Fatal(err)
	}
	if l := sum.Latency; l == nil || l.Count != 1000 || l.P50Us != 1 || l.P999Us < 4990 ||
		sum.TransactionsPerS != 1000 {
		t.Errorf("latency %+v, %g transactions per second", sum.Latency, sum.TransactionsPerS)
	}
	if share, ok := sum.Datagrams.LostShare(); !ok || share != 0.1 || sum.Datagrams.Duplicates != 1 {
		t.Errorf("datagrams %+v: %g lost", sum.Datagrams, share)
	}
	if sum.GoodputBps != 5 {
		t.Errorf("goodput %g, want that of bulk flows alone", sum.GoodputBps)
	}
	flows[2].Transactions.Latency.Histogram = []byte("no histogram")
	if _, err := Total(flows); err == nil || !strings.Contains(err.Error(), "990 times") {
		t.Errorf("an unreadable histogram gives %v", err)
	}
	if none, err := Total(nil); err != nil || none != (Totals{}) {
		t.Errorf("no flows give %v and %+v", err, none)
	}
}
