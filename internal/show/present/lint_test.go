package present

import (
	"slices"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/show/document"
	"linerate/internal/show/wording"
)

// TestOneAdvice: of the findings on a line the last one that has advice gives it; other settings of
// the same line, as of a command, have their own.
func TestOneAdvice(t *testing.T) {
	a, b := &setting.Sysctl{Key: "net.a", Value: "1 2 3"}, &setting.Sysctl{Key: "net.b", Value: "4"}
	found := &record.Lint{Findings: []record.LintFinding{
		{File: "a", Line: 1, Key: "net.a", ID: "order", Corrects: a},
		{File: "a", Line: 1, Key: "net.a", ID: "lowers", Fix: "leave it out"},
		{File: "a", Line: 1, Key: "net.a", ID: "no-effect"},
		{File: "a", Line: 1, Key: "net.b", ID: "refused", Fix: "4", Corrects: b},
		{File: "a", Line: 2, Key: "net.a", ID: "order", Corrects: a},
	}}
	for i := range found.Findings {
		found.Findings[i].Remark.Code = record.LintText
	}
	d := Lint(wording.Lint(found))
	var got []string
	for _, b := range d.Summary[0] {
		got = append(got, b.(document.Diagnostic).Fix)
	}
	if want := []string{"", "leave it out", "", "net.b = 4", "net.a = 1 2 3"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
