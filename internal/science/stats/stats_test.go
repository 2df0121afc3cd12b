package stats

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/flow"
	"linerate/internal/model/record"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > tolerance {
		t.Errorf("%s: got %.6g, want %.6g", what, got, want)
	}
}

// 10, 12, 11, 13: mean 11.5, sd 1.2910, t(0.975, 3) = 3.1824.
func TestMean(t *testing.T) {
	got := Mean([]float64{10, 12, 11, 13}, 0.95)
	near(t, "mean", got.Mean, 11.5, 1e-12)
	near(t, "low", got.Low, 11.5-3.182446*1.290994/2, 1e-5)
	near(t, "high", got.High, 11.5+3.182446*1.290994/2, 1e-5)
	if one := Mean([]float64{5}, 0.95); one.Known || one.Mean != 5 || one.High != 0 {
		t.Errorf("one value has an interval: %+v", one)
	}
	if none := Mean(nil, 0.95); none != (Interval{}) {
		t.Errorf("no value: %+v", none)
	}
	if same := Mean([]float64{5, 5, 5}, 0.95); !same.Known || same.Low != 5 || same.High != 5 {
		t.Errorf("equal values: %+v", same)
	}
}

func TestHolm(t *testing.T) {
	got := Holm([]float64{0.01, 0.04, 0.03, 0.005})
	for i, want := range []float64{0.03, 0.06, 0.06, 0.02} { // Holm 1979, by hand
		near(t, "p", got[i], want, 1e-12)
	}
	if len(Holm(nil)) != 0 {
		t.Error("no p-values made some")
	}
	near(t, "capped at one", Holm([]float64{0.9, 0.8})[0], 1, 0)
}

func TestSidak(t *testing.T) {
	near(t, "one", Sidak(0.95, 1), 0.95, 0)
	near(t, "twelve", Sidak(0.95, 12), 0.995735, 1e-6)
}

// sides are the paired values of a comparison.
func sides(pairs ...[2]float64) (base, level Side) {
	for _, pair := range pairs {
		base.Values, level.Values = append(base.Values, pair[0]), append(level.Values, pair[1])
	}
	return base, level
}

func TestRatio(t *testing.T) {
	ratioOf := func(pairs ...[2]float64) (Interval, float64) {
		base, level := sides(pairs...)
		return paired.ratio(base, level, 0.95)
	}
	// Log-ratios ln 2, ln 2, ln 2.2, ln 1.8.
	ratio, p := ratioOf([2]float64{1, 2}, [2]float64{2, 4}, [2]float64{1, 2.2}, [2]float64{10, 18})
	logs := []float64{math.Log(2), math.Log(2), math.Log(2.2), math.Log(1.8)}
	mean := (logs[0] + logs[1] + logs[2] + logs[3]) / 4
	var ss float64
	for _, l := range logs {
		ss += (l - mean) * (l - mean)
	}
	half := 3.182446 * math.Sqrt(ss/3) / 2
	near(t, "mean", ratio.Mean, math.Exp(mean), 1e-9)
	near(t, "low", ratio.Low, math.Exp(mean-half), 1e-5)
	near(t, "high", ratio.High, math.Exp(mean+half), 1e-5)
	if p > 0.001 {
		t.Errorf("p %g", p)
	}
	zero, p := ratioOf([2]float64{5, 0}, [2]float64{5, 0})
	if !zero.Known || zero.Mean != 0 || zero.High != 0 || p != 0 {
		t.Errorf("a level that carries nothing: %+v, p %g", zero, p)
	}
	some, _ := ratioOf([2]float64{5, 0}, [2]float64{5, 5}, [2]float64{5, 2})
	near(t, "plain mean", some.Mean, 1.4/3, 1e-12)
	if some.Low != 0 || some.Half <= (some.High-some.Low)/2 {
		t.Errorf("bounded by zero, and as narrow as that looks: %+v", some)
	}
	wild, _ := ratioOf([2]float64{1, 1e-9}, [2]float64{1, 1e9})
	if _, err := json.Marshal(wild); err != nil {
		t.Errorf("an interval that JSON cannot hold: %+v", wild)
	}
}

