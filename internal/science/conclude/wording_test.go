package conclude

import (
	"strings"
	"testing"

	"linerate/internal/model/record"
)

// made builds a run of treatments over levels with given goodputs per block.
func made(unit string, limit float64, conditions []string, levels []string, goodput func(c, l string, block int) float64, blocks int) *record.Run {
	run := &record.Run{Unit: unit, Status: "complete", Margin: 0.02, Confidence: 0.95}
	if len(conditions) > 1 {
		f := record.Factor{Name: "c", Role: "condition"}
		for _, c := range conditions {
			f.Levels = append(f.Levels, record.Level{Name: c})
		}
		run.Factors = append(run.Factors, f)
	}
	if len(levels) > 0 {
		f := record.Factor{Name: "l", Role: "compare", Baseline: levels[0]}
		for i, l := range levels {
			f.Levels = append(f.Levels, record.Level{Name: l, Settings: i, SettingLines: []string{"x: " + l}})
		}
		run.Factors = append(run.Factors, f)
	}
	one := levels
	if len(one) == 0 {
		one = []string{""}
	}
	for b := 1; b <= blocks; b++ {
		for _, c := range conditions {
			for _, l := range one {
				lv := map[string]string{}
				if len(conditions) > 1 {
					lv["c"] = c
				}
				if l != "" {
					lv["l"] = l
				}
				run.Trials = append(run.Trials, record.Trial{Treatment: c + "," + l, Levels: lv, Block: b, Order: len(run.Trials) + 1, WindowS: 1,
					GoodputBps: goodput(c, l, b), LimitBps: limit, Flows: []record.Flow{{Connected: true, Alive: true}}})
			}
		}
	}
	return run
}

