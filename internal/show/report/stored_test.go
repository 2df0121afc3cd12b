package report

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/model/record"
)

// storedRun is a run as science concludes it, not as this package imagines it.
func storedRun(t *testing.T) *record.Run {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "model", "record", "testdata", "arp-flux-run.json"))
	if err != nil {
		t.Fatal(err)
	}
	run := &record.Run{}
	if err := json.Unmarshal(data, run); err != nil {
		t.Fatal(err)
	}
	return run
}

func TestStoredRun(t *testing.T) {
	run := storedRun(t)
	v := newView(run)
	if v.baseline == nil || v.best == nil || v.focus != "server" {
		t.Fatalf("baseline %v, best %v, interfaces of %q", v.baseline, v.best, v.focus)
	}
	// What is called best here is what the answer recommends.
	if !strings.Contains(run.Answer, v.best.name) {
		t.Errorf("the page shows %q as best, the answer says %q", v.best.name, run.Answer)
	}
	out := text(t, run, TextOptions{})
	for _, line := range strings.Split(out, "\n") {
		if cells(line) > 80 {
			t.Errorf("a line of %d: %s", cells(line), line)
		}
	}
	wrong := 0
	for _, e := range parse(t, "stored", html(t, run)) {
		if e.name == "tr" && e.attrs["class"] == "wrong" {
			wrong++
		}
	}
	if wrong == 0 {
		t.Error("no poisoned row is marked")
	}
	if n, _ := v.wrongEntries(v.best.cells[0].Treatment); n != 0 {
		t.Errorf("the best fix has %d wrong rows", n)
	}
	names := ""
	for _, f := range Figures(run) {
		names += f.Name + " "
	}
	if names != "goodput effects interfaces topology " { // it holds no samples to draw a series from
		t.Errorf("figures: %s", names)
	}
}