// TestDeadBaseline: where a baseline carried nothing there is no ratio, least of all one of
// the trials that were alive. Differences tell them apart, and are narrow at last.
func TestDeadBaseline(t *testing.T) {
	run := func(blocks int) record.Effect {
		var trials []record.Trial
		for block := 1; block <= blocks; block++ {
			dead := trial(block, 0, "f", "off")
			if block%3 > 0 {
				dead = trial(block, 50+0.1*float64(block%5), "f", "off")
			}
			trials = append(trials, dead, trial(block, 100+0.1*float64(block%4), "f", "on"))
		}
		return levelEffects([]record.Factor{
			{Name: "f", Baseline: "off", Levels: []record.Level{{Name: "off"}, {Name: "on"}}}}, trials)[0]
	}
	e := run(12)
	if !e.Ratio.None || e.Difference == nil || e.Verdict != record.Improves ||
		e.Why != "the baseline is zero in 4 of 12 blocks: there is no ratio, only a difference" {
		t.Fatalf("%+v, %+v", e, e.Difference)
	}
	near(t, "difference", e.Difference.Mean, 66.7083, 1e-3)
	means := []record.Treatment{{Goodput: record.Estimate{MeanBps: 100}, Trials: 12}}
	if Narrow(&e, means, 0.02) {
		t.Errorf("±%g of 100 is narrow", e.Difference.Half)
	}
	if e = run(4000); !Narrow(&e, means, 0.02) {
		t.Errorf("±%g of 100 is not narrow", e.Difference.Half)
	}
	if e = run(3); e.Verdict != record.Inconclusive || e.Why != "a verdict takes 4 blocks, and there are 3" {
		t.Errorf("%+v", e)
	}
}

// TestShare: intervals that are in tables; and what happened in part counts in part.
func TestShare(t *testing.T) {
	for _, c := range []struct {
		k, n      int
		low, high float64
	}{{0, 10, 0, 0.3085}, {5, 10, 0.1871, 0.8129}, {10, 10, 0.6915, 1}, {5, 20, 0.0866, 0.4910}} {
		if low, high := Share(float64(c.k), c.n, 0.95); math.Abs(low-c.low) > 1e-4 || math.Abs(high-c.high) > 1e-4 {
			t.Errorf("%d of %d: %.4f to %.4f, want %.4f to %.4f", c.k, c.n, low, high, c.low, c.high)
		}
	}
	before := 0.0
	for k := 0.0; k <= 4; k += 0.25 {
		low, high := Share(k, 4, 0.95)
		if low > k/4 || high < k/4 || low < before {
			t.Errorf("%g of 4: %g to %g", k, low, high)
		}
		before = low
	}
	if m := Missed(4, 0.95); math.Abs(m-0.5271) > 1e-4 || Missed(0, 0.95) != 1 {
		t.Errorf("4 trials can miss what hits %.4f of them", m)
	}
}

func TestVerdict(t *testing.T) {
	for _, test := range []struct {
		low, high float64
		want      string
	}{
		{0.99, 1.01, record.NoDifference},
		{1.005, 1.015, record.NoDifference}, // surely more, but not enough to matter
		{1.01, 1.05, record.Improves},
		{3.98, 4.01, record.Improves},
		{0.24, 0.26, record.Worsens},
		{0.97, 1.01, record.Inconclusive},
		{0.5, 9, record.Inconclusive},
	} {
		if got := verdict(Interval{Mean: 1, Low: test.low, High: test.high, N: 4, Known: true}, 1,
			0.02); got != test.want {
			t.Errorf("%g–%g: %s, want %s", test.low, test.high, got, test.want)
		}
	}
	if got := verdict(Interval{Mean: 4, N: 1}, 1, 0.02); got != record.Inconclusive {
		t.Errorf("one block: %s", got)
	}
}

func trial(block int, bps float64, levels ...string) record.Trial {
	t := record.Trial{Block: block, GoodputBps: bps, Levels: map[string]string{}}
	for i := 0; i < len(levels); i += 2 {
		t.Levels[levels[i]] = levels[i+1]
	}
	return t
}

