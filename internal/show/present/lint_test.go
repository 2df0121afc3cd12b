package present

import (
	"slices"
	"strings"
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

// TestNotRead: what a file was taken for is said first, each line that was not read is listed, and the
// last sentence counts them; of files of which nothing was read there are no counts of errors.
func TestNotRead(t *testing.T) {
	found := &record.Lint{
		Files: []record.LintFile{
			{File: "a.sh", Format: "script", System: "linux", Settings: 1, Unread: 2, Lines: 3},
			{File: "b.yaml", Format: "kubernetes", System: "linux", Nothing: true},
			{File: "c.yaml", Format: "compose", System: "linux", Settings: 3,
				Documents: []record.LintDocument{{Line: 1, Format: "kubernetes"}, {Line: 9, Format: "compose",
					Settings: 3}}},
			{File: "d.conf", Format: "sysctl.conf", System: "freebsd", Settings: 1, Unjudged: true},
		},
		Settings: []record.LintSetting{{Key: "net.a", Value: "1", When: "if on line 3", Within: "service web"}},
		Unread: []record.LintUnread{{File: "a.sh", Line: 4, Text: "foo", Why: "depends on $X"}, {File: "a.sh",
			Line: 5}},
	}
	d := Lint(found)
	want := []string{"a.sh · script for Linux · 1 setting · 2 lines not read",
		"b.yaml · Kubernetes manifest · no settings",
		"c.yaml · Compose file for Linux · 3 settings · 2 documents", "c.yaml:9 · Compose file · 3 settings",
		"d.conf · sysctl.conf for FreeBSD · 1 setting · values are judged for Linux only"}
	if !slices.Equal(d.About[:len(want)], want) {
		t.Errorf("%q\nwant %q", d.About, want)
	}
	if first := d.Summary[0][0].(document.Diagnostic); first.Head != "a.sh:4: not read: foo" ||
		first.Text != "depends on $X" {
		t.Errorf("%+v", first)
	}
	if row := d.Summary[1][0].(*document.Table).Rows[0]; row.Cells[0].Text != "net.a = 1 (service web) (if on line 3)" {
		t.Errorf("%+v", row)
	}
	for _, test := range []struct {
		found *record.Lint
		want  string
	}{
		{found, "Checked without a kernel, except 2 of 3 lines, which were not read: 0 errors, 0 warnings, 0 notes."},
		{&record.Lint{Kernel: &record.LintKernel{Release: "6.18.0"}}, "Checked against Linux 6.18.0: nothing to " +
			"judge was found."},
		{&record.Lint{Files: []record.LintFile{{Unread: 1, Lines: 1}}, Unread: make([]record.LintUnread, 1)},
			"Checked without a kernel, except 1 of 1 line, which was not read: nothing to judge was found."},
	} {
		blocks := Lint(test.found).Summary
		last := blocks[len(blocks)-1][0].(document.Prose).Text
		if last != test.want {
			t.Errorf("%q, want %q", last, test.want)
		}
	}
	many := Lint(&record.Lint{Unread: make([]record.LintUnread, shownUnread+5)}).Summary[0]
	if text := many[len(many)-1].(document.Prose).Text; len(many) != shownUnread+1 || !strings.Contains(text,
		"5 lines") {
		t.Errorf("%d blocks, %q", len(many), text)
	}
}
