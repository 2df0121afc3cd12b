package tuning

import (
	"strings"
	"testing"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/model/settingfile"
)

// slight is a loss that is small beside a gain of 4×.
const slight = "slight"

// beside puts an effect on latency beside each of a run's: by level.
func beside(run *record.Run, latency map[string]string) {
	run.Responses = []string{"goodput", "latency_p99"}
	ratios := map[string]float64{record.Improves: 0.3, record.Worsens: 4, record.NoDifference: 1,
		record.Inconclusive: 1.2}
	for i := range run.Effects {
		e := &run.Effects[i]
		verdict := latency[e.To]
		if verdict == "" {
			verdict = sameWords
		}
		b := effectOf(e.To, verdict, ratios[verdict])
		if verdict == slight {
			b = effectOf(e.To, record.Worsens, 1.05)
		}
		b.Response = "latency_p99"
		e.Beside = []record.Effect{b}
	}
}

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
		"helps": {up, down, nil, record.Helps, true, "alone"},
		"more and later": {up, down, map[string]string{alone: down}, record.Trades, false,
			"latency p99 worsens, 4.00× (3.99–4.01)"},
		"later in the list": {up, sameWords, map[string]string{without: up}, record.Trades, false,
			"latency p99 improves, 0.30× (0.29–0.31) without it"},
		"more and sooner": {up, down, map[string]string{alone: up}, record.Helps, true,
			"latency p99 improves"},
		"as much, later": {sameWords, sameWords, map[string]string{alone: down}, record.Harms, false,
			"latency p99 worsens"},
		"as much, sooner": {sameWords, sameWords, map[string]string{alone: up, without: down}, record.Helps,
			true, "latency p99 improves"},
		"inconclusive, sooner": {open, sameWords, map[string]string{alone: up}, record.Inconclusive, false,
			"latency p99 improves"},
		"inconclusive, later": {open, sameWords, map[string]string{alone: down}, record.Harms, false,
			"latency p99 worsens"},
		"less, sooner": {down, up, map[string]string{alone: up}, record.Trades, false,
			"latency p99 improves"},
		"less, later": {down, up, map[string]string{alone: down}, record.Harms, false,
			"latency p99 worsens"},
		"as much, sooner or later": {sameWords, sameWords, map[string]string{alone: up, without: up}, record.Mixed,
			false,
			"latency p99: alone it helps, and the list is better without it (0.30× (0.29–0.31) and 0.30× (0.29–0.31))"},
		"as much, later or sooner": {sameWords, sameWords, map[string]string{alone: down, without: down}, record.Mixed,
			false, "latency p99: alone it harms, and the list is worse without it"},
		"more, sooner or later": {up, down, map[string]string{alone: up, without: up}, record.Mixed, false,
			"alone, and the list is worse without it; latency p99: alone it helps"},
		"less, sooner or later": {down, up, map[string]string{alone: up, without: up}, record.Harms, false,
			"alone, and the list is better without it; latency p99: alone it helps"},
		"unsure, sooner or later": {open, sameWords, map[string]string{alone: up, without: up}, record.Mixed, false,
			"latency p99: alone it helps"},
		"of latency nothing sure": {up, down, map[string]string{alone: open, without: open}, record.Helps,
			true, "alone"},
	} {
		run, settings := runOf(up, sameWords, test.alone, test.removed, sameWords, sameWords)
		beside(run, test.latency)
		s := Judge(run, settings, nil).Settings[0]
		if s.Verdict != test.want || s.Keep != test.keep || !strings.Contains(s.Why, test.why) ||
			strings.HasPrefix(s.Why, ";") {
			t.Errorf("%s: %s, keep %t: %s; want %s, %t: …%s…", name, s.Verdict, s.Keep, s.Why, test.want,
				test.keep, test.why)
		}
	}
}