func TestEffects(t *testing.T) {
	factors := []record.Factor{
		{Name: "direction", Role: "condition", Baseline: "writes", Levels: []record.Level{{Name: "writes"},
			{Name: "reads"}}},
		{Name: "fix", Role: "compare", Baseline: "off", Levels: []record.Level{{Name: "off"}, {Name: "on"},
			{Name: "late"}}},
	}
	var trials []record.Trial
	for block := 1; block <= 4; block++ {
		jitter := 1 + float64(block)/1000
		for _, d := range []string{"writes", "reads"} {
			trials = append(trials, trial(block, 100*jitter, "direction", d, "fix", "off"))
			trials = append(trials, trial(block, 400*jitter*jitter, "direction", d, "fix", "on"))
		}
	}
	trials = append(trials, trial(1, 100.1, "direction", "reads", "fix", "late")) // stopped early

	effects := levelEffects(factors, trials)
	if len(effects) != 4 {
		t.Fatalf("%d effects, want 4: %+v", len(effects), effects)
	}
	for _, e := range effects {
		if e.To == "on" {
			if e.Verdict != record.Improves || e.Blocks != 4 || e.P > 0.001 {
				t.Errorf("on: %+v", e)
			}
			near(t, "ratio", e.Ratio.Mean, 4.01, 0.001)
			continue
		}
		if e.Verdict != record.Inconclusive || e.Why == "" || e.Ratio.High != 0 {
			t.Errorf("late at %v has at most one block, but: %+v", e.At, e)
		}
	}
	if effects[0].At["direction"] != "writes" || effects[2].At["direction"] != "reads" {
		t.Errorf("conditions are mixed up: %+v", effects)
	}
	if Narrow(&effects[1], nil, 0.5) {
		t.Error("a single block is narrow")
	}
	if on := &effects[0]; !Narrow(on, nil, 0.02) || Narrow(on, nil, 0.0001) {
		t.Errorf("narrowness of %+v", on)
	}
}

// A treatment that differs from the baseline in several factors is compared with it as
// a whole, in every response, and counts in the family; one with a level that is
// compared with something else is not.
func TestSeveralFactors(t *testing.T) {
	run := record.Run{Confidence: 0.95, Margin: 0.02, Responses: []string{"goodput", "transactions"},
		Factors: []record.Factor{
			{Name: "direction", Role: "condition", Baseline: "writes", Levels: []record.Level{{Name: "writes"},
				{Name: "reads"}}},
			{Name: "buffer", Baseline: "small", Levels: []record.Level{{Name: "small"}, {Name: "large"},
				{Name: "large but", Against: "large"}}},
			{Name: "control", Baseline: "cubic", Levels: []record.Level{{Name: "cubic"}, {Name: "bbr"}}},
		}}
	for block := 1; block <= 4; block++ {
		weather := 1 + 0.2*float64(block%3) // shared by the block
		for _, d := range []string{"writes", "reads"} {
			for buffer, gain := range map[string]float64{"small": 1, "large": 2, "large but": 2} {
				for control, more := range map[string]float64{"cubic": 1, "bbr": 3} {
					tr := trial(block, 100*gain*more*weather*(1+0.001*float64(block)), "direction", d, "buffer", buffer,
						"control", control)
					tr.Treatment, tr.TransactionsPerS = d+" "+buffer+" "+control, 100/gain/more
					tr.Flows = []record.Flow{{Protocol: flow.RR}}
					run.Trials = append(run.Trials, tr)
				}
			}
		}
	}
	levels, treatments := Of(&run).Effects()
	if len(treatments) != 2 {
		t.Fatalf("%d treatments differ in several factors: %+v", len(treatments), treatments)
	}
	for _, e := range treatments {
		d := e.At["direction"]
		if len(e.At) != 1 || e.From != d+" small cubic" || e.To != d+" large bbr" || e.Factor != "" ||
			e.Verdict != record.Improves || e.Blocks != 4 ||
			len(e.Beside) != 1 || e.Beside[0].Verdict != record.Worsens {
			t.Errorf("%+v", e)
		}
		near(t, "ratio", e.Ratio.Mean, 6, 1e-9)
	}
	alone := run
	alone.Factors = run.Factors[:2]
	alone.Trials = slices.DeleteFunc(slices.Clone(run.Trials), func(t record.Trial) bool {
		return t.Levels["control"] == "bbr"
	})
	few, _ := Of(&alone).Effects()
	base, level := sides([2]float64{1, 2}, [2]float64{1, 2.1}, [2]float64{1, 2.2}, [2]float64{1, 1.9})
	family, _ := paired.ratio(base, level, Sidak(0.95, len(levels)+len(treatments)))
	own, _ := paired.ratio(base, level, Sidak(0.95, len(few)))
	if family.High <= own.High {
		t.Errorf("%d comparisons are no wider than %d", len(levels)+len(treatments), len(few))
	}
}

