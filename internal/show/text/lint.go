package text

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"linerate/internal/model/record"
	"linerate/internal/model/settingfile"
	"linerate/internal/show/present"
)

// Lint writes findings as compilers do, so that editors can jump to them, and
// then what holds in the end.
func Lint(w io.Writer, found *record.Lint) error {
	for _, f := range found.Files {
		fmt.Fprintf(w, "%s · %s for %s · %s\n", f.File, settingfile.FormatNames[f.Format], settingfile.SystemNames[f.System], present.Count(f.Settings, "setting"))
	}
	fmt.Fprintln(w)
	for _, f := range found.Findings {
		what := f.Key
		if what == "" {
			what = f.Value
		}
		fmt.Fprintf(w, "%s:%d: %s: %s [%s]\n", f.File, f.Line, f.Severity, what, f.ID)
		indented(w, "    ", f.Says)
		if f.Fix != "" {
			indented(w, "    → ", f.Fix)
		}
	}
	if len(found.Findings) > 0 {
		fmt.Fprintln(w)
	}
	table := tabwriter.NewWriter(w, 2, 8, 2, ' ', 0)
	if len(found.Settings) > 0 {
		fmt.Fprintln(table, "  holds in the end\treaches\tnow")
	}
	for _, s := range found.Settings {
		value := s.Value
		if s.Amounts != "" {
			value += " (" + s.Amounts + ")"
		}
		reaches := map[string]string{record.ScopeNamespace: "namespace", record.ScopeMachine: "machine"}[s.Scope]
		fmt.Fprintf(table, "  %s = %s\t%s\t%s\n", s.Key, value, reaches, s.Current)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if len(found.Settings) > 0 {
		fmt.Fprintln(w)
	}
	asked := "No kernel was asked"
	if k := found.Kernel; k != nil {
		asked = "Asked Linux " + k.Release
		if k.Namespaces != "" {
			asked += " (not which parameters a namespace has of its own: " + k.Namespaces + ")"
		}
	}
	indented(w, "", fmt.Sprintf("%s: %s.", asked, strings.Join([]string{present.Count(found.Errors, "error"), present.Count(found.Warnings, "warning"), present.Count(found.Notes, "note")}, ", ")))
	return nil
}
