package tuning

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/model/settingfile"
)

// TestBeside: a setting that costs latency does not simply help, however much
// goodput it gives; one that costs latency and gives nothing harms; and what makes
// answers quicker at no cost helps.
func TestBeside(t *testing.T) {
	alone, without := "only net.a", "without net.a"
	for name, test := range map[string]struct {
		alone, removed string // goodput
		latency        map[string]string
		want           string
		keep           bool
		why            string
	}{
		"helps": {up, down, nil, record.Helps, true, "alone-missed"},
		"more and later": {up, down, map[string]string{alone: down}, record.Trades, false,
			"alone-missed; response latency_p99 alone"},
		"later in the list": {up, sameWords, map[string]string{without: up}, record.Trades, false,
			"alone-spare; response latency_p99 without"},
		"more and sooner": {up, down, map[string]string{alone: up}, record.Helps, true,
			"alone-missed; response latency_p99 alone"},
		"as much, later": {sameWords, sameWords, map[string]string{alone: down}, record.Harms, false,
			"response latency_p99 alone"},
		"as much, sooner": {sameWords, sameWords, map[string]string{alone: up, without: down}, record.Helps,
			true, "response latency_p99 alone"},
		"inconclusive, sooner": {open, sameWords, map[string]string{alone: up}, record.Inconclusive, false,
			"incomplete; response latency_p99 alone"},
		"inconclusive, later": {open, sameWords, map[string]string{alone: down}, record.Harms, false,
			"response latency_p99 alone"},
		"less, sooner": {down, up, map[string]string{alone: up}, record.Trades, false,
			"alone-better; response latency_p99 alone"},
		"less, later": {down, up, map[string]string{alone: down}, record.Harms, false,
			"alone-better; response latency_p99 alone"},
		"as much, sooner or later": {sameWords, sameWords, map[string]string{alone: up, without: up}, record.Mixed,
			false,
			"depends latency_p99 helps-alone-harms-in-list"},
		"as much, later or sooner": {sameWords, sameWords, map[string]string{alone: down, without: down}, record.Mixed,
			false, "depends latency_p99 harms-alone-missed-in-list"},
		"more, sooner or later": {up, down, map[string]string{alone: up, without: up}, record.Mixed, false,
			"alone-missed; depends latency_p99 helps-alone-harms-in-list"},
		"less, sooner or later": {down, up, map[string]string{alone: up, without: up}, record.Harms, false,
			"alone-better; depends latency_p99 helps-alone-harms-in-list"},
		"unsure, sooner or later": {open, sameWords, map[string]string{alone: up, without: up}, record.Mixed, false,
			"incomplete; depends latency_p99 helps-alone-harms-in-list"},
		"of latency nothing sure": {up, down, map[string]string{alone: open, without: open}, record.Helps,
			true, "alone-missed"},
	} {
		run, settings := runOf(up, sameWords, test.alone, test.removed, sameWords, sameWords)
		beside(run, test.latency)
		s := Judge(run, settings, nil).Settings[0]
		if s.Verdict != test.want || s.Keep != test.keep || codes(s) != test.why {
			t.Errorf("%s: %s, keep %t: %s; want %s, %t: %s", name, s.Verdict, s.Keep, codes(s), test.want,
				test.keep, test.why)
		}
	}
}

// TestKeptHarm: a setting that harms, and is kept since what all gain is worth it, is a trade; where
// nothing is kept, it harms.
func TestKeptHarm(t *testing.T) {
	for name, test := range map[string]struct {
		alone, removed string
		latency        map[string]string
		was            string
	}{
		"another response":    {open, sameWords, map[string]string{"only net.a": down}, record.Harms},
		"the one that counts": {down, up, nil, record.Harms},
		"one for another":     {down, up, map[string]string{"only net.a": up}, record.Trades},
	} {
		run, settings := runOf(up, sameWords, test.alone, test.removed, up, down)
		beside(run, test.latency)
		result := Judge(run, settings, nil)
		why := codes(result.Settings[0])
		if result.Settings[0].Verdict != test.was {
			t.Errorf("%s: %+v", name, result.Settings[0])
		}
		found := &Found{Run: run, Level: settingfile.TheList, Proof: record.TuneProof{Run: run.ID,
			Settings: []string{"net.a", "net.b"}, Effect: result.List}}
		found.Into(result)
		if s := result.Settings[0]; s.Verdict != record.Trades || !s.Keep || !strings.HasPrefix(codes(s), why) {
			t.Errorf("%s: %+v", name, s)
		}
		NotKept(result)
		if s := result.Settings[0]; s.Verdict != test.was || codes(s) != why {
			t.Errorf("%s, not kept: %+v", name, s)
		}
	}
}