// A level that is against another one is compared with that one, not with the
// baseline, and counts once in the correction.
func TestAgainst(t *testing.T) {
	factors := []record.Factor{{Name: "settings", Baseline: "none", Levels: []record.Level{
		{Name: "none"}, {Name: "all"}, {Name: "all but one", Against: "all"},
	}}}
	var trials []record.Trial
	for block := 1; block <= 4; block++ {
		jitter := 1 + float64(block)/1000
		trials = append(trials, trial(block, 100, "settings", "none"), trial(block, 400*jitter, "settings", "all"),
			trial(block, 200*jitter, "settings", "all but one"))
	}
	effects := levelEffects(factors, trials)
	if len(effects) != 2 || effects[1].From != "all" || effects[1].To != "all but one" ||
		effects[1].Verdict != record.Worsens {
		t.Fatalf("%+v", effects)
	}
	near(t, "ratio", effects[1].Ratio.Mean, 0.5, 1e-9)
	near(t, "ratio of the whole", effects[0].Ratio.Mean, 4.01, 0.001)
}

// Over a baseline that carries nothing there is no ratio; a level that always
// carries something worth it improves all the same.
func TestOverNothing(t *testing.T) {
	factors := []record.Factor{{Name: "f", Role: "compare", Baseline: "dead", Levels: []record.Level{
		{Name: "dead"}, {Name: "alive"}, {Name: "dead too"}, {Name: "faint"}, {Name: "once"}}}}
	var trials []record.Trial
	for block := 1; block <= 4; block++ {
		for level, bps := range map[string]float64{"dead": 0, "alive": 47.81e6, "dead too": 0, "faint": 1e5} {
			tr := trial(block, bps, "f", level)
			tr.LimitBps = 50e6
			trials = append(trials, tr)
		}
	}
	trials = append(trials, trial(1, 47e6, "f", "once"))
	want := []struct{ verdict, why string }{
		{record.Improves, "the baseline is zero in every block: there is no ratio, only a difference"},
		{record.NoDifference, "both are zero in every block"},
		// of less than the margin of the limit
		{record.NoDifference, "the baseline is zero in every block: there is no ratio, only a difference"},
		{record.Inconclusive, "a verdict takes 4 blocks, and there is 1"},
	}
	effects := levelEffects(factors, trials)
	for i, e := range effects {
		if !e.Ratio.None || e.Verdict != want[i].verdict || e.Why != want[i].why {
			t.Errorf("%+v, want %+v", e, want[i])
		}
		text, err := json.Marshal(e)
		var back record.Effect
		if err != nil || !strings.Contains(string(text), `"ratio":null`) || json.Unmarshal(text, &back) != nil ||
			back.Ratio != e.Ratio {
			t.Errorf("%s came back as %+v (%v)", text, back.Ratio, err)
		}
	}
	if effects[0].P != 0 || effects[0].Blocks != 4 {
		t.Errorf("%+v", effects[0])
	}
	if !Narrow(&effects[0], nil, 0.02) {
		t.Error("more blocks would not make it narrower")
	}
}

// The intervals hold what they promise: over 2000 runs of 4 blocks each, the
// truth lies inside at least as often as stated, less what chance allows
// (0.95 − 4·√(0.95·0.05/2000) = 0.93).
func TestCoverage(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const runs, blocks, truth = 2000, 4, 1.5
	hits, jointly := 0, 0
	for range runs {
		all := true
		for effect := range 3 {
			var pairs [][2]float64
			for range blocks {
				weather := math.Exp(0.3 * random.NormFloat64()) // shared by the block
				pairs = append(pairs, [2]float64{
					100 * weather * math.Exp(0.02*random.NormFloat64()),
					100 * truth * weather * math.Exp(0.05*random.NormFloat64()),
				})
			}
			base, level := sides(pairs...)
			if effect == 0 {
				if r, _ := paired.ratio(base, level, 0.95); r.Low <= truth && truth <= r.High {
					hits++
				}
			}
			r, _ := paired.ratio(base, level, Sidak(0.95, 3))
			all = all && r.Low <= truth && truth <= r.High
		}
		if all {
			jointly++
		}
	}
	for name, n := range map[string]int{"single": hits, "jointly": jointly} {
		if rate := float64(n) / runs; rate < 0.93 || rate > 0.97 {
			t.Errorf("%s: the truth is inside %.1f %% of the intervals, 95 %% promised", name, 100*rate)
		}
	}
}
