package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
)

// requests are the times of n requests: lognormal with a spread of 0.3 around e^shift ms, of
// which a part takes ten times as long.
func requests(random *rand.Rand, n int, shift, slow float64) times {
	counts := make([]int64, step(longestNs)+1)
	for range n {
		x := shift + 0.3*random.NormFloat64()
		if random.Float64() < slow {
			x += math.Log(10)
		}
		counts[step(int64(1e6*math.Exp(x)))]++
	}
	return gather(counts)
}

// of99 is a side judged by p99.
func of99(latencies ...times) Side {
	s := Side{quantile: 0.99, latencies: latencies, fewest: math.MaxInt64}
	for _, t := range latencies {
		s.Values, s.requests, s.fewest = append(s.Values, t.at(0.99, times{})), s.requests+t.total,
			min(s.fewest, t.total)
	}
	return s
}

// slowest99 is the true p99 of such requests, whose shift varies by spread.
func slowest99(spread, slow float64) float64 {
	law := distuv.Normal{Sigma: math.Hypot(0.3, spread)}
	low, high := 0.0, 10.0
	for range 60 {
		if middle := (low + high) / 2; (1-slow)*law.CDF(middle)+slow*law.CDF(middle-math.Log(10)) < 0.99 {
			low = middle
		} else {
			high = middle
		}
	}
	return 1e3 * math.Exp(low)
}

// TestPercentileCoverage: the intervals of pooled percentiles hold the truth, and those of
// their ratios 1 where both sides are alike, as often as they say, also where rare requests
// take ten times as long (1.2 % of them, so that p99 is among these by a hair) and where
// blocks differ. 200 rounds: 95 % less three standard errors.
func TestPercentileCoverage(t *testing.T) {
	const rounds = 200
	random := rand.New(rand.NewPCG(11, 12))
	for _, test := range []struct {
		slow, spread  float64
		trials, n, on int // requests of a trial, and of the other level's
	}{
		{0, 0, 4, 1000, 1000}, {0, 0, 12, 1000, 1000}, {0, 0.1, 8, 1000, 1000},
		{0.012, 0, 4, 1000, 1000}, {0.012, 0, 12, 1000, 1000}, {0.012, 0, 4, 5000, 5000}, {0.012, 0.1, 8, 1000, 1000},
		{0.012, 0, 4, 1000, 2000},
	} {
		truth := slowest99(test.spread, test.slow)
		alone, compared := 0, 0
		for range rounds {
			var base, level []times
			for range test.trials {
				shift := test.spread * random.NormFloat64() // shared by the block
				base, level = append(base, requests(random, test.n, shift, test.slow)),
					append(level, requests(random, test.on, shift, test.slow))
			}
			if in := percentile(base, 0.99, 0.95); in.Low <= truth && truth <= in.High {
				alone++
			}
			if ratio, p := pairedPercentiles(of99(base...), of99(level...), 0.95); ratio.Low <= 1 && 1 <= ratio.High {
				compared++
			} else if p > 0.05 {
				t.Errorf("%+v: %+v and p = %g", test, ratio, p)
			}
		}
		t.Logf("%+v: %.1f %% alone, %.1f %% compared", test, 100*float64(alone)/rounds, 100*float64(compared)/rounds)
		for what, n := range map[string]int{"treatments": alone, "comparisons": compared} {
			if share := float64(n) / rounds; share < 0.95-3*math.Sqrt(0.95*0.05/rounds) {
				t.Errorf("%+v: the intervals of %s hold the truth in %.1f %%, 95 %% promised", test, what, 100*share)
			}
		}
	}
}

// TestPercentileOfAll: the estimate is the percentile of all trials' transactions as their
// histograms have it, and not a mean of the trials' own.
func TestPercentileOfAll(t *testing.T) {
	var parts []*record.Distribution
	for _, us := range []int64{1, 2, 30} {
		h := NewHistogram()
		for i := range int64(1000) {
			Record(h, us*1000+i)
		}
		d, err := Distribution(h)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, d)
	}
	together, err := Together(parts...)
	if err != nil {
		t.Fatal(err)
	}
	run := &record.Run{Margin: 0.02, Confidence: 0.95}
	for _, d := range append(parts, nil) {
		run.Trials = append(run.Trials, record.Trial{Latency: d})
	}
	estimate := func(of metric.Metric) (e record.ResponseEstimate) {
		Of(run).Side(run.TrialsOf(""), of).Estimate(&e, 0.95)
		return e
	}
	for _, test := range []struct {
		of    metric.Metric
		want  float64
		known bool
		rank  string
	}{{metric.LatencyP50, together.P50Us, true, ""}, {metric.LatencyP99, together.P99Us, true, ""},
		{p999, together.P999Us, false, "4th slowest of 3,000"}} {
		e := estimate(test.of)
		if e.Mean != test.want || e.Trials != 3 || (e.Confidence > 0) != test.known || e.Rank != test.rank {
			t.Errorf("%s: %+v, want %g", test.of.Name, e, test.want)
		}
		if test.known && !(e.Low <= e.Mean && e.Mean <= e.High && e.High <= together.MaxUs) {
			t.Errorf("%s: %+v beyond the slowest, %g", test.of.Name, e, together.MaxUs)
		}
	}
	// What cannot be read any more has the mean of the trials' own.
	run.Trials[0].Latency = &record.Distribution{Count: 1000, P99Us: 5, Histogram: []byte("none")}
	if e, want := estimate(metric.LatencyP99), (5+parts[1].P99Us+parts[2].P99Us)/3; math.Abs(e.Mean-want) > 1e-9 {
		t.Errorf("with an unreadable histogram %+v, want %g", e, want)
	}
}

