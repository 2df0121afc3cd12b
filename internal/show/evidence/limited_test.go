package evidence

import (
	"strings"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/show/view"
)

// TestLimitedTogether: the flows between two hosts are a row with their sum, the mean of the
// trials, and their number.
func TestLimitedTogether(t *testing.T) {
	flow := func(from string, bps float64) record.Flow {
		return record.Flow{From: from, To: "nas", Connected: true, GoodputBps: bps, LimitedBy: "full link",
			Expected: &record.Prediction{LowBps: 0.9 * bps, HighBps: 1.1 * bps, LimitedBy: "full link"}}
	}
	run := &record.Run{Unit: "bit/s", Responses: []string{"goodput"}, Treatments: []record.Treatment{
		{Name: "as it is", Baseline: true}}}
	for n := range 2 {
		run.Trials = append(run.Trials, record.Trial{Block: n + 1, Treatment: "as it is",
			Flows: []record.Flow{flow("client1", 300e6), flow("client2", 206e6), flow("client2", 150e6)}})
	}
	text := func() string {
		var rows []string
		for _, r := range Limited(view.New(run)).Rows {
			var cells []string
			for _, c := range r.Cells {
				cells = append(cells, c.Text)
			}
			rows = append(rows, strings.Join(cells, " | "))
		}
		return strings.Join(rows, "\n")
	}
	if got, want := text(),
		"as it is, client1 → nas | 270–330 | 300 | full link\nas it is, client2 → nas ×2 | 320–392 | 356 | "+
			"full link"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	for n := range run.Trials {
		run.Trials[n].Flows = run.Trials[n].Flows[1:]
	}
	if got, want := text(), "as it is, 2 flows | 320–392 | 356 | full link"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, trial := range run.Trials {
		for i := range trial.Flows {
			trial.Flows[i].LimitedBy, trial.Flows[i].LimitedWhy = "", "a window of 1 s is too short"
		}
	}
	if got, want := text(), "as it is, 2 flows | 320–392 | 356 | not attributed: a window of 1 s is too short"; got !=
		want {
		t.Errorf("%s, want %s", got, want)
	}
}
