package present

import (
	"slices"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/show/document"
)

// TestOneAdvice: of the findings on a line the last one that has advice gives it; other settings of
// the same line, as of a command, have their own.
func TestOneAdvice(t *testing.T) {
	d := Lint(&record.Lint{Findings: []record.LintFinding{
		{File: "a", Line: 1, Key: "net.a", ID: "order", Correction: "net.a = 1 2 3"},
		{File: "a", Line: 1, Key: "net.a", ID: "lowers", Fix: "leave it out"},
		{File: "a", Line: 1, Key: "net.a", ID: "no-effect"},
		{File: "a", Line: 1, Key: "net.b", ID: "refused", Fix: "4", Correction: "net.b = 4"},
		{File: "a", Line: 2, Key: "net.a", ID: "order", Correction: "net.a = 1 2 3"},
	}})
	var got []string
	for _, b := range d.Summary[0] {
		got = append(got, b.(document.Diagnostic).Fix)
	}
	if want := []string{"", "leave it out", "", "net.b = 4", "net.a = 1 2 3"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