// What people read in the cases that are not the first study's.
func TestWording(t *testing.T) {
	steady := func(v float64) func(c, l string, b int) float64 {
		return func(_, _ string, b int) float64 { return v * (1 + 0.0005*float64(b%3)) }
	}
	levels := func(c, l string, b int) float64 {
		v := map[string]float64{"a": 100e6, "b": 300e6, "c": 500e6}[l]
		if c == "reads" {
			v *= 1.5
		}
		return v * (1 + 0.001*float64(b%3))
	}
	reach := func(_, l string, b int) float64 {
		if l == "a" {
			return 300e6
		}
		return 955e6 + float64(b)*1e5
	}
	one, both := []string{""}, []string{"writes", "reads"}
	abc := []string{"a", "b", "c"}
	wayless := made("bit/s", 0, one, nil, steady(940e6), 4)
	raised := made("bit/s", 956e6, one, []string{"a", "b"}, func(_, l string, b int) float64 {
		return map[string]float64{"a": 950e6, "b": 985e6}[l] + float64(b)*1e5
	}, 4)
	for i := range wayless.Trials {
		wayless.Trials[i].LimitWhy = "unknown: flow f1: no path from a to 10.0.0.2"
	}
	for i := range raised.Trials {
		if raised.Trials[i].Levels["l"] == "b" {
			raised.Trials[i].LimitBps = 991e6
		}
	}
	lowered := made("bit/s", 956e6, one, []string{"a", "b"}, func(_, l string, _ int) float64 { return map[string]float64{"a": 300e6, "b": 95e6}[l] }, 4)
	for i := range lowered.Trials {
		if lowered.Trials[i].Levels["l"] == "b" {
			lowered.Trials[i].LimitBps = 95.6e6
		}
	}
	for _, test := range []struct {
		name string
		run  *record.Run
		want string
	}{
		{"one treatment, one trial", made("bit/s", 956e6, one, nil, steady(940e6), 1), "Goodput is 940.5 Mbit/s, 98.38 % of the limit of the path."},
		{"one treatment", made("bit/s", 956e6, one, nil, steady(940e6), 4), "Goodput is 940.5 Mbit/s (939.9–941.1), 98.38 % of the limit of the path."},
		{"no rates", made("bit/s", 0, one, nil, steady(940e6), 4), "Goodput is 940.5 Mbit/s (939.9–941.1); no link of the path has a rate, so its limit is unknown."},
		{"no way", wayless, "Goodput is 940.5 Mbit/s (939.9–941.1); its limit is unknown: flow f1: no path from a to 10.0.0.2."},
		{"two conditions", made("bit/s", 956e6, both, nil, func(c, _ string, b int) float64 {
			return map[string]float64{"writes": 940e6, "reads": 400e6}[c]
		}, 4), "Goodput of writes is 940.0 Mbit/s, 98.33 % of the limit of the path; that of reads is 400.0 Mbit/s, 41.84 %."},
		{"two conditions, three levels", made("bit/s", 956e6, both, abc, levels, 4),
			"With a writes and reads reach 100.1 and 150.2 of 956.0 Mbit/s. Writes and reads gain most from c, 500.5 and 750.8 of 956.0 Mbit/s (5.00×), still short of the limit."},
		{"three levels", made("bit/s", 956e6, one, abc, levels, 4),
			"With a the flows reach 100.1 of 956.0 Mbit/s. The flows gain most from c, 500.5 of 956.0 Mbit/s (5.00×), still short of the limit."},
		{"three levels, no rates", made("bit/s", 0, one, abc, levels, 4), "With a the flows reach 100.1 Mbit/s. The flows gain most from c: 500.5 Mbit/s (5.00×)."},
		{"no improvement", made("bit/s", 956e6, one, abc, steady(300e6), 4),
			"With a the flows reach 300.1 of 956.0 Mbit/s. The flows gain nothing from b or c: no difference beyond ±2 %."},
		{"only worse", made("bit/s", 956e6, one, []string{"c", "b"}, levels, 4),
			"With c the flows reach 500.5 of 956.0 Mbit/s. The flows do best as they are, and fall behind with b."},
		{"same and worse", made("bit/s", 956e6, one, []string{"b", "a", "x"}, func(c, l string, b int) float64 {
			return levels(c, strings.Replace(l, "x", "b", 1), b)
		}, 4), "With b the flows reach 300.3 of 956.0 Mbit/s. The flows gain nothing from x, and fall behind with a."},
		{"one block", made("bit/s", 956e6, one, abc, levels, 1),
			"With a the flows reach 100.1 of 956.0 Mbit/s. The flows are not surely improved by anything that was tried: c comes to 500.5 of 956.0 Mbit/s (5.00×), inconclusive: a single block, the interval is unknown."},
		{"scattered", made("bit/s", 956e6, one, []string{"a", "b"}, func(_, l string, b int) float64 {
			return map[string][]float64{"a": {300e6, 350e6, 290e6, 400e6}, "b": {500e6, 300e6, 280e6, 600e6}}[l][b-1]
		}, 4), "With a the flows reach 335.0 of 956.0 Mbit/s. The flows are not surely improved by anything that was tried: b comes to 420.0 of 956.0 Mbit/s (1.20×, 0.71–2.01)."},
		{"nothing at all", made("bit/s", 956e6, one, []string{"a", "b"}, steady(0), 4), "With a the flows carry nothing. The flows carry nothing with anything that was tried."},
		{"many fixes", made("bit/s", 956e6, one, []string{"a", "b", "c", "d", "e", "f"}, reach, 4),
			"With a the flows reach 300.0 of 956.0 Mbit/s. The flows reach the limit with b (3.18×, 3.18–3.19), c (3.18×, 3.18–3.19), d (3.18×, 3.18–3.19) or two others."},
		{"a lower limit that is reached", lowered, "With a the flows reach 300.0 of 956.0 Mbit/s. The flows do best as they are, and fall behind with b."},
		{"the limit itself rises", raised, "With a the flows reach 950.2 of 956.0 Mbit/s. The flows are at the limit as they are, which b raises: 985.2 of 991.0 Mbit/s (1.04×)."},
	} {
		Conclude(test.run)
		if test.run.Answer != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, test.run.Answer, test.want)
		}
		if n := strings.Count(test.run.Answer, ". ") + 1; n > 3 {
			t.Errorf("%s: %d sentences", test.name, n)
		}
	}
}

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