var p999 = func() metric.Metric { m, _ := metric.Find("latency_p999"); return m }()

// TestPercentileAtTheEdges: one trial has no interval, equal ones a narrow one, and a block
// in which both sides were ten times slower changes no ratio.
func TestPercentileAtTheEdges(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	one := requests(random, 1000, 0, 0)
	if in := percentile([]times{one}, 0.99, 0.95); in.Known || in.Mean != one.at(0.99, times{}) || in.N != 1 {
		t.Errorf("one: %+v", in)
	}
	if in := percentile([]times{one, one, one, one}, 0.99, 0.95); !in.Known || in.Low != in.Mean || in.High != in.Mean {
		t.Errorf("equal: %+v", in)
	}
	if in := percentile(nil, 0.99, 0.95); in != (Interval{}) {
		t.Errorf("none: %+v", in)
	}
	if ratio, p := pairedPercentiles(of99(one), of99(one), 0.95); ratio.Known || ratio.Mean != 1 || p != 1 {
		t.Errorf("one block: %+v, p = %g", ratio, p)
	}
	var base, level []times
	for _, shift := range []float64{0, 0, 0, math.Log(10)} {
		b := requests(random, 5000, shift, 0)
		l := times{n: b.n, total: b.total}
		for _, step := range b.steps {
			l.steps = append(l.steps, step+half) // a power of two
		}
		base, level = append(base, b), append(level, l)
	}
	if ratio, p := pairedPercentiles(of99(base...), of99(level...), 0.95); math.Abs(ratio.Low-2) > 1e-3 ||
		math.Abs(ratio.High-2) > 1e-3 || p > 1e-9 {
		t.Errorf("twice as long in every block: %+v, p = %g", ratio, p)
	}
}

// TestOfFewer: p99 of few requests lies where it is said to, as often as it is said, also
// where rare ones take ten times as long.
func TestOfFewer(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, slow := range []float64{0, 0.012} {
		all := requests(random, 100_000, 0, slow)
		for _, few := range []int{250, 1000, 4000} {
			const rounds = 400
			low, high := all.ofFewer(0.99, int64(few), 0.95)
			inside := 0
			for range rounds {
				if ratio := requests(random, few, 0, slow).at(0.99, times{}) / all.at(0.99, times{}); low <= ratio &&
					ratio <= high {
					inside++
				}
			}
			if share := float64(inside) / rounds; math.Abs(share-0.95) > 4*math.Sqrt(0.95*0.05/rounds) {
				t.Errorf("%d of %g slow ones: %.1f %% between %.3f and %.3f, 95 %% promised", few, slow,
					100*share, low, high)
			}
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	h := NewHistogram()
	for range 5000 {
		Record(h, int64(1e6*math.Exp(0.3*random.NormFloat64())))
	}
	d, _ := Distribution(h)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := decode(d); err != nil {
			b.Fatal(err)
		}
	}
}

// TestTooFewForAVerdict: a percentile of too few requests in a trial gets no verdict,
// however clear it is; one of enough has it.
func TestTooFewForAVerdict(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	sides := func(n, on int) (base, level Side) {
		var b, l []times
		for range 6 {
			b, l = append(b, requests(random, n, 0, 0)), append(l, requests(random, on, 1, 0))
		}
		return of99(b...), of99(l...)
	}
	for _, test := range []struct {
		n, on         int
		verdict, want string
	}{
		{200, 200, record.Inconclusive, "latency p99 of 200 requests is the 3rd slowest: p99 needs 1,000"},
		{5000, 999, record.Inconclusive, "latency p99 of 999 requests is the 11th slowest: p99 needs 1,000"},
		{1000, 1000, record.Worsens, ""}, {1000, 2000, record.Worsens, ""},
		{1000, 5000, record.Worsens, "30,000 requests against 6,000"},
	} {
		base, level := sides(test.n, test.on)
		for name, c := range map[string]estimators{"paired": paired, "unpaired": unpaired} {
			got := c.judge(base, level, metric.LatencyP99, 0.95, 0.02, names{"the baseline", "block"})
			if got.Verdict != test.verdict || got.Why != test.want || (got.P < 1) != (test.verdict == record.Worsens) {
				t.Errorf("%s, %d against %d: %+v, want %s, %q", name, test.n, test.on, got, test.verdict, test.want)
			}
		}
	}
}

// TestUneven: where both sides are alike, but one has an eighth of the requests, its p99
// is lower by chance more often than its interval says. That makes no direction.
func TestUneven(t *testing.T) {
	const rounds = 150
	random := rand.New(rand.NewPCG(8, 9))
	directions, raw := 0, 0
	for range rounds {
		var b, l []times
		for range 4 {
			b, l = append(b, requests(random, 1000, 0, 0.012)), append(l, requests(random, 8000, 0, 0.012))
		}
		base, level := of99(b...), of99(l...)
		if in, _ := pairedPercentiles(base, level, 0.95); in.Low > 1 || in.High < 1 {
			raw++
		}
		if got := paired.judge(base, level, metric.LatencyP99, 0.95, 0.02,
			names{"the baseline", "block"}); got.Verdict == record.Worsens || got.Verdict == record.Improves {
			directions++
		}
	}
	t.Logf("directions in %.1f %%, and in %.1f %% if the numbers were left out of account",
		100*float64(directions)/rounds, 100*float64(raw)/rounds)
	if share := float64(directions) / rounds; share > 0.05+3*math.Sqrt(0.05*0.95/rounds) || raw == 0 {
		t.Errorf("a direction in %.1f %% of comparisons of equal sides (%d)", 100*share, raw)
	}
}
