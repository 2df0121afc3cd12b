package present

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/opsystem"
	"linerate/internal/model/record"
	"linerate/internal/model/settingfile"
	"linerate/internal/show/document"
	"linerate/internal/show/words"
)

// shownUnread is the number of lines that were not read of which text shows each.
const shownUnread = 40

// shownSkipped is the number of files that were not read of which text has the names.
const shownSkipped = 10

// Lint shows findings in the format of compilers, so that editors can jump to them, the lines that were
// not read, and then the settings that are in effect.
func Lint(found *record.Lint) document.Document {
	var d document.Document
	lines := 0
	for _, f := range found.Files {
		d.About = append(d.About, aboutFile(f)...)
		lines += f.Settings
	}
	if len(found.Skipped) > 0 {
		d.About = append(d.About, "not read, as the names do not end in .conf: "+named(found.Skipped))
	}
	if len(found.Masked) > 0 {
		d.About = append(d.About, "not read, as another directory has a file of the same name: "+named(found.Masked))
	}
	if n := len(found.Settings); n > 0 && n < lines {
		d.About = append(d.About, fmt.Sprintf("%s set %s: of those that are set twice the last one counts",
			words.Count(lines, "line"), words.Count(n, "parameter")))
	}
	var list []document.Block
	advised := map[string]bool{}
	for _, f := range slices.Backward(found.Findings) {
		head := fmt.Sprintf("%s:%d: %s: %s [%s]", f.File, f.Line, f.Severity, cmp.Or(f.Key, f.Value), f.ID)
		fix := f.Fix
		if c := f.Corrects; c != nil && (fix == "" || fix == c.Value || fix == c.Key) {
			fix = f.Correction // the whole line
		}
		// The last advice about a line refers to the line as corrected by the findings before it.
		if line := fmt.Sprint(f.File, ":", f.Line, ":", f.Key); advised[line] {
			fix = ""
		} else {
			advised[line] = fix != ""
		}
		list = append(list, document.Diagnostic{Head: head, Text: f.Says, Fix: fix})
	}
	slices.Reverse(list)
	if len(list) > 0 {
		d.Summary = append(d.Summary, list)
	}
	if list := unread(found.Unread); len(list) > 0 {
		d.Summary = append(d.Summary, list)
	}
	t := &document.Table{Columns: []document.Column{{Head: "setting"}, {Head: "scope"}, {Head: "now"}}}
	for _, s := range found.Settings {
		value := s.Value
		for _, note := range []string{s.Amounts, s.Within, s.When, s.Without} {
			if note != "" {
				value += " (" + note + ")"
			}
		}
		t.Add(s.Key+" = "+value, s.Scope, s.Current)
	}
	if len(t.Rows) > 0 {
		d.Summary = append(d.Summary, []document.Block{t})
	}
	d.Summary = append(d.Summary, []document.Block{document.Prose{Text: checked(found)}})
	return d
}

// named lists files, of many the first ones.
func named(files []string) string {
	n := len(files)
	names := slices.Clone(files[:min(n, shownSkipped)])
	if n > shownSkipped {
		names = append(names, fmt.Sprintf("%d others", n-shownSkipped))
	}
	return words.Join(names, "and")
}

// aboutFile says what a file was taken for and how much of it was read: of one with several documents
// also where settings are.
func aboutFile(f record.LintFile) (list []string) {
	read := words.Count(f.Settings, "setting")
	if f.Nothing || f.Blank {
		read = "no settings"
	}
	if f.Unread > 0 {
		read += " · " + words.Count(f.Unread, "line") + " not read"
	}
	if f.Unjudged {
		read += " · values are judged for Linux only"
	}
	if n := len(f.Documents); n > 0 {
		read += fmt.Sprintf(" · %d documents", n)
	}
	format := settingfile.FormatName(f.Format)
	if f.Settings > 0 {
		format += " for " + opsystem.Name(f.System)
	}
	list = append(list, strings.Join([]string{f.File, format, read}, " · "))
	for _, d := range f.Documents {
		if d.Settings > 0 {
			list = append(list, fmt.Sprintf("%s:%d · %s · %s", f.File, d.Line, settingfile.FormatName(d.Format),
				words.Count(d.Settings, "setting")))
		}
	}
	return list
}

// unread shows the lines that were not read.
func unread(lines []record.LintUnread) (list []document.Block) {
	for i, u := range lines {
		if i == shownUnread {
			return append(list, document.Prose{Text: fmt.Sprintf("… and %s that were not read: --json has them all.",
				words.Count(len(lines)-i, "line"))})
		}
		list = append(list, document.Diagnostic{Head: fmt.Sprintf("%s:%d: not read: %s", u.File, u.Line, u.Text),
			Text: u.Why})
	}
	return list
}

// checked says against what the files were checked, what of them was not, and what was found.
func checked(found *record.Lint) string {
	text := "Checked without a kernel"
	if k := found.Kernel; k != nil {
		text = "Checked against Linux " + k.Release
		if k.Namespaces != "" {
			text += " (but the parameters of each network namespace could not be read: " + k.Namespaces + ")"
		}
	}
	if unread, lines := unreadOf(found); unread > 0 {
		text += fmt.Sprintf(", except %d of %s, which %s not read", unread, words.Count(lines, "line"),
			words.Verb(unread, "was", "were"))
	}
	if len(found.Settings)+len(found.Findings) == 0 {
		return text + ": nothing to judge was found."
	}
	return text + ": " + strings.Join([]string{words.Count(found.Errors, "error"),
		words.Count(found.Warnings, "warning"), words.Count(found.Notes, "note")}, ", ") + "."
}

// unreadOf returns how many lines of the files were not read, of how many that may set something.
func unreadOf(found *record.Lint) (unread, lines int) {
	for _, f := range found.Files {
		unread, lines = unread+f.Unread, lines+f.Lines
	}
	return unread, lines
}