// A combination that nobody compared with the baseline is recommended when it
// alone reaches the limit.
func TestRecommendSeveral(t *testing.T) {
	run := made("bit/s", 956e6, []string{""}, []string{"plain", "x"}, func(_, _ string, _ int) float64 { return 0 }, 0)
	run.Factors = append(run.Factors, record.Factor{Name: "m", Role: "compare", Baseline: "slow", Levels: []record.Level{{Name: "slow"}, {Name: "y"}}})
	for b := 1; b <= 4; b++ {
		for i, l := range []string{"plain", "x"} {
			for j, m := range []string{"slow", "y"} {
				goodput := []float64{3e8, 3e8, 2.9e8, 9.55e8}[2*i+j] + float64(b)*1e5
				run.Trials = append(run.Trials, record.Trial{Treatment: l + " " + m, Levels: map[string]string{"l": l, "m": m}, Block: b, Order: len(run.Trials) + 1,
					WindowS: 1, GoodputBps: goodput, LimitBps: 956e6, Flows: []record.Flow{{Connected: true, Alive: true}}})
			}
		}
	}
	Conclude(run)
	const want = "With plain and slow the flows reach 300.2 of 956.0 Mbit/s. The flows reach the limit only with x with y (3.18×, 3.179–3.184)."
	if best(run) != "x y" || run.Answer != want {
		t.Errorf("best %q, answer %q, want %q", best(run), run.Answer, want)
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
		{"the most", made("", 956e6, one, []string{"a", "b", "c"}, goodputs(map[string]float64{"a": 1e8, "b": 3e8, "c": 5e8}), 4), ",c"},
		{"the fewest settings of what is as good", made("", 956e6, one, []string{"a", "b", "c"}, goodputs(map[string]float64{"a": 1e8, "b": 4.97e8, "c": 5e8}), 4), ",b"},
		{"but at the limit rather than close to it", made("", 956e6, one, []string{"a", "b", "c"}, goodputs(map[string]float64{"a": 1e8, "b": 9.36e8, "c": 9.5e8}), 4), ",c"},
		{"in every condition", made("", 956e6, both, []string{"a", "b", "c"}, goodputs(map[string]float64{"wa": 1e8, "ra": 1e8, "wb": 9e8, "rb": 1e8, "wc": 9e8, "rc": 9e8}), 4), "w,c; r,c"},
		{"nothing that worsens anything", made("", 956e6, both, []string{"a", "b", "c"}, goodputs(map[string]float64{"wa": 1e8, "ra": 5e8, "wb": 9e8, "rb": 4e8, "wc": 2e8, "rc": 5e8}), 4), "w,c; r,c"},
		{"nothing that is not shown", made("", 956e6, one, []string{"a", "b"}, goodputs(map[string]float64{"a": 5e8, "b": 5e8}), 4), ""},
		{"nothing from a single block", made("", 956e6, one, []string{"a", "b"}, goodputs(map[string]float64{"a": 1e8, "b": 5e8}), 1), ""},
		{"nothing where nothing is compared", made("", 956e6, both, nil, goodputs(map[string]float64{"w": 1e8, "r": 5e8}), 4), ""},
	} {
		Conclude(test.run)
		if got := best(test.run); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
		if label := strings.TrimPrefix(strings.Split(test.want, ";")[0], "w"); label != "" && !strings.Contains(test.run.Answer, " "+label[1:]) {
			t.Errorf("%s: %s is recommended, the answer says %q", test.name, label, test.run.Answer)
		}
		Conclude(test.run)
		if got := best(test.run); got != test.want {
			t.Errorf("%s: %q when concluded again", test.name, got)
		}
	}
}

// A level that takes the rate from a link makes things fast, and repairs nothing.
func TestLiftedLimit(t *testing.T) {
	lift := func(levels []string, base float64) *record.Run {
		run := made("bit/s", 47.82e6, []string{""}, levels, func(_, l string, b int) float64 {
			return map[string]float64{"lab": base, "pfifo": 50e9, "fix": 47.8e6}[l] + float64(b)
		}, 3)
		for i := range run.Trials {
			if run.Trials[i].Levels["l"] == "pfifo" {
				run.Trials[i].LimitBps = 0
			}
		}
		Conclude(run)
		return run
	}
	alone := lift([]string{"lab", "pfifo"}, 47.82e6)
	if !strings.HasSuffix(alone.Answer, "The flows are at the limit as they are, and pfifo takes the rate from their link, so that 50.00 Gbit/s is no gain.") {
		t.Error(alone.Answer)
	}
	if why := alone.Effects[0].Why; !strings.Contains(why, "takes the link's rate away") {
		t.Errorf("why: %q", why)
	}
	both := lift([]string{"lab", "pfifo", "fix"}, 10e6)
	if !strings.Contains(both.Answer, "The flows reach the limit with fix (4.78×), and pfifo takes the rate from their link, so that 50.00 Gbit/s is no gain.") {
		t.Error(both.Answer)
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
	run := made("bit/s", 47.82e6, []string{""}, []string{"noroute", "route"}, func(_, l string, b int) float64 {
		return map[string]float64{"route": 47.8e6}[l]
	}, 2)
	Conclude(run)
	if want := "With noroute the flows carry nothing. The flows reach the limit with route."; run.Answer != want {
		t.Errorf("%q, want %q", run.Answer, want)
	}
	if e := run.Effects[0]; e.Verdict != record.Improves || !e.Ratio.None || !strings.Contains(e.Why, "this level 47.8 Mbit/s") {
		t.Errorf("%+v", e)
	}
}

// TestOnly: one way is the only one where the others surely fall short, not where an
// interval leaves it open.
func TestOnly(t *testing.T) {
	for scatter, want := range map[float64]string{0.0005: "reach the limit only with x (", 0.04: "reach the limit with x ("} {
		run := made("bit/s", 956e6, []string{""}, []string{"plain", "x", "y"}, func(_, l string, b int) float64 {
			own := 0.0005
			if l == "y" {
				own = scatter
			}
			return map[string]float64{"plain": 3e8, "x": 955e6, "y": 915e6}[l] * (1 + own*float64(b%3-1))
		}, 4)
		Conclude(run)
		if !strings.Contains(run.Answer, want) {
			t.Errorf("y scatters by %g: %q, want %q", scatter, run.Answer, want)
		}
	}
}