// TestAnswersWithLatency: nothing is said to improve without a word on what got
// worse with it, or is not known to be as good.
func TestAnswersWithLatency(t *testing.T) {
	only := "only net.a"
	for _, test := range []struct {
		list    string
		latency map[string]string
		want    string
	}{
		{up, nil, "The list as a whole improves goodput: 4.00× (3.99–4.01). net.a does it."},
		{up, map[string]string{settingfile.TheList: down, only: down},
			"improves goodput: 4.00× (3.99–4.01), but worsens latency p99 4.00× (3.99–4.01). net.a improves goodput (alone 4.00× (3.99–4.01)) at the cost of latency p99 (alone 4.00× (3.99–4.01))"},
		{up, map[string]string{settingfile.TheList: slight},
			"improves goodput: 4.00× (3.99–4.01), at the cost of latency p99 1.05× (1.04–1.06)"},
		{sameWords, map[string]string{settingfile.TheList: slight},
			"makes no difference of goodput beyond ±2 %: 1.00× (0.99–1.01), but worsens latency p99 1.05×"},
		{up, map[string]string{settingfile.TheList: open},
			"improves goodput: 4.00× (3.99–4.01); latency p99 may be worse, 1.20× (1.19–1.21), inconclusive"},
		{up, map[string]string{settingfile.TheList: up},
			"improves goodput: 4.00× (3.99–4.01), and improves latency p99 0.30× (0.29–0.31)"},
		{sameWords, map[string]string{settingfile.TheList: down},
			"makes no difference of goodput beyond ±2 %: 1.00× (0.99–1.01), but worsens latency p99 4.00×"},
		{down, map[string]string{settingfile.TheList: down},
			"worsens goodput: 0.25× (0.24–0.26), and worsens latency p99"},
		{down, map[string]string{settingfile.TheList: up},
			"worsens goodput: 0.25× (0.24–0.26), but improves latency p99"},
	} {
		run, settings := runOf(test.list, sameWords, up, down, sameWords, sameWords)
		beside(run, test.latency)
		if got := Judge(run, settings, nil).Answer; !strings.Contains(got, test.want) {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}

// TestHarmsFirst: of a setting that costs the response that counts for a gain in another one, the
// answer says first to leave it out, also where a set with it was proven to make that trade.
func TestHarmsFirst(t *testing.T) {
	run, settings := runOf(down, sameWords, down, up, sameWords, open)
	beside(run, map[string]string{settingfile.TheList: up, "only net.a": up})
	result := Judge(run, settings, nil)
	want := "net.a harms goodput (alone 0.25× (0.24–0.26)): leave it out, unless you need latency p99 (alone 0.30× (0.29–0.31)) more. The list as a whole worsens goodput"
	if !strings.HasPrefix(result.Answer, want) {
		t.Errorf("%s\nwant %s", result.Answer, want)
	}
	if got := Worthless(result); got != "nothing is kept, since what improves latency p99 costs goodput" {
		t.Error(got)
	}
	result.Proof = &record.TuneProof{Run: "tune-2", Settings: []string{"net.a", "net.b"}, Effect: result.List}
	result.Offer = &record.TuneOffer{TuneProof: *result.Proof}
	if got := Answer(result, run); !strings.HasPrefix(got, want) || strings.Contains(got, "net.a and net.b improve") {
		t.Error(got)
	}
}

// TestKeptHarm: of a setting that harms, and is kept since what all gain is worth it, the answer
// does not say to leave it out; where nothing is kept, it harms.
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
		why := result.Settings[0].Why
		if result.Settings[0].Verdict != test.was {
			t.Errorf("%s: %+v", name, result.Settings[0])
		}
		found := &Found{Run: run, Level: settingfile.TheList, Proof: record.TuneProof{Run: run.ID,
			Settings: []string{"net.a", "net.b"}, Effect: result.List}}
		found.Into(result)
		if s, got := result.Settings[0], Answer(result, run); s.Verdict != record.Trades || !s.Keep ||
			!strings.HasPrefix(s.Why, why) || strings.Contains(got, "leave it out") {
			t.Errorf("%s: %+v: %s", name, s, got)
		}
		NotKept(result)
		if s, got := result.Settings[0], Answer(result, run); s.Verdict != test.was || s.Why != why ||
			!strings.Contains(got, "leave it out") {
			t.Errorf("%s, not kept: %+v: %s", name, s, got)
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
	if want := "k: 2 is the smallest value that is good enough. Against the largest it is as good, and improves latency p99 0.30× (0.29–0.31)."; got.Answer !=
		want || got.Search.Enough != "2" {
		t.Errorf("%s", got.Answer)
	}
}

// TestNotTogether: settings that each make answers quicker, and carry nothing more,
// need not each other; those that are nothing alone do.
func TestNotTogether(t *testing.T) {
	run, settings := runOf(up, sameWords, sameWords, sameWords, sameWords, sameWords)
	beside(run, map[string]string{settingfile.TheList: up, "only net.a": up, "only net.b": up})
	if got := Judge(run, settings, nil).Answer; !strings.HasSuffix(got, ". net.a and net.b help.") {
		t.Error(got)
	}
	run, settings = runOf(up, sameWords, sameWords, sameWords, sameWords, sameWords)
	beside(run, map[string]string{settingfile.TheList: up, "without net.a": down, "without net.b": down})
	if got := Judge(run, settings, nil).Answer; !strings.Contains(got,
		"net.a and net.b help together: alone neither makes a difference") {
		t.Error(got)
	}
}

// TestDependsBeside: the answer says what it is that depends on the others.
func TestDependsBeside(t *testing.T) {
	run, settings := runOf(up, sameWords, sameWords, sameWords, sameWords, sameWords)
	beside(run, map[string]string{"only net.a": up, "without net.a": up})
	if got := Judge(run, settings, nil).Answer; !strings.Contains(got,
		"net.a (latency p99: alone it helps, and the list is better without it (0.30× (0.29–0.31) and 0.30× (0.29–0.31))) depends on the others") {
		t.Error(got)
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
			t.Errorf("%s, %+v: %s, keep %t: %s", test.level, test.size, s.Verdict, s.Keep, s.Why)
		}
	}
	if got := inverse(&less).Difference; got.Mean != 5000 || got.Low != 4900 || got.High != 5200 {
		t.Errorf("%+v", got)
	}
}

// TestOffer: a trade says what it gives and costs in units, and which flag accepts it.
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
	want := "net.a and net.b improve goodput 24.1 → 60 Mbit/s (4.00× (3.99–4.01)) at the cost of latency p99 5 → 20 ms (at most 3e+02 % worse)"
	if got := Offered(o); got != strings.Replace(want, "3e+02", "301", 1) {
		t.Error(got)
	}
	if o := offer(run, settingfile.TheList, record.TuneProof{Effect: &run.Effects[1]}); o != nil {
		t.Errorf("what costs nothing is offered as a trade: %+v", o)
	}
}

