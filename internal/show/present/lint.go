package present

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/settingfile"
	"linerate/internal/show/document"
	"linerate/internal/show/words"
)

// Lint shows findings in the format of compilers, so that editors can jump to them, and then the
// settings that are in effect.
func Lint(found *record.Lint) document.Document {
	var d document.Document
	for _, f := range found.Files {
		d.About = append(d.About, fmt.Sprintf("%s · %s for %s · %s", f.File, settingfile.FormatNames[f.Format],
			settingfile.SystemNames[f.System], words.Count(f.Settings, "setting")))
	}
	lines := 0
	for _, f := range found.Files {
		lines += f.Settings
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
	t := &document.Table{Columns: []document.Column{{Head: "setting"}, {Head: "scope"}, {Head: "now"}}}
	for _, s := range found.Settings {
		value := s.Value
		if s.Amounts != "" {
			value += " (" + s.Amounts + ")"
		}
		if s.Without != "" {
			value += " (" + s.Without + ")"
		}
		t.Add(s.Key+" = "+value, s.Scope, s.Current)
	}
	if len(t.Rows) > 0 {
		d.Summary = append(d.Summary, []document.Block{t})
	}
	checked := "Checked without a kernel"
	if k := found.Kernel; k != nil {
		checked = "Checked against Linux " + k.Release
		if k.Namespaces != "" {
			checked += " (but the parameters of each network namespace could not be read: " + k.Namespaces + ")"
		}
	}
	counts := []string{words.Count(found.Errors, "error"), words.Count(found.Warnings, "warning"),
		words.Count(found.Notes, "note")}
	d.Summary = append(d.Summary,
		[]document.Block{document.Prose{Text: checked + ": " + strings.Join(counts, ", ") + "."}})
	return d
}
