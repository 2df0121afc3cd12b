package conclude

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/science/sciencetest"
)

// best names what is recommended.
func best(run *record.Run) string {
	var names []string
	for _, t := range run.Treatments {
		if t.Best {
			names = append(names, t.Name)
		}
	}
	return strings.Join(names, "; ")
}

// A combination of several factors is compared with the baseline as a whole, and is
// recommended when it alone improves.
func TestRecommendSeveral(t *testing.T) {
	run := sciencetest.Levels("bit/s", 956e6, []string{""}, []string{"plain", "x"}, func(_, _ string, _ int) float64 {
		return 0
	}, 0)
	run.Factors = append(run.Factors, record.Factor{Name: "m", Role: "compare", Baseline: "slow",
		Levels: []record.Level{{Name: "slow"}, {Name: "y"}}})
	for b := 1; b <= 4; b++ {
		for i, l := range []string{"plain", "x"} {
			for j, m := range []string{"slow", "y"} {
				goodput := []float64{3e8, 3e8, 2.9e8, 9.55e8}[2*i+j] + float64(b)*1e5
				run.Trials = append(run.Trials, record.Trial{Treatment: l + " " + m,
					Levels: map[string]string{"l": l, "m": m}, Block: b, Order: len(run.Trials) + 1,
					WindowS: 1, GoodputBps: goodput, LimitBps: 956e6,
					Flows: []record.Flow{{Connected: true, Alive: true, GoodputBps: goodput}}})
			}
		}
	}
	Conclude(run)
	e := run.Treatments[3].Effect
	if best(run) != "x y" || e == nil || e.Verdict != record.Improves || e.From != "plain slow" {
		t.Errorf("best %q, effect %+v", best(run), e)
	}
	if c := run.Conclusion.Conditions[0].Candidates[2]; !c.Fix || c.Label != "x + y" {
		t.Errorf("%+v", c)
	}
}

// One combination is recommended, the same in every condition, and the answer
// names it.
func TestRecommend(t *testing.T) {
	goodputs := func(of map[string]float64) func(c, l string, b int) float64 {
		return func(c, l string, b int) float64 { return of[c+l] * (1 + 0.0002*float64(b%3)) }
	}
	one, both := []string{""}, []string{"w", "r"}
	for _, test := range []struct {
		name string
		run  *record.Run
		want string
	}{
		{"the most", sciencetest.Levels("", 956e6, one, []string{"a", "b", "c"},
			goodputs(map[string]float64{"a": 1e8, "b": 3e8, "c": 5e8}), 4), "c"},
		{"the fewest settings of what is as good", sciencetest.Levels("", 956e6, one, []string{"a", "b", "c"},
			goodputs(map[string]float64{"a": 1e8, "b": 4.97e8, "c": 5e8}), 4), "b"},
		{"but at the limit rather than close to it", sciencetest.Levels("", 956e6, one, []string{"a", "b", "c"},
			goodputs(map[string]float64{"a": 1e8, "b": 9.36e8, "c": 9.5e8}), 4), "c"},
		{"in every condition", sciencetest.Levels("", 956e6, both, []string{"a", "b", "c"},
			goodputs(map[string]float64{"wa": 1e8, "ra": 1e8, "wb": 9e8, "rb": 1e8, "wc": 9e8, "rc": 9e8}), 4),
			"w, c; r, c"},
		{"nothing that worsens anything", sciencetest.Levels("", 956e6, both, []string{"a", "b", "c"},
			goodputs(map[string]float64{"wa": 1e8, "ra": 5e8, "wb": 9e8, "rb": 4e8, "wc": 2e8, "rc": 5e8}), 4),
			"w, c; r, c"},
		{"nothing that is not shown", sciencetest.Levels("", 956e6, one, []string{"a", "b"},
			goodputs(map[string]float64{"a": 5e8, "b": 5e8}), 4), ""},
		{"nothing from a single block", sciencetest.Levels("", 956e6, one, []string{"a", "b"},
			goodputs(map[string]float64{"a": 1e8, "b": 5e8}), 1), ""},
		{"nothing where nothing is compared", sciencetest.Levels("", 956e6, both, nil,
			goodputs(map[string]float64{"w": 1e8, "r": 5e8}), 4), ""},
	} {
		Conclude(test.run)
		if got := best(test.run); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
		Conclude(test.run)
		if got := best(test.run); got != test.want {
			t.Errorf("%s: %q when concluded again", test.name, got)
		}
	}
}

