package pasted

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/model/netstate"
)

var update = flag.Bool("update", false, "write what is read of testdata/samples")

// reading is what the golden file of a sample has.
type reading struct {
	Formats       []FormatLines           `json:"formats"`
	Lines         int                     `json:"lines"`
	Idle          int                     `json:"idle"`
	NotUnderstood []string                `json:"not_understood,omitempty"`
	Machines      []netstate.HostSnapshot `json:"machines"`
}

// TestSamples: what is read of each sample is what its golden file has, and at least nine in ten of
// its lines are read.
func TestSamples(t *testing.T) {
	files, err := filepath.Glob("testdata/samples/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			p, err := Parse(string(text))
			if err != nil {
				t.Logf("%v", err) // a sample may have only lines without meaning
			}
			if 10*p.Lost > p.Lines {
				t.Errorf("%d of %d lines are not read: %q", p.Lost, p.Lines, p.NotUnderstood)
			}
			got, err := json.MarshalIndent(reading{p.Formats, p.Lines, p.Idle, p.NotUnderstood, p.Machines}, "", "\t")
			if err != nil {
				t.Fatal(err)
			}
			golden := strings.TrimSuffix(file, ".txt") + ".json"
			if *update {
				if err := os.WriteFile(golden, append(got, '\n'), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if string(want) != string(got)+"\n" {
				t.Errorf("read is\n%s\nwant\n%s", got, want)
			}
		})
	}
}
