package html

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestRemove: what was written for a run is removed, and nothing else that a notebook names.
func TestRemove(t *testing.T) {
	began := time.Date(2026, 3, 2, 9, 30, 0, 5, time.UTC)
	document := func(id string, started time.Time) string {
		return fmt.Sprintf(`{"schema":"x","id":%q,"study":"s","started":%q,"trials":[]}`, id,
			started.Format(time.RFC3339Nano))
	}
	for name, c := range map[string]struct {
		dir      string // of the page
		document string
		also     string // a file of the user in it
		left     []string
		fails    string
	}{
		"own":         {"arp-flux-7", document("arp-flux-7", began), "", nil, ""},
		"with a file": {"arp-flux-7", document("arp-flux-7", began), "mine.txt", []string{"mine.txt"}, ""},
		"elsewhere":   {"page", document("arp-flux-7", began), "", []string{}, ""},
		"of another run": {"arp-flux-7", document("arp-flux-8", began), "", []string{"report.html", "run.json"},
			"left as it is"},
		"of another notebook": {"arp-flux-7", document("arp-flux-7", began.Add(time.Second)), "",
			[]string{"report.html", "run.json"}, "left as it is"},
		"no document": {"arp-flux-7", "", "", []string{"report.html"}, "left as it is"},
		"no run":      {"arp-flux-7", "[1]", "", []string{"report.html", "run.json"}, "left as it is"},
	} {
		dir := filepath.Join(t.TempDir(), c.dir)
		files := map[string]string{"report.html": "page", c.also: "mine"}
		if c.document != "" {
			files["run.json"] = c.document
		}
		errs := []error{os.Mkdir(dir, 0o755)}
		for name, text := range files {
			if name != "" {
				errs = append(errs, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
			}
		}
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		paths := []string{In(dir).Page, In(dir).JSON, In(dir).Trials, filepath.Join(dir, c.also), dir + "/"}
		err := Remove("arp-flux-7", began, paths)
		if (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: %v, want %q", name, err, c.fails)
		}
		entries, err := os.ReadDir(dir)
		if there := err == nil; there != (c.left != nil) {
			t.Errorf("%s: the directory is there: %v", name, there)
		}
		var left []string
		for _, e := range entries {
			left = append(left, e.Name())
		}
		if strings.Join(left, " ") != strings.Join(c.left, " ") {
			t.Errorf("%s: left are %v, want %v", name, left, c.left)
		}
	}
	if err := Remove("arp-flux-7", began, []string{filepath.Join(t.TempDir(), "gone", "report.html")}); err != nil {
		t.Errorf("of a directory that has gone: %v", err)
	}
}
