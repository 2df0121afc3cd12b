package report

import (
	"strings"
	"testing"

	"linerate/internal/model/record"
)

// TestOutages: what happened in the window stands in text and page, with what became
// of running flows; a run in which nothing did says nothing of it.
func TestOutages(t *testing.T) {
	run := arpFlux()
	written := func() (text, page string) {
		var a, b strings.Builder
		if err := Text(&a, run, TextOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := HTML(&b, run); err != nil {
			t.Fatal(err)
		}
		return a.String(), b.String()
	}
	if text, page := written(); strings.Contains(text, "running flows") || strings.Contains(page, `id="outages"`) {
		t.Error("nothing happened, and it is spoken of")
	}
	run.Treatments[0].Outages = []record.Outages{{
		AtS: 1.5, What: []string{"spine1: link down1 state down"}, ResolutionS: 0.0072,
		Withdrawn: record.OutageGroup{Flows: 8, Moved: 7, Stopped: 1, LostS: 0.214, MostLostS: 2},
		Others:    record.OutageGroup{Flows: 24, Moved: 6, Stopped: 2},
	}}
	run.Trials[0].Flows[0].Outages = []record.Outage{{AtS: 1.5, LostS: 0.214, ResolutionS: 0.0072, Resumed: true, Moved: true, Before: []string{"b.eth0"}, After: []string{"b.eth1"}}}
	text, page := written()
	for _, want := range []string{"6 of 24 (25 %), 2 stopped", "214 ms (1 of 8 for"} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, want := range []string{"spine1: link down1 state down", "at 1.5 s", "214 ms (1 of 8 for the rest of the window)", "6 of 24 (25 %), 2 stopped", "outages.csv"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the page", want)
		}
	}
	for line := range strings.Lines(text) {
		if cells(strings.TrimRight(line, "\n")) > 80 {
			t.Errorf("wider than 80 columns: %q", line)
		}
	}
	if strings.Contains(text, " at 1.5 s") {
		t.Errorf("one instant is told as if there were others:\n%s", text)
	}
	// Two instants of one treatment, however many treatments there are.
	later := run.Treatments[0].Outages[0]
	later.AtS = 2.5
	run.Treatments[0].Outages = append(run.Treatments[0].Outages, later)
	text, _ = written()
	for _, want := range []string{" at 1.5 s ", " at 2.5 s "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
