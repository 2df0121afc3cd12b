package answer

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/settingfile"
	"linerate/internal/science/sciencetest"
	"linerate/internal/science/tuning"
	"linerate/internal/show/showtest"
	"linerate/internal/show/wording"
)

const (
	up, down  = record.Improves, record.Worsens
	sameWords = record.NoDifference
	open      = record.Inconclusive
)

// TestTuneAnswers: the answer says what the list does, and which of its settings do it.
func TestTuneAnswers(t *testing.T) {
	for _, test := range []struct {
		list, off string
		verdicts  []string
		want      string
	}{
		{up, sameWords, []string{sameWords, down, sameWords, down, sameWords, sameWords},
			"The list as a whole improves goodput: 4.00× (3.99–4.01). It needs net.a and net.b together: alone " +
				"neither makes a difference. net.c makes no difference."},
		{sameWords, sameWords, []string{sameWords, sameWords, sameWords, sameWords},
			"Nothing of this list is shown to be worth keeping here. The list as a whole makes no difference " +
				"beyond ±2 %: 1.00× (0.99–1.01). None of its settings makes a difference, alone or left out."},
		{down, sameWords, []string{down, up, sameWords, open},
			"Nothing of this list is shown to be worth keeping here. net.a harms: leave it out. The list as a " +
				"whole worsens goodput: 0.25× (0.24–0.26). Alone, net.b makes no difference of goodput beyond ±2 % " +
				"(at most 1.1 %); as a part of the list it is unclear."},
		{open, sameWords, []string{sameWords, open, open, open},
			"Nothing of this list is shown to be worth keeping here. The list as a whole has no certain effect on " +
				"goodput beyond ±2 %: 1.10× (1.09–1.11). Alone, net.a makes no difference of goodput beyond ±2 % " +
				"(at most 1.1 %), and net.b is unclear."},
		{open, sameWords, []string{open, open, open, open},
			"The list as a whole has no certain effect on goodput beyond ±2 %: 1.10× (1.09–1.11)."},
		{up, sameWords, []string{open, open, open, open},
			"The list as a whole improves goodput: 4.00× (3.99–4.01). No single one of its settings clearly does " +
				"it. net.a and net.b are unclear."},
		{up, sameWords, []string{up, down, sameWords, down, sameWords, sameWords, sameWords, sameWords},
			"It needs net.a and net.b. The largest lever is net.a, alone 4.00× (3.99–4.01). net.c and net.d make " +
				"no difference."},
		{up, sameWords, []string{open, down, sameWords, down},
			"It needs net.a and net.b together: alone neither gives more than 1.11×."},
		{up, sameWords, []string{up, sameWords, open, down, sameWords, down, sameWords, sameWords},
			"It needs net.b and net.c together: alone neither gives more than 1.11×. net.a helps alone, 4.00× " +
				"(3.99–4.01), but the list does as well without it. net.d makes no difference."},
		{up, sameWords, []string{up, sameWords, up, open, sameWords, sameWords},
			"net.a and net.b help. net.c makes no difference."},
		{sameWords, sameWords, []string{up, sameWords, down, sameWords},
			"makes no difference beyond ±2 %: 1.00× (0.99–1.01). net.a helps. net.b harms: leave it out."},
		{up, down, []string{up, down, sameWords, sameWords},
			"With the settings off again the result differs from the baseline (0.25× (0.24–0.26)): something else " +
				"changed, or an effect of the settings remained."},
	} {
		run, settings := sciencetest.List(test.list, test.off, test.verdicts...)
		if got := Tune(tuning.Judge(run, settings, nil)).Answer; !strings.Contains(got, test.want) {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}

// Without ablation nothing is said of single settings, unless there is but one.
func TestTuneListAlone(t *testing.T) {
	run, _ := sciencetest.List(up, sameWords)
	two := []record.TuneSetting{{Key: "net.a"}, {Key: "net.b"}, {Key: "net.c", Verdict: record.NotTried,
		Why: "it is not there"}}
	got := Tune(tuning.Judge(run, two, nil))
	if want := "The 2 settings that could be tried improve goodput: 4.00× (3.99–4.01). Of the list's 3 settings, 1 " +
		"was not tried: net.c (it is not there)."; got.Answer != want {
		t.Errorf("%s", got.Answer)
	}
	got = Tune(tuning.Judge(run, two[1:], nil))
	if got.Answer != "net.b improves goodput: 4.00× (3.99–4.01). Of the list's 2 settings, 1 was not tried: net.c "+
		"(it is not there)." {
		t.Errorf("%s", got.Answer)
	}
}

// TestOnePart: of a list that is taken apart a single setting may have been tried;
// what the list does is not that setting's.
func TestTuneOnePart(t *testing.T) {
	run, settings := sciencetest.List(up, sameWords, sameWords, down)
	got := Tune(tuning.Judge(run, settings, nil))
	if s := got.Settings[0]; s.Why != "with others: the list is worse without it" {
		t.Errorf("%+v", s)
	}
	if want := "The list as a whole improves goodput: 4.00× (3.99–4.01). It needs net.a."; got.Answer != want {
		t.Errorf("%s", got.Answer)
	}
}

// TestTuneSearch: the answer names the value that is enough, and the one that left it open.
func TestTuneSearch(t *testing.T) {
	for _, test := range []struct {
		verdicts []string // of 1 to 3 against 4
		says     string
	}{
		{[]string{down, sameWords, sameWords}, "k: 2 is the smallest value that is good enough."},
		{[]string{sameWords, down, sameWords}, "k: 3 is the smallest value that is good enough."},
		{[]string{sameWords, sameWords, up}, "k: 1 is the smallest value that is good enough."},
		{[]string{down, down, down}, "k: no value below 4 is shown to be good enough."},
		{[]string{down, open, sameWords}, "k: 3 is the smallest value that is good enough. 2 is inconclusive."},
	} {
		run := &record.Run{ID: "tune-1"}
		for i, v := range test.verdicts {
			run.Effects = append(run.Effects, sciencetest.LevelEffect(string(rune('1'+i)), v, 1))
		}
		run.Effects = append(run.Effects, sciencetest.LevelEffect(settingfile.AsItIs, down, 0.2))
		got := Tune(tuning.Search(run, settingfile.Search{Key: "k", Names: []string{"1", "2", "3", "4"},
			Values: []string{"1", "2", "3", "4"}}, nil))
		if got.Answer != test.says {
			t.Errorf("%v: %s", test.verdicts, got.Answer)
		}
	}
}

// TestPartlyTried: of a list of which only some settings were tried, nothing is said
// of all.
func TestPartlyTried(t *testing.T) {
	for _, test := range []struct {
		whole    int // changes that the list makes
		list     string
		verdicts []string
		want     string
	}{
		{13, sameWords, []string{sameWords, sameWords}, "1.00× (0.99–1.01). net.a makes no difference."},
		{13, sameWords, []string{sameWords, sameWords, sameWords, sameWords}, "net.a and net.b make no difference."},
		{13, up, []string{up, down, sameWords, sameWords}, "net.a does it. net.b makes no difference."},
		{13, up, []string{open, open, open, open},
			"No single one of its settings that were tried clearly does it. net.a and net.b are unclear."},
		{2, sameWords, []string{sameWords, sameWords, sameWords, sameWords},
			"None of its settings makes a difference, alone or left out."},
	} {
		run, settings := sciencetest.List(test.list, sameWords, test.verdicts...)
		f := &run.Factors[0]
		for i := range f.Levels {
			f.Levels[i].Settings = 1
			if f.Levels[i].Against != "" {
				f.Levels[i].Settings = test.whole - 1
			}
		}
		f.Levels = append(f.Levels, record.Level{Name: settingfile.TheList, Settings: test.whole})
		if got := Tune(tuning.Judge(run, settings, nil)).Answer; !strings.Contains(got, test.want) {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}

// TestReasons: settings that were not tried are named with the reason, once for each, and of
// many the last are counted.
func TestReasons(t *testing.T) {
	var not []record.Untried
	for i, why := range strings.Fields("wide wide absent wide wide wide refused pattern switch") {
		not = append(not, record.Untried{Key: string(rune('a' + i)), Why: why})
	}
	if got, want := whyUntried(not),
		"a, b, d and 2 others (wide); c (absent); g (refused); 2 for other reasons"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := whyUntried(not[:4]), "a, b and d (wide); c (absent)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestManyUntried: many settings that were not tried are counted; an interval that says
// nothing is left out.
func TestManyUntried(t *testing.T) {
	run, _ := sciencetest.List(up, sameWords)
	settings := []record.TuneSetting{{Key: "net.a"}}
	for _, key := range strings.Fields("b c d e") {
		settings = append(settings, record.TuneSetting{Key: key, Verdict: record.NotTried, Why: "it is not there"})
	}
	if got, want := Tune(tuning.Judge(run, settings, nil)).Answer,
		". 4 of the list's 5 settings were not tried: see below."; !strings.HasSuffix(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
	for low, want := range map[float64]string{0.001: "0.05×", 0.02: "0.05× (at least 0.02)"} {
		e := &record.Effect{Ratio: record.EffectSize{Mean: 0.05, Low: low, High: 100}}
		if got := wording.Ratio(e); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestFullPath: at the limit the answer says how little a setting can add, by the highest
// limit of the treatments, and what the flows used before their congestion control was set.
func TestFullPath(t *testing.T) {
	run, settings := sciencetest.List(open, sameWords, open, open)
	f := run.Factors[0].Name
	for i, level := range []string{settingfile.AsItIs, settingfile.TheList, "only net.a"} {
		run.Treatments = append(run.Treatments, record.Treatment{Name: level, Levels: map[string]string{f: level},
			LimitBps: 100 + float64(i), Goodput: record.Estimate{MeanBps: 99}})
		run.Trials = append(run.Trials, record.Trial{Treatment: level, Levels: map[string]string{f: level},
			Flows: []record.Flow{{From: "client", CongestionControl: []string{"cubic", "bbr", "bbr"}[i]}}})
	}
	run.Factors[0].Baseline = settingfile.AsItIs
	want := "As it is, goodput is at 99.0 % of the path's limit: no setting can raise it by more than 1.1 %, or " +
		"3.1 % at the highest limit of what was tried."
	if got := Tune(tuning.Judge(run, settings, nil)).Answer; !strings.Contains(got, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for i := range run.Trials { // as it is with TCP timestamps, the list without
		run.Trials[i].Flows[0].SenderInfo = &netstate.TCPInfo{Options: byte(1 - min(i, 1))}
	}
	want = "no setting can raise it by more than 1.1 %, or 3.1 % without TCP timestamps, whose bytes then carry data."
	if got := Tune(tuning.Judge(run, settings, nil)).Answer; !strings.Contains(got, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestSubjectCounts: the list's own settings are counted, and what linerate added is named
// beside them, with the list and from the run later.
func TestSubjectCounts(t *testing.T) {
	of := func(list ...record.TuneSetting) *record.Tune {
		return &record.Tune{Written: &record.Effect{}, Settings: list}
	}
	a, b, c := record.TuneSetting{Key: "a", Value: "1"}, record.TuneSetting{Key: "b", Value: "1"},
		record.TuneSetting{Key: "c", Verdict: record.NotTried}
	added := record.TuneSetting{Key: "d", Value: "1", Added: "why"}
	corrected, replaced := b, added
	corrected.Corrected, replaced.Corrected = "b = 1k", "d = 2"
	for _, test := range []struct {
		list *record.Tune
		want string
		many bool
		of   int
	}{
		{of(a, b, c, added), "The 2 settings that could be tried and d = 1, which linerate added,", true, 3},
		{of(a, corrected, c, added),
			"The 2 settings that could be tried, as corrected and d = 1, which linerate added,", true, 3},
		{of(a, c, added), "The one setting that could be tried and d = 1, which linerate added,", true, 2},
		{of(c, added), "d = 1, which linerate added,", false, 1},
		{of(a, b, added), "The list as a whole and d = 1, which linerate added,", true, 2},
		{of(a, b, c, replaced), "The 3 settings that could be tried, with d = 1 in place of the list's,", true, 4},
		{of(a, b, c), "The 2 settings that could be tried, as tried,", true, 3}, // of an older run
		{of(a, corrected), "The list as corrected", false, 2},
	} {
		if got, many := newTuned(*test.list).subject(); got != test.want || many != test.many {
			t.Errorf("%q, %v, want %q", got, many, test.want)
		}
	}
	got := untriedOf([]record.TuneSetting{a, c, added})
	if want := "Of the list's 2 settings, 1 was not tried: c ()."; len(
		got) != 1 || got[0] != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestWordedLists: a run with the result of a list keeps the limits of its treatments in words.
func TestWordedLists(t *testing.T) {
	run := showtest.Ablated()
	conclusion, baseline := *run.Conclusion, *run.Conclusion.Conditions[0].Baseline
	baseline.Limit = record.Limit{None: record.NoLimitTransactions}
	conclusion.Conditions = slices.Clone(conclusion.Conditions)
	conclusion.Conditions[0].Baseline, run.Conclusion = &baseline, &conclusion
	got, want := Worded(run).Conclusion, wording.WithLimits(run).Conclusion
	if len(got.Lists) == 0 || got.Lists[0].Answer == "" || len(want.Conditions) == 0 ||
		want.Conditions[0].Baseline.LimitWhy == "" || !reflect.DeepEqual(got.Conditions, want.Conditions) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
