package pasted

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDocs: docs/texts.md has what is read of each sample, and at least nine in ten lines of all are read.
func TestDocs(t *testing.T) {
	const page, begin, end = "../../../docs/texts.md", "<!-- samples -->\n", "<!-- end of samples -->"
	files, err := filepath.Glob("testdata/samples/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("| sample | formats | lines used |\n|---|---|---|\n")
	lines, lost := 0, 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p, _ := Parse(string(text)) // a sample may have only lines without meaning
		var formats []string
		for _, f := range p.Formats {
			formats = append(formats, f.Format)
		}
		used := fmt.Sprintf("%d/%d", p.Lines-p.Idle-p.Lost, p.Lines)
		if p.Lost > 0 {
			used += fmt.Sprintf(", %d not read", p.Lost)
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", strings.TrimSuffix(filepath.Base(file), ".txt"),
			strings.Join(formats, ", "), used)
		lines, lost = lines+p.Lines, lost+p.Lost
	}
	if 10*lost > lines {
		t.Errorf("%d of %d lines are not read", lost, lines)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(text), begin)
	had, after, found := strings.Cut(rest, end)
	switch {
	case !found:
		t.Fatalf("%s has no %s", page, end)
	case *update:
		if err := os.WriteFile(page, []byte(before+begin+b.String()+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	case had != b.String():
		t.Errorf("%s has not what is read: go test ./internal/model/pasted -run TestDocs -update", page)
	}
}
