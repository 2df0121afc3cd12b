package present

import (
	"cmp"
	"testing"

	"linerate/internal/show/document"
	"linerate/internal/show/showtest"
	"linerate/internal/show/view"
)

func TestUnconnectedFlowsWarnUnlessAllowed(t *testing.T) {
	run := showtest.ArpFlux()
	if got := warnings(view.New(run)); len(got) != 0 {
		t.Errorf("flows that may fail to connect gave %q", got)
	}
	for i := range run.Trials {
		run.Trials[i].Unreachable = false
	}
	got := warnings(view.New(run))
	if len(got) != 2 || got[0] != "6 of 8 flows could not connect in 4 of 4 trials: arp + rp_filter=1, writes." {
		t.Errorf("flows that had to connect gave %q", got)
	}
}

// TestSingleTrial: a single trial has its figures in a list, and no bar, heading or fold
// that says the same again.
func TestSingleTrial(t *testing.T) {
	run := showtest.Variants()["one-trial"]
	if len(run.Trials) != 1 {
		t.Fatalf("%d trials", len(run.Trials))
	}
	for _, s := range Report(run).Sections {
		if len(s.Blocks) == 0 {
			t.Errorf("%s has no content", cmp.Or(s.Title, s.ID))
		}
		if s.ID != "goodput" {
			continue
		}
		for _, b := range s.Blocks {
			if table, is := b.(*document.Table); is && (len(table.Rows) == 0 ||
				table.Rows[0].Cells[0].Text != "goodput") {
				t.Errorf("rows %+v, want the responses'", table.Rows)
			}
			if f, is := b.(document.Figure); is && f.Name == "goodput" {
				t.Error("a bar of a single value is drawn")
			}
		}
	}
}
