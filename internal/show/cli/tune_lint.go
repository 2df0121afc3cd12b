package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"linerate/internal/model/record"

	"linerate/internal/model/settingfile"
)

// Systems and formats as people write them.
var (
	systemNames = map[string]string{settingfile.Linux: "Linux", settingfile.FreeBSD: "FreeBSD", settingfile.OpenBSD: "OpenBSD"}
	formatNames = map[string]string{settingfile.SysctlConf: "sysctl.conf", settingfile.LoaderConf: "loader.conf", settingfile.Profile: "tuned profile"}
)

// lineWidth is how far prose goes on a line.
const lineWidth = 80

// printLint writes findings as compilers do, so that editors can jump to them, and
// then what holds in the end.
func printLint(w io.Writer, found *record.Lint) error {
	for _, f := range found.Files {
		fmt.Fprintf(w, "%s · %s for %s · %s\n", f.File, formatNames[f.Format], systemNames[f.System], count(f.Settings, "setting"))
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
	indented(w, "", fmt.Sprintf("%s: %s.", asked, strings.Join([]string{count(found.Errors, "error"), count(found.Warnings, "warning"), count(found.Notes, "note")}, ", ")))
	return nil
}

// indented writes prose in lines that begin below its own beginning.
func indented(w io.Writer, start, text string) {
	line, room := start, len([]rune(start))
	for word := range strings.FieldsSeq(text) {
		switch {
		case len([]rune(line)) == room:
			line += word
		case len([]rune(line))+1+len([]rune(word)) > lineWidth:
			fmt.Fprintln(w, line)
			line = strings.Repeat(" ", room) + word
		default:
			line += " " + word
		}
	}
	fmt.Fprintln(w, line)
}
