package conclude

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/science/sciencetest"
)

// TestAccounted: connections that add to a program's figure and aliases that do not
// are told apart; that the rise is an artefact is only said when the truth has none
// and the surplus was predicted.
func TestAccounted(t *testing.T) {
	const perConnection = sciencetest.Limit * 0.0006
	for name, test := range map[string]struct {
		run  *record.Run
		want []string
		not  string
	}{
		"an artefact": {sciencetest.Aliases(3, 6, perConnection, 1.03), []string{
			"254 aliases cost ", " % of goodput, which is ",
			"iperf's clients together say 4.4", "15.3 % more than was received and more than the path can carry; connections add to that (+15.2 ± ", " points) and aliases make no difference (",
			"The published rise (920.0 → 991.0 Mbit/s) is an accounting artefact, here 3.8", "103 % of it follows from what the kernel counts, without asking iperf",
		}, "tool-agrees"},
		"not predicted": {sciencetest.Aliases(3, 6, perConnection, 0.5), []string{"is not settled by this run", "50 % of it follows"}, "artefact"},
		"no surplus": {sciencetest.Aliases(3, 6, perConnection/1000, 1), []string{
			"connections make no difference (0.0 ± 0.0 points) and aliases make no difference (", "does not show here",
		}, "artefact"},
		"by chance":      {lottery(sciencetest.Aliases(3, 6, perConnection, 1)), []string{"and whether aliases add to it is open ("}, "aliases make"},
		"a single block": {sciencetest.Aliases(3, 1, perConnection, 1), []string{"What 254 aliases cost is not known", "is not settled"}, "artefact"},
	} {
		Conclude(test.run)
		for _, want := range test.want {
			if !strings.Contains(test.run.Answer, want) {
				t.Errorf("%s: want %q in\n%s", name, want, test.run.Answer)
			}
		}
		if strings.Contains(test.run.Answer, test.not) {
			t.Errorf("%s: it says %q:\n%s", name, test.not, test.run.Answer)
		}
	}
}

// TestSettledSubject: with all aliases in every trial, the answer is about what else
// moves the sum.
func TestSettledSubject(t *testing.T) {
	run := sciencetest.Aliases(3, 6, sciencetest.Limit*0.0006, 1)
	run.Trials = slices.DeleteFunc(run.Trials, func(t record.Trial) bool { return t.Levels["aliases"] != "254" || t.Levels["connections"] != "254" })
	for i := range run.Trials {
		if s := run.Trials[i].ToolReported; run.Trials[i].Levels["queue"] == "long" {
			s.SurplusBps, s.SumBps = s.SurplusBps+0.2*s.GoodputBps, s.SumBps+0.2*s.GoodputBps
		}
	}
	for i := range run.Factors[:2] {
		run.Factors[i].Levels = run.Factors[i].Levels[2:]
	}
	Conclude(run)
	for _, want := range []string{"Goodput with 254 aliases is ", "iperf's clients together say ", "There is more with queue long (+20.", " points)."} {
		if !strings.Contains(run.Answer, want) {
			t.Errorf("want %q in\n%s", want, run.Answer)
		}
	}
	if strings.Contains(run.Answer, "cost") || strings.Contains(run.Answer, "published") {
		t.Error(run.Answer)
	}
}

// TestBetween: a design of parts compares what it has tried, and misses nothing.
func TestBetween(t *testing.T) {
	run := sciencetest.Aliases(3, 2, 1e5, 1)
	Conclude(run)
	var got []string
	for _, e := range run.Effects {
		got = append(got, e.Factor+" "+e.To+" at "+e.At["connections"]+" "+e.At["aliases"]+" "+e.At["queue"])
	}
	want := "connections 254 at  1 short, connections 254 at  254 short, aliases 254 at 1  short, aliases 254 at 254  short, queue long at 254 254 "
	if strings.Join(got, ", ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), want)
	}
	if rows := Rows(run, run.Factors[1]); len(rows) != 3 || rows[0].Name != "connections 1, aliases 1, short" || rows[2].Name != "connections 254, aliases 254, short" {
		t.Errorf("%d rows", len(rows))
	}
}

// lottery adds to the surplus of every other trial at all aliases what a client adds
// that has the link to itself at its end.
func lottery(run *record.Run) *record.Run {
	for i := range run.Trials {
		t := &run.Trials[i]
		if t.Levels["aliases"] == "254" && t.Levels["connections"] == "254" && t.Block%2 == 0 {
			s := *t.ToolReported
			s.SurplusBps, s.SumBps, s.PredictedBps = s.SurplusBps+0.07*s.GoodputBps, s.SumBps+0.07*s.GoodputBps, s.PredictedBps+0.07*s.GoodputBps
			t.ToolReported = &s
		}
	}
	return run
}

// TestSingleLevel: a condition of the whole run does not keep its treatments from
// being the rows of a table.
func TestSingleLevel(t *testing.T) {
	run := sciencetest.Aliases(3, 2, 1e5, 1)
	run.Trials = slices.DeleteFunc(run.Trials, func(t record.Trial) bool { return t.Levels["queue"] == "long" })
	for i := range run.Trials {
		run.Trials[i].Levels["queue"] = "long"
	}
	run.Factors[2].Levels = run.Factors[2].Levels[1:]
	Conclude(run)
	if rows := Rows(run, run.Factors[1]); len(rows) != 3 {
		t.Errorf("%d rows of 3", len(rows))
	}
}
