package tuning

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/settingfile"
	"linerate/internal/science/sciencetest"
)

// What a result shows is asserted of runs of package sciencetest.
var effectOf, runOf, beside = sciencetest.LevelEffect, sciencetest.List, sciencetest.Beside

const (
	up, down  = record.Improves, record.Worsens
	sameWords = record.NoDifference
	open      = record.Inconclusive
)

// codes are those of a setting's reasons, with their arguments: "missed; response latency_p99 alone".
func codes(s record.TuneSetting) string {
	var list []string
	for _, r := range s.Reasons {
		list = append(list, strings.Join(append([]string{r.Code}, r.Args...), " "))
	}
	return strings.Join(list, "; ")
}

func TestVerdicts(t *testing.T) {
	for _, test := range []struct {
		alone, removed, want string
		keep                 bool
	}{
		{up, down, record.Helps, true},
		{up, sameWords, record.Helps, true},   // redundant in the list
		{sameWords, down, record.Helps, true}, // only with others
		{open, down, record.Helps, true},
		{up, open, record.Helps, true},
		{sameWords, sameWords, record.NoDifference, false},
		{sameWords, open, record.Inconclusive, false},
		{open, sameWords, record.Inconclusive, false},
		{down, up, record.Harms, false},
		{sameWords, up, record.Harms, false},
		{down, sameWords, record.Harms, false},
		{up, up, record.Mixed, false},
		{down, down, record.Helps, true}, // only with others, although alone it harms
	} {
		run, settings := runOf(up, sameWords, test.alone, test.removed, sameWords, sameWords)
		got := Judge(run, settings, nil).Settings[0]
		if got.Verdict != test.want || got.Keep != test.keep {
			t.Errorf("alone %s, without it %s: %s, keep %t; want %s, %t", test.alone, test.removed, got.Verdict,
				got.Keep, test.want, test.keep)
		}
	}
}

// Without ablation nothing is said of single settings, unless there is but one.
func TestListAlone(t *testing.T) {
	run, _ := runOf(up, sameWords)
	two := []record.TuneSetting{{Key: "net.a"}, {Key: "net.b"}, {Key: "net.c", Verdict: record.NotTried,
		Why: "it is not there"}}
	got := Judge(run, two, nil)
	if got.Settings[0].Verdict != record.Together || got.Settings[0].Keep ||
		got.Settings[2].Verdict != record.NotTried {
		t.Errorf("%+v", got.Settings)
	}
	got = Judge(run, two[1:], nil)
	if got.Settings[0].Verdict != record.Helps || !got.Settings[0].Keep {
		t.Errorf("%+v", got.Settings)
	}
}

// TestOnePart: of a list that is taken apart a single setting may have been tried;
// what the list does is not that setting's.
func TestOnePart(t *testing.T) {
	run, settings := runOf(up, sameWords, sameWords, down)
	got := Judge(run, settings, nil)
	if s := got.Settings[0]; s.Verdict != record.Helps || s.Alone.Ratio.Mean != 1 ||
		codes(s) != record.WhyMissed {
		t.Errorf("%+v", s)
	}
}

// The smallest value that is good enough is the last in a row without a loss: an
// odd good one below a bad one is chance.
func TestSearch(t *testing.T) {
	for _, test := range []struct {
		verdicts []string // of 1 to 3 against 4
		want     string
		unsure   string
	}{
		{[]string{down, sameWords, sameWords}, "2", ""},
		{[]string{sameWords, down, sameWords}, "3", ""},
		{[]string{sameWords, sameWords, up}, "1", ""},
		{[]string{down, down, down}, "", ""},
		{[]string{down, open, sameWords}, "3", "2"},
	} {
		run := &record.Run{}
		for i, v := range test.verdicts {
			run.Effects = append(run.Effects, effectOf(string(rune('1'+i)), v, 1))
		}
		run.Effects = append(run.Effects, effectOf(settingfile.AsItIs, down, 0.2))
		got := Search(run, settingfile.Search{Key: "k", Names: []string{"1", "2", "3", "4"},
			Values: []string{"1", "2", "3", "4"}}, nil)
		if got.Search.Enough != test.want || got.Search.Unsure != test.unsure {
			t.Errorf("%v: %+v", test.verdicts, got.Search)
		}
	}
}

func TestDoubtsComeAlong(t *testing.T) {
	run, settings := runOf(up, sameWords, up, down)
	run.Trust = []record.Check{{Check: "limit", Pass: true}, {Check: "alive", Detail: "a flow died"}}
	if got := Judge(run, settings, nil).Trust; len(got) != 1 || got[0].Check != "alive" {
		t.Errorf("%+v", got)
	}
}

