package cli

import (
	"testing"
	"time"

	"linerate/internal/control/active"
	"linerate/internal/control/run"
)

// TestDescribing: the run that a list's trials are made in is one thing with the list, however
// it is seen; a run with a longer number is another.
func TestDescribing(t *testing.T) {
	dir := t.TempDir()
	claim, _, err := active.Enter(dir, active.Work{What: "tune a.conf", Since: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	defer claim.Leave()
	shown := ""
	describing(&claim, "tune a.conf", func(p run.Progress) { shown = p.Run })(run.Progress{Run: "tune-5"})
	other, works, err := active.Enter(dir, active.Work{What: "measure"})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Leave()
	if len(works) != 1 || works[0].What != "run tune-5, of tune a.conf" || shown != "tune-5" {
		t.Fatalf("%+v, shown %q", works, shown)
	}
	for title, want := range map[string]bool{runTitle("tune-5", ""): true, runTitle("tune-51", ""): false,
		runTitle("tune", ""): false} {
		if isOf(works[0].What, title) != want {
			t.Errorf("%s: want %t", title, want)
		}
	}
	if !isOf("run nas-7", "run nas-7") || isOf("run nas-71", "run nas-7") {
		t.Error("a run is itself, and no other")
	}
}
