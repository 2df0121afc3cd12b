package cli

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/show/wording"
)

// changed is what a version after the recording says otherwise of a finding of a run.
var changed = map[string]string{
	"stored-5 gateway-unresolved":   "places",   // was also that of all routes: the destination was not recorded
	"stored-475 mtu-blackhole":      "texts",    // had no place, and no name of the interface
	"stored-480 connect-unanswered": "places",   // was "invalid AddrPort"
	"stored-53 carrier-lost":        "fix",      // was "on :" where the host was not recorded
	"stored-7 syn-unanswered":       "evidence", // had no number of SYNs sent again
	"stored-31 half-duplex":         "fix",      // was at this end, which negotiates already
	"stored-61 half-duplex":         "fix",
	"stored-61 lldp-link":           "fix",
	"stored-481 probe-lost":         "texts", // had round trips of 0 ms where none was recorded
	"stored-772 ports-exhausted":    "fix",   // the command is a line of its own
}

// TestStoredFindings: the notebook of an earlier version, whose findings are words alone, is read
// with the same words, and its findings are data where the cause has arguments and facts now.
func TestStoredFindings(t *testing.T) {
	unpacked := func(name string) []byte {
		f, err := os.Open(filepath.Join("..", "..", "control", "notebook", "testdata", name+".gz"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	path := filepath.Join(t.TempDir(), "notebook.db")
	if err := os.WriteFile(path, unpacked("findings.db"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("LINERATE_NOTEBOOK", path)
	type document struct {
		Run      string           `json:"run"`
		Findings []record.Finding `json:"findings"`
	}
	var all []document
	var ids []string
	for d := json.NewDecoder(bytes.NewReader(unpacked("findings.jsonl"))); d.More(); {
		var one document
		if err := d.Decode(&one); err != nil {
			t.Fatal(err)
		}
		all, ids = append(all, one), append(ids, one.Run)
	}
	runs, err := storedRuns(t.Context(), ids...)
	if err != nil || len(runs) < 50 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	for i, run := range runs {
		got := wording.Run(run).Findings
		if len(got) != len(all[i].Findings) {
			t.Fatalf("%s: %d findings, want %d", run.ID, len(got), len(all[i].Findings))
		}
		for k, f := range got {
			want := all[i].Findings[k]
			if f.Older() {
				t.Errorf("%s: %s of %s is words alone", run.ID, f.ID, f.Host)
			}
			switch changed[run.ID+" "+f.ID] {
			case "places":
				want.Places = f.Places
			case "fix":
				want.Fix = f.Fix
			case "evidence":
				want.Evidence = f.Evidence
			case "texts":
				want.Places, want.Evidence, want.Fix = f.Places, f.Evidence, f.Fix
			}
			if f.ID == "lost-at-hop" {
				want.Subject = f.Subject // a name, which was words
			}
			f.Args, f.About, f.Facts, f.Steps, f.Touches, f.Advice = nil, record.Subject{}, nil, nil, nil, nil
			if !reflect.DeepEqual(f, want) {
				t.Errorf("%s:\n got %+v\nwant %+v", run.ID, f, want)
			}
		}
	}
}