// In each condition its own effects and figures count.
func TestConditions(t *testing.T) {
	run, settings := runOf(up, sameWords, up, down, sameWords, sameWords)
	other, _ := runOf(sameWords, sameWords, sameWords, sameWords, sameWords, sameWords)
	for i := range run.Effects {
		run.Effects[i].At = map[string]string{"path": "long"}
		other.Effects[i].At = map[string]string{"path": "short"}
	}
	run.Effects = append(run.Effects, other.Effects...)
	run.Factors[0].Baseline = settingfile.AsItIs
	for path, mean := range map[string]float64{"long": 10e6, "short": 800e6} {
		for _, level := range []string{settingfile.AsItIs, settingfile.TheList} {
			run.Treatments = append(run.Treatments,
				record.Treatment{Levels: map[string]string{"path": path, run.Factors[0].Name: level},
					Goodput:   record.Estimate{MeanBps: mean},
					Responses: []record.ResponseEstimate{{Response: "goodput", Mean: mean, Trials: 6}}})
		}
	}
	runs, at := Conditions(run)
	if len(runs) != 2 || at[0]["path"] != "long" || at[1]["path"] != "short" {
		t.Fatalf("%d conditions: %v", len(runs), at)
	}
	if long, short := Judge(runs[0], settings, nil),
		Judge(runs[1], settings, nil); long.Settings[0].Verdict != record.Helps ||
		short.Settings[0].Verdict != record.NoDifference {
		t.Errorf("%+v\n%+v", long.Settings, short.Settings)
	} else if long.Figures[0].Responses[0].Mean != 10e6 || short.Figures[0].Responses[0].Mean != 800e6 {
		t.Errorf("figures %+v and %+v", long.Figures, short.Figures)
	}
}

// TestFullPath: at the limit the result says how little a setting can add, by the highest
// limit of the treatments, and what the flows used before their congestion control was set.
func TestFullPath(t *testing.T) {
	run, settings := runOf(open, sameWords, open, open)
	f := run.Factors[0].Name
	for i, level := range []string{settingfile.AsItIs, settingfile.TheList, "only net.a"} {
		run.Treatments = append(run.Treatments, record.Treatment{Name: level, Levels: map[string]string{f: level},
			LimitBps: 100 + float64(i), Goodput: record.Estimate{MeanBps: 99}})
		run.Trials = append(run.Trials, record.Trial{Treatment: level, Levels: map[string]string{f: level},
			Flows: []record.Flow{{From: "client", CongestionControl: []string{"cubic", "bbr", "bbr"}[i]}}})
	}
	run.Factors[0].Baseline = settingfile.AsItIs
	if got := Judge(run, settings, nil).Full; got == nil || got.Share != 0.99 || got.Most <= got.Left ||
		got.WithoutTimestamps {
		t.Errorf("%+v", got)
	}
	for i := range run.Trials { // as it is with TCP timestamps, the list without
		run.Trials[i].Flows[0].SenderInfo = &netstate.TCPInfo{Options: byte(1 - min(i, 1))}
	}
	if got := Judge(run, settings, nil).Full; got == nil || !got.WithoutTimestamps {
		t.Errorf("%+v", got)
	}
	run.Treatments[0].Goodput.MeanBps = 97 // beyond the margin
	if got := Judge(run, settings, nil); got.Full != nil {
		t.Errorf("at 97 %% of the limit: %+v", got.Full)
	}
	s := record.TuneSetting{Key: setting.CongestionControl, Alone: &record.Effect{Factor: f, From: settingfile.AsItIs,
		To: "only net.a"}}
	if controls(run, &s); s.Value != "bbr" || s.Prior["client"] != "cubic" {
		t.Errorf("congestion control %+v", s)
	}
}

// TestCount: the list's own settings are counted without what linerate added.
func TestCount(t *testing.T) {
	list := []record.TuneSetting{{Key: "a"}, {Key: "b", Corrected: "b = 1k"}, {Key: "c", Verdict: record.NotTried},
		{Key: "d", Value: "1", Added: "why"},
		{Key: "e", Corrected: "e = 2", Added: "why"}, {Key: "f", Added: "stored"}}
	if c := Count(list); c.Of != 4 || c.Tried != 3 || !slices.Equal(c.Added, []string{"d = 1", "f"}) {
		t.Errorf("%+v", c)
	}
}
