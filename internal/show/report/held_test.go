package report

import (
	"strings"
	"testing"

	"linerate/internal/model/record"
)

// foretold is a run whose flows have something predicted and were held back.
func foretold(measured func(f *record.Flow)) *record.Run {
	run := arpFlux()
	for i := range run.Trials {
		for j := range run.Trials[i].Flows {
			f := &run.Trials[i].Flows[j]
			f.Connected = true
			f.LimitedBy, f.LimitedWhy = "receiver window", "it waited all the time"
			f.Expected = &record.Prediction{LowBps: 0.99 * f.GoodputBps, HighBps: f.GoodputBps, LimitedBy: "receiver window", Why: "a window in 50 ms"}
			measured(f)
		}
	}
	return run
}

func textOf(t *testing.T, run *record.Run) string {
	t.Helper()
	var b strings.Builder
	if err := Text(&b, run, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestHeld: what was predicted stands beside what was measured, in text, page and
// CSV, and what did not come true is marked.
func TestHeld(t *testing.T) {
	run := foretold(func(*record.Flow) {})
	text := textOf(t, run)
	for _, want := range []string{"Predicted and measured", "predicted", "receiver window"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "not as predicted") {
		t.Errorf("all is as predicted:\n%s", text)
	}
	wrong := textOf(t, foretold(func(f *record.Flow) { f.GoodputBps /= 2 }))
	if !strings.Contains(wrong, "0 of\n") && !strings.Contains(wrong, "; 0 of") {
		t.Errorf("hardly anything is as predicted:\n%s", wrong)
	}
	var page strings.Builder
	if err := HTML(&page, run); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`id="held"`, "a window in 50 ms", "it waited all the time"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	table := newView(run).heldCSV()
	if len(table) < 2 || len(table[0]) != len(table[1]) || table[1][6] != "receiver window" {
		t.Errorf("CSV is %q", table)
	}
}

// TestHeldAlone: without predictions there is a line for each cause; where nothing
// is known there is none.
func TestHeldAlone(t *testing.T) {
	bare := func(f *record.Flow) { f.Expected = nil }
	text := textOf(t, foretold(bare))
	if !strings.Contains(text, "Held by   receiver window\n") || strings.Contains(text, "Predicted") {
		t.Errorf("the text is\n%s", text)
	}
	mixed := foretold(bare)
	for i := range mixed.Trials[0].Flows {
		mixed.Trials[0].Flows[i].LimitedBy = ""
	}
	if text := textOf(t, mixed); !strings.Contains(text, "not attributed") {
		t.Errorf("the text is\n%s", text)
	}
	none := textOf(t, foretold(func(f *record.Flow) { f.Expected, f.LimitedBy = nil, "" }))
	if strings.Contains(none, "Held by") {
		t.Errorf("the text is\n%s", none)
	}
}
