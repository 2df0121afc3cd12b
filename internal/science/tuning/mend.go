package tuning

import (
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/settingfile"
)

// A line with several mistakes has one correction, which mends all of them and of which Files finds nothing wrong.

// mostMended bounds how often a correction is corrected.
const mostMended = 5

// mend replaces the corrections of a line's findings, those from index first on, by one of which
// nothing is found to be wrong. If there is none, the advice is to leave the line out.
func (c *checker) mend(l settingfile.Line, first int) {
	found := c.out.Findings[first:]
	at := corrected(found)
	for range mostMended {
		if at == nil {
			break
		}
		meant := *at.Corrects
		left := c.alone(l, meant)
		if !slices.ContainsFunc(left, wrong) {
			replaceCorrections(l, found, meant)
			return
		}
		if slices.ContainsFunc(left, func(f record.LintFinding) bool { return f.ID == at.ID && wrong(f) }) {
			break // what it corrects is still there
		}
		at = corrected(left)
	}
	for i := range found {
		f := &found[i]
		if f.Corrects == nil {
			continue
		}
		if f.Corrects, f.Fix = nil, ""; f.Advice != nil && f.Advice.Code == record.AdvicePages {
			f.Advice.Args = []string{""}
		} else {
			f.Advice = &record.Statement{Code: record.AdviceLeaveOut}
		}
	}
}

// corrected returns the first finding about a line that has a correction. Nil: there is none, or the line
// is to be left out.
func corrected(found []record.LintFinding) (first *record.LintFinding) {
	for i, f := range found {
		if f.Advice != nil && (f.Advice.Code == record.AdviceLeaveOut || f.Advice.Code == record.AdvicePages &&
			f.Corrects == nil) {
			return nil
		}
		if f.Corrects != nil && first == nil {
			first = &found[i]
		}
	}
	return first
}

// alone returns what is found about a line with another parameter or value, if no other line sets it.
func (c *checker) alone(l settingfile.Line, meant setting.Sysctl) []record.LintFinding {
	l.Key, l.Value, l.Slip, l.Written, l.Fix = meant.Key, meant.Value, "", "", ""
	one := *c
	one.winner, one.out = map[string]settingfile.Line{l.Identity(): l}, &record.Lint{}
	one.linux(l)
	return one.out.Findings
}

// wrong reports whether a finding speaks against a correction: what a kernel lacks, and what the
// parameter is about, is not the fault of its value.
func wrong(f record.LintFinding) bool {
	switch f.ID {
	case "no-effect":
		return false
	case "unknown", "refused":
		return f.Severity == record.LintError
	}
	return f.Severity != record.LintNote
}

// replaceCorrections puts one correction in the place of all.
func replaceCorrections(l settingfile.Line, found []record.LintFinding, meant setting.Sysctl) {
	for i := range found {
		f := &found[i]
		if f.Corrects == nil {
			continue
		}
		was := *f.Corrects
		f.Corrects = &setting.Sysctl{Key: meant.Key, Value: meant.Value}
		switch {
		case f.Advice != nil && f.Advice.Code == record.AdvicePages:
			f.Advice.Args = []string{meant.Value}
		case l.Fix != "" && meant.Key == l.Key: // a command
			f.Fix = strings.Replace(l.Fix, l.Value, meant.Value, 1)
		case was == meant:
		case f.Fix == was.Key:
			f.Fix, f.Advice = meant.Key, nil
		default:
			f.Fix, f.Advice = strings.Replace(f.Fix, was.Value, meant.Value, 1), nil
		}
	}
}