// TestProven: what is kept improves something and worsens nothing.
func TestProven(t *testing.T) {
	for _, test := range []struct {
		goodput, latency string
		ratio            float64 // of the latency
		want             bool
	}{
		{up, sameWords, 1, true}, {up, open, 1, true}, {up, up, 0.9, true}, {up, down, 1.1, false},
		{sameWords, up, 0.9, true}, {sameWords, up, 0.985, false},
		{open, up, 0.9, false}, {sameWords, sameWords, 1, false}, {down, up, 0.9, false},
	} {
		e := effectOf(settingfile.TheList, test.goodput, 1)
		e.Beside = []record.Effect{effectOf(settingfile.TheList, test.latency, test.ratio)}
		e.Beside[0].Response = "latency_p99"
		if got := Proven(&e, nil, 0.02); got != test.want {
			t.Errorf("goodput %s, latency %s: %t", test.goodput, test.latency, got)
		}
	}
	if Proven(nil, nil, 0.02) {
		t.Error("what was not tried is proven")
	}
}

// A value that makes answers come later is not good enough.
func TestSearchBeside(t *testing.T) {
	run := &record.Run{Responses: []string{"goodput", "latency_p99"}}
	for _, level := range []string{"1", "2", "3"} {
		run.Effects = append(run.Effects, effectOf(level, sameWords, 1))
	}
	beside(run, map[string]string{"1": down, "2": up})
	got := Search(run, settingfile.Search{Key: "k", Names: []string{"1", "2", "3", "4"},
		Values: []string{"1", "2", "3", "4"}}, nil)
	if got.Search.Enough != "2" {
		t.Errorf("%+v", got.Search)
	}
}

// TestAccepted: a loss is accepted when the whole of its interval is within what is.
func TestAccepted(t *testing.T) {
	for _, test := range []struct {
		worse, accept float64
		want          bool
	}{{1.05, 0.1, true}, {1.095, 0.1, false}, {1.05, 0, false}, {1.5, 0.1, false}} {
		run, settings := runOf(up, sameWords, up, down, sameWords, sameWords)
		beside(run, map[string]string{"only net.a": down, settingfile.TheList: down})
		for i := range run.Effects {
			if b := &run.Effects[i].Beside[0]; b.Verdict == down {
				b.Ratio = record.EffectSize{Mean: test.worse, Low: test.worse - 0.01, High: test.worse + 0.01}
			}
		}
		got := Judge(run, settings, Accepted{"latency": test.accept})
		if s := got.Settings[0]; s.Verdict != record.Trades || s.Keep != test.want ||
			Proven(got.List, Accepted{"latency": test.accept}, got.Margin) != test.want {
			t.Errorf("%g accepted of %g: %s, keep %t, proven %t", test.accept, test.worse, s.Verdict, s.Keep,
				Proven(got.List, Accepted{"latency": test.accept}, got.Margin))
		}
	}
}

// TestUnknownCost: a cost of which no share is known is not accepted, whichever shows it: the
// setting alone, or the list without it.
func TestUnknownCost(t *testing.T) {
	ratio, difference := record.Effect{Ratio: record.EffectSize{Mean: 2, Low: 1.9, High: 2.1}},
		record.Effect{Ratio: record.EffectSize{None: true}, Difference: &record.EffectSize{Mean: 5000, Low: 4900,
			High: 5200}}
	without := record.Effect{Ratio: record.EffectSize{Mean: 0.5, Low: 0.48, High: 0.53}}
	less := record.Effect{Ratio: record.EffectSize{None: true}, Difference: &record.EffectSize{Mean: -5000, Low: -5200,
		High: -4900}}
	none, unbounded := record.Effect{Ratio: record.EffectSize{None: true}},
		record.Effect{Ratio: record.EffectSize{Mean: 0.5, High: 0.6}}
	for _, test := range []struct {
		level, verdict string
		size           record.Effect
		keep           bool
	}{
		{"only net.a", down, ratio, true}, {"only net.a", down, difference, false}, {"only net.a", down, none, false},
		{"without net.a", up, without, true}, {"without net.a", up, less, false}, {"without net.a", up, none, false},
		{"without net.a", up, unbounded, false},
	} {
		run, settings := runOf(up, sameWords, up, down, sameWords, sameWords)
		beside(run, map[string]string{test.level: test.verdict})
		b := &effect(run, run.Factors[0], test.level).Beside[0]
		b.Ratio, b.Difference = test.size.Ratio, test.size.Difference
		if s := Judge(run, settings, Accepted{"latency": 10}).Settings[0]; s.Verdict != record.Trades ||
			s.Keep != test.keep {
			t.Errorf("%s, %+v: %s, keep %t: %s", test.level, test.size, s.Verdict, s.Keep, codes(s))
		}
	}
	if got := inverse(&less).Difference; got.Mean != 5000 || got.Low != 4900 || got.High != 5200 {
		t.Errorf("%+v", got)
	}
}

