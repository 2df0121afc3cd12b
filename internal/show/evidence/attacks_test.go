package evidence

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/science/conclude"
	"linerate/internal/science/sciencetest"
	"linerate/internal/show/view"
)

// TestAttackTable: each attack has a row; one that sent less than was asked for is marked, and
// a note says why.
func TestAttackTable(t *testing.T) {
	run := sciencetest.Run(7, 2)
	for i := range run.Trials {
		run.Trials[i].Attacks = []record.Attack{
			{Kind: "syn-flood", From: "a", To: "b", AskedPerS: 1000, AttackCounts: record.AttackCounts{Sent: 1000,
				SentPerS: 500, Skipped: 700, Refused: 300}},
			{Kind: "slowloris", From: "a", To: "b", AskedPerS: 100, Connections: 50, AttackCounts: record.AttackCounts{
				SentPerS: 3, Open: 50, Closed: 6}},
		}
	}
	conclude.Conclude(run)
	table := Attacks(view.New(run))
	if table == nil || len(table.Rows) != 3*len(run.Treatments) {
		t.Fatalf("%+v", table)
	}
	var first, second []string
	for i := range table.Columns {
		first, second = append(first, table.Rows[1].Cells[i].Text), append(second, table.Rows[2].Cells[i].Text)
	}
	if want := []string{"syn-flood", "a → b", "500.0", "1000", "", ""}; !slices.Equal(first, want) ||
		table.Rows[1].Tone == 0 {
		t.Errorf("got %q, want %q, marked", first, want)
	}
	if want := []string{"slowloris", "a → b", "3.000", "100.0", "50", "50"}; !slices.Equal(second, want) ||
		table.Rows[2].Tone != 0 {
		t.Errorf("got %q, want %q, not marked", second, want)
	}
	notes := strings.Join(table.Notes, " ")
	for _, want := range []string{
		"50 % of what was asked for; 700 given up, since the sender was held up; 300 not taken by the " +
			"interface's queue",
		"6 closed by the other end"} {
		if !strings.Contains(notes, want) {
			t.Errorf("%q lacks %q", notes, want)
		}
	}
}
