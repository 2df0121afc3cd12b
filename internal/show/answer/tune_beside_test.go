package answer

import (
	"strings"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/model/settingfile"
	"linerate/internal/science/sciencetest"
	"linerate/internal/science/tuning"
)

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
			"improves goodput: 4.00× (3.99–4.01), but worsens latency p99 4.00× (3.99–4.01). net.a improves " +
				"goodput (alone 4.00× (3.99–4.01)) at the cost of latency p99 (alone 4.00× (3.99–4.01))"},
		{up, map[string]string{settingfile.TheList: sciencetest.Slight},
			"improves goodput: 4.00× (3.99–4.01), at the cost of latency p99 1.05× (1.04–1.06)"},
		{sameWords, map[string]string{settingfile.TheList: sciencetest.Slight},
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
		run, settings := sciencetest.List(test.list, sameWords, up, down, sameWords, sameWords)
		sciencetest.Beside(run, test.latency)
		if got := Tune(tuning.Judge(run, settings, nil)).Answer; !strings.Contains(got, test.want) {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}

// TestHarmsFirst: of a setting that costs the response that counts for a gain in another one, the
// answer says first to leave it out, also where a set with it was proven to make that trade.
func TestHarmsFirst(t *testing.T) {
	run, settings := sciencetest.List(down, sameWords, down, up, sameWords, open)
	sciencetest.Beside(run, map[string]string{settingfile.TheList: up, "only net.a": up})
	result := tuning.Judge(run, settings, nil)
	want := "net.a harms goodput (alone 0.25× (0.24–0.26)): leave it out, unless you need latency p99 (alone 0.30× " +
		"(0.29–0.31)) more. The list as a whole worsens goodput"
	if got := Tune(result).Answer; !strings.HasPrefix(got, want) {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := worthless(result); got != "nothing is kept, since what improves latency p99 costs goodput" {
		t.Error(got)
	}
	result.Proof = &record.TuneProof{Run: "tune-2", Settings: []string{"net.a", "net.b"}, Effect: result.List}
	result.Offer = &record.TuneOffer{TuneProof: *result.Proof}
	if got := Tune(result).Answer; !strings.HasPrefix(got, want) || strings.Contains(got, "net.a and net.b improve") {
		t.Error(got)
	}
}

// TestKeptHarm: of a setting that harms, and is kept since what all gain is worth it, the answer
// does not say to leave it out; where nothing is kept, it harms.
func TestKeptHarm(t *testing.T) {
	for name, test := range map[string]struct {
		alone, removed string
		latency        map[string]string
	}{
		"another response":    {open, sameWords, map[string]string{"only net.a": down}},
		"the one that counts": {down, up, nil},
		"one for another":     {down, up, map[string]string{"only net.a": up}},
	} {
		run, settings := sciencetest.List(up, sameWords, test.alone, test.removed, up, down)
		sciencetest.Beside(run, test.latency)
		result := tuning.Judge(run, settings, nil)
		why := Tune(result).Settings[0].Why
		found := &tuning.Found{Run: run, Level: settingfile.TheList, Proof: record.TuneProof{Run: run.ID,
			Settings: []string{"net.a", "net.b"}, Effect: result.List}}
		found.Into(result)
		if shown := Tune(result); !strings.HasPrefix(shown.Settings[0].Why, why) ||
			strings.Contains(shown.Answer, "leave it out") {
			t.Errorf("%s: %+v: %s", name, shown.Settings[0], shown.Answer)
		}
		tuning.NotKept(result)
		if shown := Tune(result); shown.Settings[0].Why != why || !strings.Contains(shown.Answer, "leave it out") {
			t.Errorf("%s, not kept: %+v: %s", name, shown.Settings[0], shown.Answer)
		}
	}
}

// TestTuneSearchBeside: the answer says what else the value that is enough changes.
func TestTuneSearchBeside(t *testing.T) {
	run := &record.Run{ID: "tune-1", Responses: []string{"goodput", "latency_p99"}}
	for _, level := range []string{"1", "2", "3"} {
		run.Effects = append(run.Effects, sciencetest.LevelEffect(level, sameWords, 1))
	}
	sciencetest.Beside(run, map[string]string{"1": down, "2": up})
	got := Tune(tuning.Search(run, settingfile.Search{Key: "k", Names: []string{"1", "2", "3", "4"},
		Values: []string{"1", "2", "3", "4"}}, nil))
	if want := "k: 2 is the smallest value that is good enough. Against the largest it is as good, and improves " +
		"latency p99 0.30× (0.29–0.31)."; got.Answer !=
		want {
		t.Errorf("%s", got.Answer)
	}
}

// TestNotTogether: settings that each make answers quicker, and carry nothing more,
// need not each other; those that are nothing alone do.
func TestNotTogether(t *testing.T) {
	run, settings := sciencetest.List(up, sameWords, sameWords, sameWords, sameWords, sameWords)
	sciencetest.Beside(run, map[string]string{settingfile.TheList: up, "only net.a": up, "only net.b": up})
	if got := Tune(tuning.Judge(run, settings, nil)).Answer; !strings.HasSuffix(got, ". net.a and net.b help.") {
		t.Error(got)
	}
	run, settings = sciencetest.List(up, sameWords, sameWords, sameWords, sameWords, sameWords)
	sciencetest.Beside(run, map[string]string{settingfile.TheList: up, "without net.a": down, "without net.b": down})
	if got := Tune(tuning.Judge(run, settings, nil)).Answer; !strings.Contains(got,
		"net.a and net.b help together: alone neither makes a difference") {
		t.Error(got)
	}
}

// TestDependsBeside: the answer says what it is that depends on the others.
func TestDependsBeside(t *testing.T) {
	run, settings := sciencetest.List(up, sameWords, sameWords, sameWords, sameWords, sameWords)
	sciencetest.Beside(run, map[string]string{"only net.a": up, "without net.a": up})
	if got := Tune(tuning.Judge(run, settings, nil)).Answer; !strings.Contains(got,
		"net.a (latency p99: alone it helps, and the list is better without it (0.30× (0.29–0.31) and 0.30× "+
			"(0.29–0.31))) depends on the others") {
		t.Error(got)
	}
}

// TestOffer: a trade says what it gives and costs in units.
func TestOffered(t *testing.T) {
	run, _ := sciencetest.List(up, sameWords)
	sciencetest.Beside(run, map[string]string{settingfile.TheList: down})
	run.Factors[0].Baseline = settingfile.AsItIs
	for level, values := range map[string][2]float64{settingfile.AsItIs: {24.1e6, 5000},
		settingfile.TheList: {60e6, 20000}} {
		run.Treatments = append(run.Treatments, record.Treatment{Levels: map[string]string{settingfile.Factor: level},
			Responses: []record.ResponseEstimate{
				{Response: "goodput", Mean: values[0], Trials: 4}, {Response: "latency_p99", Mean: values[1],
					Trials: 4},
			}})
	}
	o := (&tuning.Found{Run: run, Level: settingfile.TheList, Proof: record.TuneProof{
		Settings: []string{"net.a", "net.b"}, Effect: &run.Effects[0]}}).Offer()
	want := "net.a and net.b improve goodput 24.1 → 60 Mbit/s (4.00× (3.99–4.01)) at the cost of latency p99 5 → " +
		"20 ms (at most 3e+02 % worse)"
	if got := Offered(o); got != strings.Replace(want, "3e+02", "301", 1) {
		t.Error(got)
	}
}

// TestTooFewIsSaid: why a response beside is inconclusive is said, unless it is its interval.
func TestTooFewIsSaid(t *testing.T) {
	for why, want := range map[string]string{
		"latency p99 of 150 requests is the 2nd slowest: p99 needs 1,000": "; latency p99 may be worse, 1.20× " +
			"(1.19–1.21), inconclusive: latency p99 of 150 requests is the 2nd slowest: p99 needs 1,000",
		"the interval spans 0.9× to 1.6×": "; latency p99 may be worse, 1.20× " +
			"(1.19–1.21), inconclusive",
	} {
		run, settings := sciencetest.List(up, sameWords, sameWords, sameWords)
		sciencetest.Beside(run, map[string]string{settingfile.TheList: open})
		run.Effects[0].Beside[0].Why = why
		if got := Tune(tuning.Judge(run, settings, nil)).Answer; !strings.Contains(got, want+";") &&
			!strings.Contains(got, want+".") {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// TestUnneeded: of what is kept without it being shown that it is needed, the answer does not
// say that it does it; a smaller set that costs more is named with what it costs.
func TestUnneeded(t *testing.T) {
	run, settings := sciencetest.List(up, sameWords, sameWords, down, sameWords, down, open, sameWords, open, sameWords)
	run.Responses = []string{"goodput", "latency_p50"}
	later := func(level string, ratio float64) *record.Effect {
		e, cost := sciencetest.LevelEffect(level, up, 2.42), sciencetest.LevelEffect(level, down, ratio)
		cost.Response, e.Beside = "latency_p50", nil
		e.Beside = append(e.Beside, cost)
		return &e
	}
	result := tuning.Judge(run, settings, nil)
	proof := *run
	proof.ID = "tune-2"
	found := &tuning.Found{
		Run: &proof, Level: settingfile.TheList, Proof: record.TuneProof{Run: proof.ID,
			Settings: []string{"net.a", "net.b", "net.c", "net.d"}, Effect: later(settingfile.TheList, 1.04)},
		Fewer: &tuning.Found{Run: &proof, Level: tuning.KeptLevel, Proof: record.TuneProof{Run: proof.ID,
			Settings: []string{"net.a", "net.b"}, Effect: later(tuning.KeptLevel, 1.055),
			AgainstList: later(tuning.KeptLevel, 1.01)}},
	}
	found.Into(result)
	got := Tune(result).Answer
	for _, want := range []string{
		"net.a and net.b are needed: alone neither makes a difference. net.a, net.b, net.c and net.d by " +
			"themselves: 2.42×",
		". net.c and net.d are kept together for latency p50 (which of them it takes is not known), and not shown " +
			"to be needed for goodput: net.a and net.b alone give as much, 2.42×",
		", but worsen latency p50 1.05×", "which is more than is accepted",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
	if strings.Contains(got, "do it") {
		t.Error(got)
	}
	// What leaving a setting out has shown in another response is what it is kept for.
	found.Fewer, found.Beside = nil, map[string]*record.Effect{"net.d": &later(tuning.KeptLevel, 1.2).Beside[0]}
	part := tuning.Judge(run, settings, nil)
	found.Into(part)
	if got := Tune(part).Answer; !strings.Contains(got, "net.a and net.b are needed: ") ||
		!strings.Contains(got,
			". net.c is kept, and not shown to be needed. net.d is kept for latency p50 (without it 1.20×") {
		t.Error(got)
	}
	found.Beside = nil
	none := tuning.Judge(run, settings[2:], nil)
	found.Proof.Settings = []string{"net.c", "net.d"}
	found.Into(none)
	if got := Tune(none).Answer; !strings.Contains(got, "net.c and net.d do it: by themselves 2.42×") ||
		!strings.Contains(got, ". Which of net.c and net.d are needed is not known") {
		t.Error(got)
	}
	// Where the list is not shown to do what they do, they come first.
	none.List = &run.Effects[1]
	if got := Tune(none).Answer; !strings.HasPrefix(got, "net.c and net.d improve goodput: by themselves 2.42×") {
		t.Error(got)
	}
	none.List = result.List
	// What improves in another response alone is not said of each of the settings either.
	beside := sciencetest.LevelEffect(settingfile.TheList, sameWords, 1)
	latency := sciencetest.LevelEffect(settingfile.TheList, up, 0.9)
	latency.Response = "latency_p50"
	beside.Beside = []record.Effect{latency}
	found.Proof.Effect = &beside
	found.Into(none)
	if got := Tune(none).Answer; !strings.Contains(got, "net.c and net.d by themselves improve latency p50 0.90×") ||
		!strings.Contains(got, ". Which of net.c and net.d are needed is not known") {
		t.Error(got)
	}
}

// TestReasonsBeside: the reasons of a verdict name the response that turned it.
func TestReasonsBeside(t *testing.T) {
	alone, without := "only net.a", "without net.a"
	for name, test := range map[string]struct {
		alone, removed string // goodput
		latency        map[string]string
		why            string
	}{
		"helps":          {up, down, nil, "alone"},
		"more and later": {up, down, map[string]string{alone: down}, "latency p99 worsens, 4.00× (3.99–4.01)"},
		"later in the list": {up, sameWords, map[string]string{without: up}, "latency p99 improves, 0.30× " +
			"(0.29–0.31) without it"},
		"more and sooner": {up, down, map[string]string{alone: up}, "latency p99 improves"},
		"as much, later":  {sameWords, sameWords, map[string]string{alone: down}, "latency p99 worsens"},
		"as much, sooner": {sameWords, sameWords, map[string]string{alone: up, without: down},
			"latency p99 improves"},
		"inconclusive, sooner": {open, sameWords, map[string]string{alone: up}, "latency p99 improves"},
		"inconclusive, later":  {open, sameWords, map[string]string{alone: down}, "latency p99 worsens"},
		"less, sooner":         {down, up, map[string]string{alone: up}, "latency p99 improves"},
		"less, later":          {down, up, map[string]string{alone: down}, "latency p99 worsens"},
		"as much, sooner or later": {sameWords, sameWords, map[string]string{alone: up, without: up},
			"latency p99: alone it helps, and the list is better without it (0.30× (0.29–0.31) and 0.30× (0.29–0.31))"},
		"as much, later or sooner": {sameWords, sameWords, map[string]string{alone: down, without: down},
			"latency p99: alone it harms, and the list is worse without it"},
		"more, sooner or later": {up, down, map[string]string{alone: up, without: up},
			"alone, and the list is worse without it; latency p99: alone it helps"},
		"less, sooner or later": {down, up, map[string]string{alone: up, without: up},
			"alone, and the list is better without it; latency p99: alone it helps"},
		"unsure, sooner or later": {open, sameWords, map[string]string{alone: up, without: up},
			"latency p99: alone it helps"},
		"of latency nothing sure": {up, down, map[string]string{alone: open, without: open},
			"alone"},
	} {
		run, settings := sciencetest.List(up, sameWords, test.alone, test.removed, sameWords, sameWords)
		sciencetest.Beside(run, test.latency)
		s := Tune(tuning.Judge(run, settings, nil)).Settings[0]
		if !strings.Contains(s.Why, test.why) || strings.HasPrefix(s.Why, ";") {
			t.Errorf("%s: %s; want …%s…", name, s.Why, test.why)
		}
	}
}
