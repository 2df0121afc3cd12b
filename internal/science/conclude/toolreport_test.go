package conclude

import (
	"math"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/science/sciencetest"
)

// TestToolReport: connections that add to a program's figure and aliases that do not are
// distinguished; goodput that does not rise along the factor is flat.
func TestToolReport(t *testing.T) {
	const perConnection = sciencetest.Limit * 0.0006
	for name, test := range map[string]struct {
		run                  *record.Run
		connections, aliases string // verdicts on the surplus
		predicted            float64
		flat                 bool
	}{
		"an artefact": {sciencetest.Aliases(3, 6, perConnection, 1.03), record.Worsens, record.NoDifference,
			1.03, true},
		"not predicted": {sciencetest.Aliases(3, 6, perConnection, 0.5), record.Worsens, record.NoDifference,
			0.5, true},
		"no surplus": {sciencetest.Aliases(3, 6, perConnection/1000, 1), record.NoDifference,
			record.NoDifference, 0, true},
		"by chance": {sciencetest.Lottery(sciencetest.Aliases(3, 6, perConnection, 1)), record.Worsens,
			record.Inconclusive, 1, true},
		"a single block": {sciencetest.Aliases(3, 1, perConnection, 1), record.Inconclusive,
			record.Inconclusive, 1, false},
	} {
		Conclude(test.run)
		r := test.run.Conclusion.ToolReport
		if r == nil || r.Factor != "aliases" || r.Level != "254" || len(r.Surplus) != 2 ||
			r.Surplus[0].Verdict != test.connections || r.Surplus[1].Verdict != test.aliases ||
			math.Abs(r.Predicted-test.predicted) > 1e-6 || r.Flat != test.flat ||
			r.Rises != (test.connections == record.Worsens) || len(r.Published) != 1 || r.Elsewhere != nil {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// TestSettledSubject: with all aliases in every trial, the conclusion is about what else
// moves the sum.
func TestSettledSubject(t *testing.T) {
	run := sciencetest.Aliases(3, 6, sciencetest.Limit*0.0006, 1)
	run.Trials = slices.DeleteFunc(run.Trials, func(t record.Trial) bool {
		return t.Levels["aliases"] != "254" ||
			t.Levels["connections"] != "254"
	})
	for i := range run.Trials {
		if s := run.Trials[i].ToolReported; run.Trials[i].Levels["queue"] == "long" {
			s.SurplusBps, s.SumBps = s.SurplusBps+0.2*s.GoodputBps, s.SumBps+0.2*s.GoodputBps
		}
	}
	for i := range run.Factors[:2] {
		run.Factors[i].Levels = run.Factors[i].Levels[2:]
	}
	Conclude(run)
	r := run.Conclusion.ToolReport
	if r == nil || r.Level != "254" || r.Cost != nil || r.Published != nil || len(r.Elsewhere) != 1 ||
		r.Elsewhere[0].To != "long" || r.Elsewhere[0].Verdict != record.Worsens {
		t.Errorf("%+v", r)
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
	want := "connections 254 at  1 short, connections 254 at  254 short, aliases 254 at 1  short, aliases 254 at " +
		"254  short, queue long at 254 254 "
	if strings.Join(got, ", ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), want)
	}
	if rows := Rows(run, run.Factors[1]); len(rows) != 3 || rows[0].Name != "connections 1, aliases 1, short" ||
		rows[2].Name != "connections 254, aliases 254, short" {
		t.Errorf("%d rows", len(rows))
	}
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