// TestOffer: a trade has which flag accepts it.
func TestOffer(t *testing.T) {
	run, _ := runOf(up, sameWords)
	beside(run, map[string]string{settingfile.TheList: down})
	run.Factors[0].Baseline = settingfile.AsItIs
	for level, values := range map[string][2]float64{settingfile.AsItIs: {24.1e6, 5000},
		settingfile.TheList: {60e6, 20000}} {
		run.Treatments = append(run.Treatments, record.Treatment{Levels: map[string]string{settingfile.Factor: level},
			Responses: []record.ResponseEstimate{
				{Response: "goodput", Mean: values[0], Trials: 4}, {Response: "latency_p99", Mean: values[1],
					Trials: 4},
			}})
	}
	o := offer(run, settingfile.TheList, record.TuneProof{Settings: []string{"net.a", "net.b"},
		Effect: &run.Effects[0]})
	if o == nil || strings.Join(o.Accept, " ") != "--accept-latency 305%" {
		t.Fatalf("%+v", o)
	}
	if o := offer(run, settingfile.TheList, record.TuneProof{Effect: &run.Effects[1]}); o != nil {
		t.Errorf("what costs nothing is offered as a trade: %+v", o)
	}
}

// TestHelpsWithOthers: a setting that the list is worse without helps, whatever it does alone,
// with a proof and without one.
func TestHelpsWithOthers(t *testing.T) {
	run, settings := runOf(up, sameWords, down, down, sameWords, down)
	result := Judge(run, settings, nil)
	judged := result.Settings[0]
	if judged.Verdict != record.Helps || !judged.Keep ||
		codes(judged) != record.WhyMissedAlthough {
		t.Fatalf("%+v", judged)
	}
	(&Found{Run: run, Level: settingfile.TheList, Proof: record.TuneProof{Run: run.ID,
		Settings: []string{"net.a", "net.b"}, Effect: result.List}}).Into(result)
	if s := result.Settings[0]; s.Verdict != judged.Verdict || codes(s) != codes(judged) || !s.Keep {
		t.Errorf("%+v", s)
	}
}

// TestNotKept: a setting that helped in the list, and of which the proof shows nothing, does not
// help.
func TestNotKept(t *testing.T) {
	same := func() *record.Effect {
		return &record.Effect{Response: metric.Goodput.Name, Verdict: record.NoDifference,
			Ratio: record.EffectSize{Mean: 1, Low: 0.99, High: 1.01}}
	}
	result := &record.Tune{
		Responses: []string{metric.Goodput.Name}, List: same(), Proof: &record.TuneProof{Run: "proof",
			Settings: []string{"a"}, Effect: same()},
		Settings: []record.TuneSetting{
			{Key: "a", Verdict: record.Helps, Reasons: []record.Statement{{Code: record.WhyMissed}}, Keep: true},
			{Key: "b", Verdict: record.Harms}, {Key: "c", Verdict: record.NoDifference},
		},
	}
	if NothingToKeep(result) {
		t.Error("a setting is to be kept")
	}
	NotKept(result)
	for i, want := range []string{record.Inconclusive, record.Harms, record.NoDifference} {
		if s := result.Settings[i]; s.Verdict != want || s.Keep {
			t.Errorf("%+v, want %s", s, want)
		}
	}
	if !NothingToKeep(result) {
		t.Error("something is worth keeping")
	}
}

// TestUnneeded: what is kept without it being shown that it is needed is open, unless leaving it out
// has shown another response to be worse.
func TestUnneeded(t *testing.T) {
	run, settings := runOf(up, sameWords, sameWords, down, sameWords, down, open, sameWords, open, sameWords)
	run.Responses = []string{"goodput", "latency_p50"}
	cost := effectOf(KeptLevel, down, 1.2)
	cost.Response = "latency_p50"
	found := &Found{Run: run, Level: settingfile.TheList, Proof: record.TuneProof{Run: run.ID,
		Settings: []string{"net.a", "net.b", "net.c", "net.d"}, Effect: &run.Effects[0]}}
	result := Judge(run, settings, nil)
	found.Into(result)
	if keys := Open(result.Settings); !slices.Equal(keys, []string{"net.c", "net.d"}) {
		t.Errorf("%v: %+v", keys, result.Settings)
	}
	found.Beside = map[string]*record.Effect{"net.d": &cost}
	part := Judge(run, settings, nil)
	found.Into(part)
	if keys := Open(part.Settings); !slices.Equal(keys, []string{"net.c"}) ||
		part.Settings[3].Verdict != record.Helps || codes(part.Settings[3]) != "incomplete; beside" {
		t.Errorf("%v: %+v", keys, part.Settings[3])
	}
}