// TestPreferred: a higher mean is no reason to recommend a treatment; an interval that is
// apart from the other's is, and so is a limit that one reaches and the other misses.
func TestPreferred(t *testing.T) {
	for _, test := range []struct {
		name    string
		b, c    float64 // means of the levels with 1 and 2 settings
		scatter float64 // of the trials of both
		want    string
	}{
		{name: "more, and apart", b: 4e8, c: 5e8, scatter: 0.002, want: "c"},
		{name: "more, as chance has it", b: 4e8, c: 5e8, scatter: 0.2, want: "b"},
		{name: "less than the margin", b: 4.95e8, c: 5e8, scatter: 0.0002, want: "b"},
		{name: "the limit", b: 9.3e8, c: 9.45e8, scatter: 0.002, want: "c"},
		{name: "as chance has it, near the limit", b: 9.3e8, c: 9.4e8, scatter: 0.02, want: "b"},
	} {
		run := sciencetest.Levels("", 956e6, []string{""}, []string{"a", "b", "c"},
			func(_, l string, block int) float64 {
				wave := []float64{-1, 1, 0.5, -0.5}[(block+len(l))%4]
				if l == "c" {
					wave = -wave
				}
				return map[string]float64{"a": 1e8, "b": test.b, "c": test.c}[l] * (1 + test.scatter*wave)
			}, 4)
		if Conclude(run); best(run) != test.want {
			t.Errorf("%s: %q, want %q", test.name, best(run), test.want)
		}
	}
}

// TestTriedEverywhere: what was tried in one of two conditions is not recommended for both.
func TestTriedEverywhere(t *testing.T) {
	run := sciencetest.Levels("", 956e6, []string{"w", "r"}, []string{"a", "b", "c"},
		func(_, l string, block int) float64 {
			return map[string]float64{"a": 1e8, "b": 3e8, "c": 9e8}[l] + float64(block)*1e4
		}, 4)
	run.Design.Partial = true
	run.Trials = slices.DeleteFunc(run.Trials, func(t record.Trial) bool {
		return t.Levels["c"] == "r" && t.Levels["l"] == "c"
	})
	if Conclude(run); best(run) != "w, b; r, b" {
		t.Errorf("%q", best(run))
	}
}

// A level that takes the rate from a link makes things fast, and repairs nothing.
func TestLiftedLimit(t *testing.T) {
	lift := func(levels []string, base float64) *record.Run {
		run := sciencetest.Levels("bit/s", 47.82e6, []string{""}, levels, func(_, l string, b int) float64 {
			return map[string]float64{"lab": base, "pfifo": 50e9, "fix": 47.8e6}[l] + float64(b)
		}, 4)
		for i := range run.Trials {
			if run.Trials[i].Levels["l"] == "pfifo" {
				run.Trials[i].LimitBps = 0
			}
		}
		Conclude(run)
		return run
	}
	alone := lift([]string{"lab", "pfifo"}, 47.82e6)
	if c := alone.Conclusion.Conditions[0]; !c.Baseline.Reaches || !c.Candidates[0].Lifts || c.Candidates[0].Fix {
		t.Errorf("%+v", c)
	}
	if why := alone.Effects[0].Why; !strings.Contains(why, "takes the link's rate away") {
		t.Errorf("why: %q", why)
	}
	both := lift([]string{"lab", "pfifo", "fix"}, 10e6)
	if c := both.Conclusion.Conditions[0]; !c.Candidates[0].Lifts || !c.Candidates[1].Fix {
		t.Errorf("%+v", c)
	}
	for _, run := range []*record.Run{alone, both} {
		for _, tr := range run.Treatments {
			if tr.Best != strings.HasSuffix(tr.Name, "fix") {
				t.Errorf("%s: best %v", tr.Name, tr.Best)
			}
		}
	}
}

// A baseline of nothing has no ratio; the level that carries something is a fix.
func TestDeadBaseline(t *testing.T) {
	run := sciencetest.Levels("bit/s", 47.82e6, []string{""}, []string{"noroute", "route"},
		func(_, l string, b int) float64 {
			return map[string]float64{"route": 47.8e6}[l]
		}, 4)
	Conclude(run)
	if c := run.Conclusion.Conditions[0].Candidates[0]; !c.Fix {
		t.Errorf("%+v", c)
	}
	if e := run.Effects[0]; e.Verdict != record.Improves || !e.Ratio.None || e.Difference == nil ||
		e.Difference.Low != 47.8e6 {
		t.Errorf("%+v", e)
	}
}

// TestClaimNeedsItsVerdict: a single trial at the limit is no fix and does not reach it
// yet, and what an interval leaves open may reach it.
func TestClaimNeedsItsVerdict(t *testing.T) {
	once := sciencetest.Few(1, 0, 3)
	Conclude(once)
	if c := once.Conclusion.Conditions[0].Candidates[0]; c.Reaches || !c.MayReach || c.Fix ||
		c.Effect.Verdict != record.Inconclusive {
		t.Errorf("%+v", c)
	}
	for scatter, open := range map[float64]bool{0.0005: false, 0.04: true} {
		run := sciencetest.Levels("bit/s", 956e6, []string{""}, []string{"plain", "x", "y"},
			func(_, l string, b int) float64 {
				own := 0.0005
				if l == "y" {
					own = scatter
				}
				return map[string]float64{"plain": 3e8, "x": 955e6, "y": 915e6}[l] * (1 + own*float64(b%3-1))
			}, 4)
		Conclude(run)
		if c := run.Conclusion.Conditions[0].Candidates; !c[0].Fix || c[1].Fix || c[1].MayReach != open {
			t.Errorf("y scatters by %g: %+v", scatter, c)
		}
	}
}