// TestTooFewIsSaid: why a response beside is inconclusive is said, unless it is its interval.
func TestTooFewIsSaid(t *testing.T) {
	for why, want := range map[string]string{
		"latency p99 of 150 requests is the 2nd slowest: p99 needs 1,000": "; latency p99 may be worse, 1.20× (1.19–1.21), inconclusive: latency p99 of 150 requests is the 2nd slowest: p99 needs 1,000",
		"the interval spans 0.9× to 1.6×":                                 "; latency p99 may be worse, 1.20× (1.19–1.21), inconclusive",
	} {
		run, settings := runOf(up, sameWords, sameWords, sameWords)
		beside(run, map[string]string{settingfile.TheList: open})
		effect(run, run.Factors[0], settingfile.TheList).Beside[0].Why = why
		if got := Judge(run, settings, nil).Answer; !strings.Contains(got, want+";") &&
			!strings.Contains(got, want+".") {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// TestHelpsWithOthers: a setting that the list is worse without helps, whatever it does alone,
// with a proof and without one.
func TestHelpsWithOthers(t *testing.T) {
	run, settings := runOf(up, sameWords, down, down, sameWords, down)
	result := Judge(run, settings, nil)
	judged := result.Settings[0]
	if judged.Verdict != record.Helps || !judged.Keep ||
		judged.Why != "with others: the list is worse without it, although alone it harms" {
		t.Fatalf("%+v", judged)
	}
	(&Found{Run: run, Level: settingfile.TheList, Proof: record.TuneProof{Run: run.ID,
		Settings: []string{"net.a", "net.b"}, Effect: result.List}}).Into(result)
	if s := result.Settings[0]; s.Verdict != judged.Verdict || s.Why != judged.Why || !s.Keep {
		t.Errorf("%+v", s)
	}
}

// TestNotKept: a setting that helped in the list, and of which the proof shows nothing, does not
// help; the answer begins with that.
func TestNotKept(t *testing.T) {
	same := func() *record.Effect {
		return &record.Effect{Response: metric.Goodput.Name, Verdict: record.NoDifference,
			Ratio: record.EffectSize{Mean: 1, Low: 0.99, High: 1.01}}
	}
	result := &record.Tune{
		Responses: []string{metric.Goodput.Name}, List: same(), Proof: &record.TuneProof{Run: "proof",
			Settings: []string{"a"}, Effect: same()},
		Settings: []record.TuneSetting{
			{Key: "a", Verdict: record.Helps, Why: "latency p50 worsens without it", Keep: true},
			{Key: "b", Verdict: record.Harms}, {Key: "c", Verdict: record.NoDifference},
		},
	}
	if nothingToKeep(result) {
		t.Error("a setting is to be kept")
	}
	NotKept(result)
	for i, want := range []string{record.Inconclusive, record.Harms, record.NoDifference} {
		if s := result.Settings[i]; s.Verdict != want || s.Keep {
			t.Errorf("%+v, want %s", s, want)
		}
	}
	if !nothingToKeep(result) {
		t.Error("the answer does not say that nothing is worth keeping")
	}
}

// TestUnneeded: of what is kept without it being shown that it is needed, the answer does not
// say that it does it; a smaller set that costs more is named with what it costs.
func TestUnneeded(t *testing.T) {
	run, settings := runOf(up, sameWords, sameWords, down, sameWords, down, open, sameWords, open, sameWords)
	run.Responses = []string{"goodput", "latency_p50"}
	later := func(level string, ratio float64) *record.Effect {
		e, cost := effectOf(level, up, 2.42), effectOf(level, down, ratio)
		cost.Response, e.Beside = "latency_p50", nil
		e.Beside = append(e.Beside, cost)
		return &e
	}
	result := Judge(run, settings, nil)
	proof := *run
	proof.ID = "tune-2"
	found := &Found{
		Run: &proof, Level: settingfile.TheList, Proof: record.TuneProof{Run: proof.ID,
			Settings: []string{"net.a", "net.b", "net.c", "net.d"}, Effect: later(settingfile.TheList, 1.04)},
		Fewer: &Found{Run: &proof, Level: KeptLevel, Proof: record.TuneProof{Run: proof.ID,
			Settings: []string{"net.a", "net.b"}, Effect: later(KeptLevel, 1.055),
			AgainstList: later(KeptLevel, 1.01)}},
	}
	found.Into(result)
	got := Answer(result, run)
	for _, want := range []string{
		"net.a and net.b are needed: alone neither makes a difference. net.a, net.b, net.c and net.d by themselves: 2.42×",
		". net.c and net.d are kept together for latency p50 (which of them it takes is not known), and not shown to be needed for goodput: net.a and net.b alone give as much, 2.42×",
		", but worsen latency p50 1.05×", "which is more than is accepted",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
	if keys := Open(result.Settings); len(keys) != 2 || keys[0] != "net.c" || keys[1] != "net.d" ||
		strings.Contains(got, "do it") {
		t.Errorf("%v: %s", keys, got)
	}
	// What leaving a setting out has shown in another response is what it is kept for.
	found.Fewer, found.Beside = nil, map[string]*record.Effect{"net.d": &later(KeptLevel, 1.2).Beside[0]}
	part := Judge(run, settings, nil)
	found.Into(part)
	if got := Answer(part, run); !strings.Contains(got, "net.a and net.b are needed: ") ||
		!strings.Contains(got,
			". net.c is kept, and not shown to be needed. net.d is kept for latency p50 (without it 1.20×") {
		t.Error(got)
	}
	if keys := Open(part.Settings); len(keys) != 1 || keys[0] != "net.c" || part.Settings[3].Verdict != record.Helps {
		t.Errorf("%v: %+v", keys, part.Settings[3])
	}
	found.Beside = nil
	none := Judge(run, settings[2:], nil)
	found.Proof.Settings = []string{"net.c", "net.d"}
	found.Into(none)
	if got := Answer(none, run); !strings.Contains(got, "net.c and net.d do it: by themselves 2.42×") ||
		!strings.Contains(got, ". Which of net.c and net.d are needed is not known") {
		t.Error(got)
	}
	// Where the list is not shown to do what they do, they come first.
	none.List = effect(run, run.Factors[0], settingfile.OffAgain)
	if got := Answer(none, run); !strings.HasPrefix(got, "net.c and net.d improve goodput: by themselves 2.42×") {
		t.Error(got)
	}
	none.List = result.List
	// What improves in another response alone is not said of each of the settings either.
	beside := effectOf(settingfile.TheList, sameWords, 1)
	latency := effectOf(settingfile.TheList, up, 0.9)
	latency.Response = "latency_p50"
	beside.Beside = []record.Effect{latency}
	found.Proof.Effect = &beside
	found.Into(none)
	if got := Answer(none, run); !strings.Contains(got, "net.c and net.d by themselves improve latency p50 0.90×") ||
		!strings.Contains(got, ". Which of net.c and net.d are needed is not known") {
		t.Error(got)
	}
}
