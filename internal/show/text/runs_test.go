package text

import (
	"strings"
	"testing"
	"time"

	"linerate/internal/control/notebook"
	"linerate/internal/model/record"
)

// TestRuns: no line is wider than the terminal, IDs are whole, and what a file or a user
// said cannot reach the terminal raw.
func TestRuns(t *testing.T) {
	started := time.Date(2026, 3, 2, 9, 30, 0, 0, time.UTC)
	long := strings.Repeat("a-study-with-a-long-name-", 3) + "7"
	runs := []notebook.Summary{
		{ID: "nas-7", Name: "after the new cable in port 3", Started: started, Trials: 14, Status: notebook.Complete,
			Answer: "With kernel defaults, all traffic uses one of four interfaces: 119.5 of 478.2 MB/s.",
			NoteList: []record.Note{
				{Text: "the \x1b[31mold\x1b[0m switch, whose third port has been replaced by a new one since"}}},
		{ID: long, Started: started, Trials: 3, Status: notebook.Interrupted},
		{ID: "nas-6", Started: started, Status: notebook.Interrupted, Error: "no such interface"},
		{ID: "nas-5", Started: started, Trials: 2, Status: notebook.Running, Answer: "Nothing yet."},
	}
	for width, want := range map[int]string{
		80: `run    2026 (UTC)   name                  trials  answer
nas-7  03-02 09:30  after the new cable…      14
    With kernel defaults, all traffic uses one of four interfaces: 119.5 of…
    note: the �[31mold�[0m switch, whose third port has been replaced by a new…
` + long + `
       03-02 09:30                             3  interrupted
nas-6  03-02 09:30                             0  failed: no such interface
nas-5  03-02 09:30                             2  running: Nothing yet.
latest is nas-7
`,
		120: `run    date (UTC)        name                  trials  answer
nas-7  2026-03-02 09:30  after the new cable…      14  With kernel defaults, all traffic uses one of four interfaces…
    note: the �[31mold�[0m switch, whose third port has been replaced by a new one since
` + long + `
       2026-03-02 09:30                             3  interrupted
nas-6  2026-03-02 09:30                             0  failed: no such interface
nas-5  2026-03-02 09:30                             2  running: Nothing yet.
latest is nas-7
`,
	} {
		var b strings.Builder
		if err := Runs(&b, runs, runs[0].ID, Options{Width: width}); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); got != want {
			t.Errorf("in %d columns:\n%s\nwant\n%s", width, got, want)
		}
	}
}

// TestRunsMeasured: how a measurement was made and its figure are on lines of every width.
func TestRunsMeasured(t *testing.T) {
	const said = "iperf3 write, 1 flow: 940.1 Mbit/s"
	runs := []notebook.Summary{{ID: "measure-192.168.1.10_12", Started: time.Date(2026, 3, 2, 9, 30, 0, 0, time.UTC),
		Trials: 1, Answer: said + ", 99.9 % of the limit of the ends' interfaces, in a single trial."}}
	for _, width := range []int{60, 80, 200} {
		var b strings.Builder
		if err := Runs(&b, runs, "", Options{Width: width}); err != nil || !strings.Contains(b.String(), said) {
			t.Errorf("%d: %v\n%s", width, err, b.String())
		}
	}
}

// TestRunsMarked: a run whose trust checks failed, or that ended early, is marked before its answer
// at every width, which leaves the figure in the line.
func TestRunsMarked(t *testing.T) {
	const said = "UDP write, 1 flow: 96.56 Mbit/s, 98.84 % lost"
	doubtful := &record.Conclusion{Doubts: []string{"wire", "generator", "steady"}}
	for _, test := range []struct {
		run  notebook.Summary
		want string
	}{
		{notebook.Summary{Answer: said, Conclusion: &record.Conclusion{}}, " " + said},
		{notebook.Summary{Answer: said, Conclusion: doubtful}, " in doubt: " + said},
		{notebook.Summary{Answer: said, Conclusion: doubtful, Status: notebook.Interrupted},
			" interrupted, in doubt: " + said},
		{notebook.Summary{Conclusion: doubtful, Status: notebook.Running}, " running, in doubt\n"},
		{notebook.Summary{Error: "no such interface", Conclusion: doubtful}, " failed: no such interface"},
	} {
		test.run.ID = "measure-192.168.1.10_12"
		for _, width := range []int{80, 120, 200} {
			var b strings.Builder
			if err := Runs(&b, []notebook.Summary{test.run}, "", Options{Width: width}); err != nil ||
				!strings.Contains(b.String(), test.want) {
				t.Errorf("%d columns: %v\n%s\nwant %q", width, err, b.String(), test.want)
			}
		}
	}
}

// TestRunsOfYears: without room for it in each line the year is in the head, unless runs are
// of several years.
func TestRunsOfYears(t *testing.T) {
	at := time.Date(2026, 3, 2, 9, 30, 0, 0, time.UTC)
	runs := []notebook.Summary{{ID: "b", Started: at}, {ID: "a", Started: at.AddDate(-1, 0, 0)}}
	for n, want := range map[int]string{1: "2026 (UTC)   trials", 2: "b    2026-03-02 09:30"} {
		var b strings.Builder
		if err := Runs(&b, runs[:n], "", Options{Width: 80}); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%d: %v\n%s\nwant %q", n, err, b.String(), want)
		}
	}
}
