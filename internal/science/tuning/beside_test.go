package tuning

import (
	"strings"
	"testing"

	"linerate/internal/model/record"

	"linerate/internal/model/settingfile"
)

// beside puts an effect on latency beside each of a run's: by level.
func beside(run *record.Run, latency map[string]string) {
	run.Responses = []string{"goodput", "latency_p99"}
	ratios := map[string]float64{record.Improves: 0.3, record.Worsens: 4, record.NoDifference: 1, record.Inconclusive: 1.2}
	for i := range run.Effects {
		e := &run.Effects[i]
		verdict := latency[e.To]
		if verdict == "" {
			verdict = sameWords
		}
		b := effectOf(e.To, verdict, ratios[verdict])
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
		"helps":                    {up, down, nil, record.Helps, true, "alone"},
		"more and later":           {up, down, map[string]string{alone: down}, record.Trades, false, "latency p99 worsens, 4.00× (3.99–4.01)"},
		"later in the list":        {up, sameWords, map[string]string{without: up}, record.Trades, false, "latency p99 improves, 0.30× (0.29–0.31) without it"},
		"more and sooner":          {up, down, map[string]string{alone: up}, record.Helps, true, "latency p99 improves"},
		"as much, later":           {sameWords, sameWords, map[string]string{alone: down}, record.Harms, false, "latency p99 worsens"},
		"as much, sooner":          {sameWords, sameWords, map[string]string{alone: up, without: down}, record.Helps, true, "latency p99 improves"},
		"inconclusive, sooner":     {open, sameWords, map[string]string{alone: up}, record.Inconclusive, false, "latency p99 improves"},
		"inconclusive, later":      {open, sameWords, map[string]string{alone: down}, record.Harms, false, "latency p99 worsens"},
		"less, sooner":             {down, up, map[string]string{alone: up}, record.Trades, false, "latency p99 improves"},
		"less, later":              {down, up, map[string]string{alone: down}, record.Harms, false, "latency p99 worsens"},
		"as much, sooner or later": {sameWords, sameWords, map[string]string{alone: up, without: up}, record.Mixed, false, "latency p99: alone it helps, and the list is better without it (0.30× (0.29–0.31) and 0.30× (0.29–0.31))"},
		"as much, later or sooner": {sameWords, sameWords, map[string]string{alone: down, without: down}, record.Mixed, false, "latency p99: alone it harms, and the list is worse without it"},
		"more, sooner or later":    {up, down, map[string]string{alone: up, without: up}, record.Mixed, false, "alone, and the list is worse without it; latency p99: alone it helps"},
		"less, sooner or later":    {down, up, map[string]string{alone: up, without: up}, record.Harms, false, "alone, and the list is better without it; latency p99: alone it helps"},
		"unsure, sooner or later":  {open, sameWords, map[string]string{alone: up, without: up}, record.Mixed, false, "latency p99: alone it helps"},
		"of latency nothing sure":  {up, down, map[string]string{alone: open, without: open}, record.Helps, true, "alone"},
	} {
		run, settings := runOf(up, sameWords, test.alone, test.removed, sameWords, sameWords)
		beside(run, test.latency)
		s := Judge(run, settings).Settings[0]
		if s.Verdict != test.want || s.Keep != test.keep || !strings.Contains(s.Why, test.why) || strings.HasPrefix(s.Why, ";") {
			t.Errorf("%s: %s, keep %t: %s; want %s, %t: …%s…", name, s.Verdict, s.Keep, s.Why, test.want, test.keep, test.why)
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
		{up, nil, "The list as a whole improves goodput: 4.00× (3.99–4.01); net.a does it"},
		{up, map[string]string{settingfile.TheList: down, only: down}, "improves goodput: 4.00× (3.99–4.01), but worsens latency p99 4.00× (3.99–4.01); net.a (alone, and the list is worse without it; latency p99 worsens, 4.00× (3.99–4.01)) is good for one thing and bad for another"},
		{up, map[string]string{settingfile.TheList: open}, "improves goodput: 4.00× (3.99–4.01); inconclusive: latency p99 1.20× (1.19–1.21)"},
		{up, map[string]string{settingfile.TheList: up}, "improves goodput: 4.00× (3.99–4.01), and improves latency p99 0.30× (0.29–0.31)"},
		{sameWords, map[string]string{settingfile.TheList: down}, "makes no difference of goodput beyond ±2 %: 1.00× (0.99–1.01), but worsens latency p99 4.00×"},
		{down, map[string]string{settingfile.TheList: down}, "worsens goodput: 0.25× (0.24–0.26), and worsens latency p99"},
		{down, map[string]string{settingfile.TheList: up}, "worsens goodput: 0.25× (0.24–0.26), but improves latency p99"},
	} {
		run, settings := runOf(test.list, sameWords, up, down, sameWords, sameWords)
		beside(run, test.latency)
		if got := Judge(run, settings).Answer; !strings.Contains(got, test.want) {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}

// TestProven: what is kept improves something and worsens nothing.
func TestProven(t *testing.T) {
	for _, test := range []struct {
		goodput, latency string
		want             bool
	}{
		{up, sameWords, true}, {up, open, true}, {up, up, true}, {up, down, false}, {sameWords, up, true}, {open, up, false}, {sameWords, sameWords, false}, {down, up, false},
	} {
		e := effectOf(settingfile.TheList, test.goodput, 1)
		e.Beside = []record.Effect{effectOf(settingfile.TheList, test.latency, 1)}
		if got := Proven(&e); got != test.want {
			t.Errorf("goodput %s, latency %s: %t", test.goodput, test.latency, got)
		}
	}
	if Proven(nil) {
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
	got := Search(run, settingfile.Search{Key: "k", Names: []string{"1", "2", "3", "4"}, Values: []string{"1", "2", "3", "4"}}, nil)
	if want := "k: 2 is the smallest value that is good enough. Against the largest it is as good, and improves latency p99 0.30× (0.29–0.31)."; got.Answer != want || got.Search.Enough != "2" {
		t.Errorf("%s", got.Answer)
	}
}

// TestNotTogether: settings that each make answers quicker, and carry nothing more,
// need not each other; those that are nothing alone do.
func TestNotTogether(t *testing.T) {
	run, settings := runOf(up, sameWords, sameWords, sameWords, sameWords, sameWords)
	beside(run, map[string]string{settingfile.TheList: up, "only net.a": up, "only net.b": up})
	if got := Judge(run, settings).Answer; !strings.HasSuffix(got, "; net.a and net.b do it.") {
		t.Error(got)
	}
	run, settings = runOf(up, sameWords, sameWords, sameWords, sameWords, sameWords)
	beside(run, map[string]string{settingfile.TheList: up, "without net.a": down, "without net.b": down})
	if got := Judge(run, settings).Answer; !strings.Contains(got, "net.a and net.b do it together: alone neither makes a difference") {
		t.Error(got)
	}
}

// TestDependsBeside: the answer says what it is that depends on the others.
func TestDependsBeside(t *testing.T) {
	run, settings := runOf(up, sameWords, sameWords, sameWords, sameWords, sameWords)
	beside(run, map[string]string{"only net.a": up, "without net.a": up})
	if got := Judge(run, settings).Answer; !strings.Contains(got, "net.a (latency p99: alone it helps, and the list is better without it (0.30× (0.29–0.31) and 0.30× (0.29–0.31))) depends on the others") {
		t.Error(got)
	}
}
